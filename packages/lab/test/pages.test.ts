/** Pages are what the programs make of the committed results, and results name commits that are there. */

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { PAGES as ACCURACY_PAGES, withTables } from "../src/accuracy/pages.ts";
import { PAGES as BENCH_PAGES } from "../src/bench/pages.ts";
import { makeParts, withParts } from "../src/paper/page.ts";
import { withPart } from "../src/runner/page.ts";
import { Results, type Table } from "../src/runner/results.ts";

const lab = resolve(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(lab, path), "utf8");
const results = (program: string) => new Results(join(lab, "results", program));

const pages: readonly (readonly [path: string, write: (text: string) => string])[] = [
  ...Object.entries(BENCH_PAGES).map(
    ([path, write]) => [path, (text: string) => write(text, results("bench"))] as const,
  ),
  ...ACCURACY_PAGES.map((path) => [path, (text: string) => withTables(path, text, results("accuracy"))] as const),
  ["PAPER.md", (text) => withParts(text, makeParts(results("paper"), false, "results/paper").parts)],
];

it.each(pages)("%s is what its program writes", (path, write) => {
  expect(write(read(path))).toBe(read(path));
});

it("puts a part between its marks, and asks for them", () => {
  expect(withPart("a\n<!-- x -->\nold\n<!-- end -->\nb", "x", "new")).toBe("a\n<!-- x -->\n\nnew\n\n<!-- end -->\nb");
  expect(() => withPart("a", "x", "new")).toThrow("expected <!-- x -->");
});

const git = (...args: string[]): string => {
  try {
    return execFileSync("git", ["-C", lab, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return "";
  }
};
const isWhole = git("rev-parse", "--is-shallow-repository").trim() === "false";

describe.skipIf(!isWhole)("commits of results (needs the whole history)", () => {
  const known = git("rev-list", "HEAD").split("\n");
  const files = readdirSync(join(lab, "results"), { recursive: true, encoding: "utf8" }).filter(
    (name) => name.includes("/") && name.endsWith(".json"),
  );

  it.each(files)("are in the history: %s", (file) => {
    const { rows } = JSON.parse(read(join("results", file))) as Table;
    const named = new Set(rows.flatMap(({ commit }) => commit.split(", ")));
    const lost = [...named].filter((commit) => !known.some((hash) => hash.startsWith(commit)));
    expect(named.size).toBeGreaterThan(0);
    expect(lost).toEqual([]);
  });
});
