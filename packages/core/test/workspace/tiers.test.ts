/**
 * Every file with tests belongs to one tier, by its name. That each tier ran all of its files, and no others, is judged by
 * scripts/test.mjs at the end of every run.
 */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./sources.ts";

const files = readdirSync(join(root, "packages")).flatMap((name) => {
  const tests = join(root, "packages", name, "test");
  if (!existsSync(tests)) return [];
  return readdirSync(tests, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.[cm]?[jt]sx?$/.test(file))
    .map((file) => join(tests, file));
});

/** What comes after the name: a version of the library may be a part of the name itself. */
const ENDING = /[\w-](?:\.\d[\w-]*)*(?<ending>(?:\.[a-z]+)+)$/;
const KNOWN = [
  ".test.ts",
  ".full.test.ts",
  ".release.test.ts",
  ".browser.test.ts",
  ".browser.full.test.ts",
  ".browser.release.test.ts",
];

it("by its name, if it has tests", () => {
  const wrong = files.filter((file) => {
    const ending = ENDING.exec(file)?.groups?.ending ?? "";
    const hasTests = /^\s*import \{[^}]*\b(?:describe|it|test)\b[^}]*\} from "vitest"/m.test(
      readFileSync(file, "utf8"),
    );
    return hasTests ? !KNOWN.includes(ending) : ending.includes(".test");
  });
  expect(wrong).toEqual([]);
  expect(files.filter((file) => file.endsWith(".full.test.ts")).length).toBeGreaterThan(10);
});
