import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as core from "@ranksim/core";
import * as data from "@ranksim/data";
import * as dataNode from "@ranksim/data/node";
import * as exporting from "@ranksim/export";
import * as nir from "@ranksim/export/nir";
import { expect, test } from "vitest";
import * as ranksim from "../src/index.ts";
import * as ranksimNode from "../src/node.ts";

test("one package gives everything: no name of one part hides another", () => {
  const all = [core, data, exporting].flatMap((part) => Object.keys(part));
  const names = new Set(all);
  expect(names.size).toBe(all.length);
  expect(new Set(Object.keys(ranksim))).toEqual(names);
  for (const name of [core, dataNode, exporting, nir, { run: undefined }].flatMap((part) => Object.keys(part)))
    expect(ranksimNode).toHaveProperty(name);
});

const built = existsSync(new URL("../dist/index.js", import.meta.url));
const canRequire = (process.features as { require_module?: boolean }).require_module === true;

test.runIf(built && canRequire)("require() gives what import gives (Node 20.19, 22.12 and later)", () => {
  const script =
    'const { RankSimilarityClassifier } = require("ranksim"); process.stdout.write(typeof RankSimilarityClassifier)';
  const cwd = fileURLToPath(new URL("..", import.meta.url));
  expect(execFileSync(process.execPath, ["--no-warnings", "-e", script], { cwd, encoding: "utf8" })).toBe("function");
});
