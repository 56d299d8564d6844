import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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

test("nearest needs rows to look among, and says how to keep some", async () => {
  const { stderr, code } = await world.ranksim("nearest digits.ranksim digits:test");
  expect(code).toBe(2);
  expect(stderr).toContain("--among");
  expect(stderr).toContain("keep-rows");
});

describe("a model that keeps rows", () => {
  beforeAll(() => world.ranksim("keep-rows digits.ranksim digits:train -m kept.ranksim"));

  test("finds among them what it finds among the file they came from", async () => {
    const [kept, among] = await Promise.all([
      world.ranksim("nearest kept.ranksim digits:test --k 3"),
      world.ranksim("nearest digits.ranksim digits:test --among digits:train --k 3"),
    ]);
    expect(kept.code).toBe(0);
    expect(kept.stdout).toBe(among.stdout);
  });

  test("keeps the labels of tables and texts, which have a column for them", async () => {
    const lines = Array.from({ length: 40 }, (_, r) => `${r % 5},${(r * r) % 7},${"xyz"[r % 3]},${"pq"[r % 2]}`);
    writeFileSync(world.path("table.csv"), `a,b,c,label\n${lines.join("\n")}\n`);
    await world.ranksim("train table.csv --label label --preset fast -m table.ranksim");
    await world.ranksim("keep-rows table.ranksim table.csv -m kept-table.ranksim");
    const [kept, among] = await Promise.all([
      world.ranksim("nearest kept-table.ranksim table.csv --k 1"),
      world.ranksim("nearest table.ranksim table.csv --among table.csv --k 1"),
    ]);
    expect(kept.stdout.split("\n").slice(0, 3)).toEqual([
      "row,place,neighbour,similarity,label",
      "0,1,0,1,p",
      "1,1,1,1,q",
    ]);
    expect(among.stdout).toBe(kept.stdout);
  });

  test("answers and is evaluated as before", async () => {
    for (const line of ["predict M digits:test", "evaluate M digits:test", "predict M digits:test --probabilities"]) {
      const [kept, plain] = await Promise.all(
        ["kept.ranksim", "digits.ranksim"].map((name) => world.ranksim(line.replace("M", name))),
      );
      expect(kept.stdout.replaceAll("kept.ranksim", "digits.ranksim")).toBe(plain.stdout);
    }
  });

  test("is explained by rows, and so are the rows of its report, which has a map", async () => {
    const { stdout } = await world.ranksim("explain kept.ranksim digits:test --row 3 --json");
    const { neighbours } = JSON.parse(stdout);
    const near = await world.ranksim("nearest kept.ranksim digits:test --k 5 --json");
    expect(neighbours).toEqual(JSON.parse(near.stdout).neighbours[3]);
    expect((await world.ranksim("explain kept.ranksim digits:test --row 3")).stdout).toMatch(
      /row kept +similarity +class/,
    );
    await world.ranksim("report kept.ranksim digits:test -o kept.html --samples 2");
    const page = readFileSync(world.path("kept.html"), "utf8");
    expect(page.match(/most like it of the rows kept/g)?.length).toBeGreaterThan(1);
    expect(page).toMatch(/title="row \d+: \d, similarity 0\.\d\d"/);
    expect(page).toContain("<h2>Map</h2>");
    expect(page).toMatch(/<title>row 0: \d/);
  });

  test.each([
    ["keep-rows kept.ranksim digits:test -m again.ranksim", "keeps rows already"],
    ["nearest kept.ranksim digits:test --similarity cosine", "kept for spearman"],
    ["update kept.ranksim digits:test", "keep-rows"],
    ["keep-rows digits.ranksim digits:test", "--model"],
  ])("%s is refused: %s", async (line, words) => {
    const { code, stderr } = await world.ranksim(line);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });

  test("is not written over the model it is made of", async () => {
    const { code, stderr } = await world.ranksim("keep-rows digits.ranksim digits:test -m digits.ranksim");
    expect([code, stderr]).toEqual([1, expect.stringContaining("digits.ranksim")]);
    expect((await world.ranksim("inspect digits.ranksim")).stdout).not.toContain("keeps");
  });

  test("says in inspect how many it keeps", async () => {
    const { stdout } = await world.ranksim("inspect kept.ranksim");
    expect(stdout).toMatch(/keeps +1,198 rows, alike by spearman/);
  });
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
