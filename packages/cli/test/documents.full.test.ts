/** The TypeScript in the project's pages runs, and prints what the comments beside it say. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { format } from "node:util";
import { afterAll, beforeAll, expect, it, vi } from "vitest";

const root = resolve(import.meta.dirname, "../../..");
const folder = join(import.meta.dirname, ".examples");

beforeAll(() => mkdirSync(folder, { recursive: true }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the TypeScript blocks of a page one after another and returns what they print, line by line. */
async function run(page: string): Promise<{ printed: string[]; promised: string[] }> {
  const text = readFileSync(join(root, page), "utf8");
  const blocks = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1]);
  expect(blocks.length).toBeGreaterThan(0);
  const printed: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((...parts) => void printed.push(format(...parts)));
  try {
    for (const [j, block] of blocks.entries()) {
      const file = join(folder, `${page.replaceAll(/\W/g, "-")}-${j}.ts`);
      writeFileSync(file, block);
      await import(file);
    }
  } finally {
    log.mockRestore();
  }
  const promised = [...blocks.join("").matchAll(/console\.log\(.*\); \/\/ (.*)/g)].map((match) => match[1]);
  return { printed, promised };
}

it.each([
  "packages/core/README.md",
  "packages/data/README.md",
  "packages/learn/README.md",
  "packages/vq/README.md",
  "packages/export/README.md",
  "docs/how-do-i.md",
  "docs/from-0.2-to-0.3.md",
])("%s prints what it says", async (page) => {
  const { printed, promised } = await run(page);
  expect(promised.length).toBeGreaterThan(0);
  expect(printed).toEqual(promised);
});

it("README.md classifies digits", async () => {
  const { printed } = await run("README.md");
  expect(printed[0]).toMatch(/^balanced, for 1348 images of 8 x 8/);
  expect(Number(printed[1])).toBeGreaterThan(0.98);
  expect(printed[2]).toMatch(/^\[ \d, \d, \d \]$/);
});
