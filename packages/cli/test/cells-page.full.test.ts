/** The commands of docs/cells.md, one after the other. */

import { readFileSync } from "node:fs";
import { fileSource, readData } from "@ranksim/data/node";
import { afterAll, expect, it } from "vitest";
import { writeCells, writeH5ad } from "./cell-folders.ts";
import { makeWorld } from "./world.ts";

const world = makeWorld();
const { path } = world;
afterAll(() => world.remove());

const GENES = Array.from({ length: 60 }, (_, g) => `Gene${g}`);
const TYPES = ["T cell", "B cell", "mono, CD14"];

it("docs/cells.md goes from files to an annotated file", async () => {
  writeCells(path("reference"), { cells: 150, genes: GENES, types: TYPES });
  await writeH5ad(path("query.h5ad"), {
    cells: 40,
    genes: GENES.slice(10).reverse(),
    types: TYPES,
    depth: 20,
    seed: 9,
  });
  const page = readFileSync(new URL("../../../docs/cells.md", import.meta.url), "utf8");
  const lines = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block]) => block.trim().split("\n"));
  expect(lines).toHaveLength(3);
  for (const line of lines) {
    const { code, stderr } = await world.ranksim(line.replace(/^ranksim /, ""));
    expect(code, stderr).toBe(0);
  }
  const { y } = await readData(await fileSource(path("named.h5ad")), { labelColumn: "ranksim_type" });
  const right = (y as string[]).filter((type, c) => type === TYPES[c % 3]).length;
  expect([y?.length, right > 30]).toEqual([40, true]);
});
