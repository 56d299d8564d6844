/**
 * A fresh clone, as `npm ci` leaves it and without a build: every terminal line of the README and of the demo's "Try next"
 * runs as it is printed, and so do `play` and `npm run docs`.
 */

import { execFile, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../../..");
let clone: string;

/** What the environment of a user has, without what this test's own npm adds to it. */
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|VITEST|INIT_CWD)/i.test(name))),
  NO_COLOR: "1",
};

/** Runs a line in the shell, in the clone. */
function shell(line: string): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((done) => {
    execFile("sh", ["-c", line], { cwd: clone, env, maxBuffer: 1 << 26 }, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    );
  });
}

const shLines = (page: string): string[] =>
  Array.from(readFileSync(join(root, page), "utf8").matchAll(/^```sh\n([\s\S]*?)^```/gm), ([, block]) =>
    block.split("\n"),
  )
    .flat()
    .map((line) => line.replace(/\s+#.*$/, "").trim())
    .filter((line) => line !== "");

beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), "ranksim-clone-"));
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], { cwd: root, encoding: "utf8" });
  for (const file of files.split("\0")) {
    if (file === "" || !existsSync(join(root, file))) continue;
    mkdirSync(dirname(join(clone, file)), { recursive: true });
    cpSync(join(root, file), join(clone, file));
  }
  // What `npm ci` makes, without a network: the same packages, and the commands of the workspace linked anew.
  for (const place of [".", ...readdirSync(join(root, "packages")).map((name) => `packages/${name}`)]) {
    const modules = join(root, place, "node_modules");
    if (existsSync(modules)) execFileSync("cp", ["-a", modules, join(clone, place, "node_modules")]);
  }
  rmSync(join(clone, "node_modules/.bin/ranksim"), { force: true });
  execFileSync("npm", ["rebuild", "--ignore-scripts", "ranksim"], { cwd: clone, env, stdio: "ignore" });
});

afterAll(() => rmSync(clone, { recursive: true, force: true }));

describe("a fresh clone", () => {
  const lines = shLines("README.md");
  const installing = ["npm ci && npm run demo", "npm cit"];

  test("has no build yet, and the command is there", () => {
    expect(existsSync(join(clone, "packages/cli/dist"))).toBe(false);
    expect(statSync(join(clone, "node_modules/.bin/ranksim")).mode & 0o111).not.toBe(0);
    expect(lines).toEqual(expect.arrayContaining(installing));
    expect(lines.filter((line) => line.startsWith("npx ranksim ")).length).toBeGreaterThan(3);
  });

  test.each(lines.filter((line) => !installing.includes(line)))("%s", async (line) => {
    const { code, stdout, stderr } = await shell(line);
    expect(code, stderr).toBe(0);
    // A result, or where that goes to a file, a word of it.
    expect(stdout + stderr).not.toBe("");
    expect(stdout).not.toContain("tsc");
    const out = /--(?:out|model) (\S+)/.exec(line)?.[1];
    if (out) expect(existsSync(join(clone, out))).toBe(true);
  });

  test("npm run demo, and what it proposes to try next", async () => {
    const { code, stdout, stderr } = await shell("npm run demo");
    expect(code, stderr).toBe(0);
    const proposed = Array.from(stdout.split("Try next:")[1].matchAll(/^ {2}(\S.*)$/gm), ([, line]) => line);
    expect(proposed.length).toBeGreaterThan(3);
    for (const line of proposed) {
      expect(line).toMatch(/^npx ranksim /);
      expect(await shell(line)).toMatchObject({ code: 0 });
    }
  });

  test("npx ranksim play, which builds the page first", async () => {
    const child = spawn("npx", ["ranksim", "play"], {
      cwd: clone,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const ended = new Promise((end) => child.on("close", end));
    let [printed, said] = ["", ""];
    child.stderr.on("data", (chunk) => {
      said += chunk;
    });
    await new Promise<void>((found) => {
      child.on("close", () => found());
      child.stdout.on("data", (chunk) => {
        printed += chunk;
        if (printed.includes("\n")) found();
      });
    });
    const address = /^http:\S+/.exec(printed)?.[0];
    try {
      expect(address, said).toBeDefined();
      expect(await (await fetch(address as string)).text()).toContain("<title>");
    } finally {
      if (child.exitCode === null) process.kill(-(child.pid as number), "SIGTERM");
      await ended;
    }
  });

  test("npm run docs", async () => {
    const { code, stdout, stderr } = await shell("npm run docs");
    expect(code, stdout + stderr).toBe(0);
    expect(existsSync(join(clone, "docs/api/index.html"))).toBe(true);
  });
});
