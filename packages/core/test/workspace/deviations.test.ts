/** DEVIATIONS.md, docs/extensions.md and the code speak of the same departures: every number in one is in the other. */

import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../../../..");

it("numbers every deviation in the page and marks it in the code", () => {
  const numbers = (page: string, pattern: RegExp) =>
    [...readFileSync(join(root, page), "utf8").matchAll(pattern)].map((match) => Number(match[1]));
  const listed = [...numbers("DEVIATIONS.md", /^\| (\d+) \|/gm), ...numbers("docs/extensions.md", /^## (\d+)\./gm)];
  listed.sort((a, b) => a - b);
  expect(listed).toEqual(listed.map((_, j) => j + 1));
  const marked = new Set<number>();
  for (const name of readdirSync(join(root, "packages"), { recursive: true, encoding: "utf8" })) {
    // The lab's tables speak of standard deviations.
    if (!/^(?!lab)[^/]+\/src\/.*\.ts$/.test(name)) continue;
    const text = readFileSync(join(root, "packages", name), "utf8");
    for (const match of text.matchAll(/[Dd]eviations? (\d+)(?: and (\d+))?/g)) {
      for (const number of match.slice(1)) if (number) marked.add(Number(number));
    }
  }
  expect([...marked].sort((a, b) => a - b)).toEqual(listed);
});
