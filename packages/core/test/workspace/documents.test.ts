/** The documents in the root: their links lead somewhere, the commands they name exist. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./sources.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };

/** A heading as the fragment of a link to it. */
const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

describe.each(readdirSync(root).filter((name) => name.endsWith(".md")))("%s", (name) => {
  const text = read(name);

  it("links to files and headings that exist", () => {
    const broken: string[] = [];
    for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [path, fragment] = target.split("#");
      if (path !== "" && !existsSync(join(root, path))) broken.push(target);
      if (path === "" && fragment !== undefined) {
        const headings = Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading]) => anchor(heading));
        if (!headings.includes(fragment)) broken.push(target);
      }
    }
    expect(broken).toEqual([]);
  });

  it("names scripts and paths of the repository that exist", () => {
    const named = Array.from(text.matchAll(/npm run ([\w:-]+)/g), ([, script]) => script);
    expect(named.filter((script) => !(script in scripts))).toEqual([]);
    const paths = Array.from(text.matchAll(/`((?:packages|scripts|docs)\/[\w./-]+)`/g), ([, path]) => path);
    expect(paths.filter((path) => path !== "docs/api" && !existsSync(join(root, path)))).toEqual([]);
  });
});

it("READMEs of packages link to files of the repository that exist", () => {
  const readmes = readdirSync(join(root, "packages")).map((name) => `packages/${name}/README.md`);
  const targets = readmes
    .filter((path) => existsSync(join(root, path)))
    .flatMap((path) => Array.from(read(path).matchAll(/\/(?:blob|raw)\/main\/([^)#\s]+)/g), ([, target]) => target));
  expect(targets.length).toBeGreaterThan(5);
  expect(targets.filter((target) => !existsSync(join(root, target)))).toEqual([]);
});

describe("ARCHITECTURE.md", () => {
  it("names files and folders that exist", () => {
    const named = Array.from(read("ARCHITECTURE.md").matchAll(/`([\w-]+(?:\/[\w.-]+)+)`/g), ([, path]) => path);
    const places = [
      "",
      "packages",
      "packages/core/src",
      "packages/export/src",
      "packages/cli/src",
      "packages/data/src",
    ];
    const missing = named.filter((path) => !places.some((place) => existsSync(join(root, place, path))));
    expect(missing.filter((path) => !path.startsWith("ranksim/") && !path.startsWith("@"))).toEqual([]);
    expect(named.length).toBeGreaterThan(60);
  });

  it("walks from a row to its label through about twenty files", () => {
    const [, walk] = /\*\*predict\*\*([\s\S]*?)\*\*fit\*\*/.exec(read("ARCHITECTURE.md")) ?? [];
    const files = new Set(Array.from(walk.matchAll(/`([\w/.-]+\.ts)`/g), ([, path]) => path));
    expect(files.size).toBeGreaterThan(15);
    expect(files.size).toBeLessThanOrEqual(25);
  });
});

describe("the continuous check", () => {
  it("runs the test command of the README and the full tier, and fails where one of them fails", () => {
    const commands = read(".ci/run").trimEnd().split("\n").slice(-4);
    expect(commands).toEqual(["status=0", "npm cit || status=1", "npm run test:full || status=1", "exit $status"]);
    expect(read("README.md")).toMatch(/^npm cit\b/m);
  });
});

describe("the lock file", () => {
  it("names no download address", () => {
    expect(read("package-lock.json")).not.toMatch(/"resolved": "https?:/);
    expect(read(".npmrc")).not.toMatch(/registry\s*=/);
  });
});
