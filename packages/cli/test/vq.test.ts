import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = makeWorld();
  await world.ranksim("train digits:train -m digits.ranksim --preset paper --filters 40");
});
afterAll(() => world.remove());

test("nearest names a line for each neighbour, most alike first, and a row itself before all others", async () => {
  const { stdout, code } = await world.ranksim("nearest digits.ranksim digits:test --among digits:test --k 3");
  expect(code).toBe(0);
  const [head, ...lines] = stdout.trimEnd().split("\n");
  expect(head).toBe("row,place,neighbour,similarity,label");
  const cells = lines.map((line) => line.split(",").map(Number));
  for (const [j, [row, place, neighbour, similarity]] of cells.entries()) {
    expect([row, place]).toEqual([Math.floor(j / 3), (j % 3) + 1]);
    if (place === 1) expect([neighbour, similarity]).toEqual([row, 1]);
    else expect(similarity).toBeLessThanOrEqual(cells[j - 1][3]);
  }
});

test("nearest needs rows to look among", async () => {
  const { stderr, code } = await world.ranksim("nearest digits.ranksim digits:test");
  expect(code).toBe(2);
  expect(stderr).toContain("--among");
});

test("map draws every row as a dot that says which it is, without a script or a request", async () => {
  const { code } = await world.ranksim("map digits.ranksim digits:test -o map.html --title <b>");
  expect(code).toBe(0);
  const page = readFileSync(world.path("map.html"), "utf8");
  const rows = Number(/Map of (\d+) rows/.exec(page)?.[1]);
  expect(page.match(/<circle /g)).toHaveLength(rows);
  expect(rows).toBeGreaterThan(300);
  expect(page).toMatch(/<title>row 0: \d/);
  expect(page).toMatch(/<title>row \d+: \d, taken for \d, \d+ % sure/);
  expect(page).toContain("<h1>&lt;b&gt;</h1>");
  expect(page).not.toMatch(/<script|src="http|<b>/);
});

test("map draws as many rows as it is asked for", async () => {
  await world.ranksim("map digits.ranksim digits:test -o few.html --samples 20");
  expect(readFileSync(world.path("few.html"), "utf8").match(/<circle /g)).toHaveLength(20);
});
