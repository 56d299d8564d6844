import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as core from "@ranksim/core";
import * as data from "@ranksim/data";
import * as exporting from "@ranksim/export";
import * as learn from "@ranksim/learn";
import * as vq from "@ranksim/vq";
import { expect, test } from "vitest";
import * as ranksim from "../src/index.ts";
import * as ranksimNode from "../src/node.ts";

test("the top level names what users need, and everything else has one home", () => {
  const all = [core, data, learn, exporting, vq].flatMap((part) => Object.keys(part));
  expect(new Set(all).size).toBe(all.length); // no name of one part hides another
  const names = Object.keys(ranksim);
  expect([...all, "loadTransform"]).toEqual(expect.arrayContaining(names));
  expect(names.length).toBeLessThanOrEqual(54);
  expect(Object.keys(ranksimNode)).toEqual(expect.arrayContaining([...names, "loadData", "openData", "run"]));
});

const built = existsSync(new URL("../dist/index.js", import.meta.url));
const canRequire = (process.features as { require_module?: boolean }).require_module === true;

test.runIf(built && canRequire)("require() gives what import gives (Node 20.19, 22.12 and later)", () => {
  const script =
    'const { RankSimilarityClassifier } = require("ranksim"); process.stdout.write(typeof RankSimilarityClassifier)';
  const cwd = fileURLToPath(new URL("..", import.meta.url));
  expect(execFileSync(process.execPath, ["--no-warnings", "-e", script], { cwd, encoding: "utf8" })).toBe("function");
});

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");

test("the notice of core names all that is built into it", () => {
  const { devDependencies, files } = JSON.parse(read("../../core/package.json"));
  for (const name of Object.keys(devDependencies)) expect(read("../../core/NOTICE")).toContain(`\n${name} `);
  expect(files).toContain("NOTICE");
});

test("the notice names all that the page carries", () => {
  const notice = read("../NOTICE");
  const needed = (path: string) =>
    Object.keys((JSON.parse(read(path)) as { dependencies?: object }).dependencies ?? {}).filter(
      (name) => !name.startsWith("@ranksim/") && name !== "ranksim",
    );
  const builtIn = Object.keys(JSON.parse(read("../../core/package.json")).devDependencies);
  const direct = [
    ...builtIn,
    ...["core", "data", "playground"].flatMap((name) => needed(`../../${name}/package.json`)),
  ];
  const all = [...direct, ...direct.flatMap((name) => needed(`../../../node_modules/${name}/package.json`))];
  const lines = notice.toLowerCase().split("\n");
  for (const name of all)
    expect(
      lines.some((line) => line.split(/\s/)[0] === name),
      name,
    ).toBe(true);
  expect(notice).toContain("Creative Commons Attribution 4.0");
  expect(JSON.parse(read("../package.json")).files).toContain("NOTICE");
});

test.runIf(built)("declarations carry no packed data", () => {
  for (const name of ["core", "data", "learn", "cli"]) {
    const folder = new URL(`../../${name}/dist/`, import.meta.url);
    for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      if (!file.endsWith(".d.ts")) continue;
      const longest = readFileSync(new URL(file, folder), "utf8").match(/[A-Za-z0-9+/=]{200,}/)?.[0].length ?? 0;
      expect(longest, file).toBe(0);
    }
  }
});
