/** Drawn tables and the program that judges knots and voters on them, on few small ones. */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { execPath } from "node:process";
import { Dense } from "@ranksim/core";
import { expect, it } from "vitest";
import { drawTable } from "../../src/tables/draw-table.ts";
import { neighbourAccuracy } from "../../src/tables/neighbours.ts";

const program = resolve(import.meta.dirname, "../../dist/tables/tables.js");

it("draws the same table again, and more rows of it go on from fewer", () => {
  const few = drawTable(3, 40);
  const many = drawTable(3, 90);
  expect(many.x.slice(0, 40).values).toEqual(few.x.values);
  expect(many.y.slice(0, 40)).toEqual(few.y);
  expect(drawTable(4, 40).x.values).not.toEqual(few.x.values);
});

it("finds five nearest rows on scaled columns", async () => {
  // The second column is a thousand times larger and tells nothing: unscaled, it would decide.
  const rows = Array.from({ length: 40 }, (_, r) => [r % 2, ((r * 7919) % 40) * 1000]);
  const x = Dense.fromRows(rows);
  const y = rows.map(([label]) => label);
  expect(await neighbourAccuracy(x, y, x, y)).toBe(1);
});

it.skipIf(!existsSync(program))("prints a table of knots and one of voters (needs npm run build)", () => {
  const args = ["--tables", "1", "--rows", "60", "--test-rows", "50"];
  const page = execFileSync(execPath, [program, ...args], { encoding: "utf8", stdio: "pipe" });
  expect(page).toMatch(/\| 5 \| 0\.\d{4} \|/);
  expect(page).toMatch(/5 nearest neighbours, scaled \| [01]\.\d{4}/);
});
