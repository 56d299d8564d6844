/** Tables as people have them: what is meant is learned from, and what a person should know is said in a sentence. */

import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeWorld, type World } from "./world.ts";

let world: World;
beforeAll(() => {
  world = makeWorld();
});
afterAll(() => world.remove());

/** Draws that are the same everywhere. */
function draws(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

type Cells = readonly (string | number)[];

function write(name: string, names: readonly string[], rows: number, cells: (r: number) => Cells): string {
  const quoted = (cell: string | number) => (/[,"\n]/.test(String(cell)) ? `"${cell}"` : String(cell));
  const lines = Array.from({ length: rows }, (_, r) => cells(r).map(quoted).join(","));
  writeFileSync(world.path(name), `${names.join(",")}\n${lines.join("\n")}\n`);
  return name;
}

/** Trains on two thirds of the rows of a file, and answers with what was said and the accuracy on the others. */
async function judged(line: string): Promise<{ notes: string; accuracy: number }> {
  const { code, stdout, stderr } = await world.ranksim(`train ${line} --test-share 0.33 --seed 1 -m m.ranksim --json`);
  expect(code, stderr).toBe(0);
  const { heldOut, notes = [] } = JSON.parse(stdout);
  return { notes: notes.join("\n"), accuracy: heldOut.accuracy };
}

const german = (value: number) => value.toLocaleString("de-DE", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const american = (value: number) => `$${value.toLocaleString("en-US", { minimumFractionDigits: 2 })}`;
const clock = (minutes: number) => `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}`;
const day = (days: number) => new Date(Date.UTC(2024, 0, 1 + days));
const named = (date: Date) => date.toUTCString().slice(5, 16);

describe("a column that decides the class is understood", () => {
  const rows = 240;
  const value = (r: number) => (r * 7919) % 1000;
  test.each<[string, (v: number, r: number) => string | number, RegExp | undefined]>([
    ["1.234,56", (v) => german(v * 9 + 0.5), undefined],
    ["$1,234.50", (v) => american(v * 9 + 0.5), undefined],
    ["1,234", (v) => (v * 9 + 1000).toLocaleString("en-US"), /read as \d{4,5}/],
    ["12 %", (v) => `${v / 10} %`, undefined],
    ["a dash for what is not there", (v, r) => (r % 12 ? v : "-"), /20 cells are "-", taken as missing/],
    ["#N/A for what is not there", (v, r) => (r % 12 ? v : "#N/A"), /20 cells are "#N\/A", taken as missing/],
    ["-999 for what is not there", (v, r) => (r % 12 ? v / 10 : -999), /20 cells are -999, taken as missing/],
    ["05 Jan 2024", (v) => named(day(v)), undefined],
    ["HH:MM", (v) => clock(Math.floor(v * 1.4)), undefined],
  ])("%s", async (_, spell, note) => {
    const noise = draws(3);
    const file = write("one.csv", ["measure", "other", "kind"], rows, (r) => [
      spell(value(r), r),
      noise().toFixed(3),
      value(r) < 500 ? "low" : "high",
    ]);
    const { accuracy, notes } = await judged(`${file} --label-column kind`);
    // A twelfth of the values may be missing, half of which are guessed right.
    expect(accuracy).toBeGreaterThan(0.88);
    if (note) expect(notes).toMatch(note);
    const dry = await world.ranksim(`train ${file} --label-column kind --dry-run`);
    expect(dry.stdout).not.toContain("left out");
  });

  test("seconds from 1970 tell the hour", async () => {
    const rise = draws(5);
    const file = write("unix.csv", ["created_at", "other", "kind"], 600, () => {
      const at = 1_700_000_000 + Math.floor(rise() * 40_000_000);
      return [at, rise().toFixed(3), Math.floor(at / 3600) % 24 < 12 ? "morning" : "evening"];
    });
    const { accuracy, notes } = await judged(`${file} --label-column kind`);
    // As plain numbers they tell nothing.
    expect(accuracy).toBeGreaterThan(0.7);
    expect(notes).toContain("created_at: counts seconds from 1970, read as dates");
  });

  test("300 shops, each with its own habit", async () => {
    const draw = draws(7);
    const habits = Array.from({ length: 300 }, () => (draw() < 0.5 ? 0.95 : 0.05));
    const file = write("shops.csv", ["shop", "price", "bought"], 4000, () => {
      const shop = Math.floor(draw() * 300);
      return [`shop ${shop}x`, (100 * draw()).toFixed(2), draw() < habits[shop] ? "yes" : "no"];
    });
    expect((await judged(`${file} --label-column bought`)).accuracy).toBeGreaterThan(0.75);
  });
});

describe("texts in tables", () => {
  const praise = ["a good one, I like it", "very good and nice to have", "good, would buy it again"];
  const blame = ["a bad one, I hate it", "very bad and no fun to have", "bad, would not buy it"];
  const said = (r: number, isGood: boolean) => `${(isGood ? praise : blame)[r % 3]} number ${r}`;

  test("are learned from beside numbers, and none is left out", async () => {
    const file = write("reviews.csv", ["review", "stars", "kind"], 240, (r) => [
      said(r, r % 4 < 2),
      r % 2,
      `${r % 4 < 2 ? "good" : "bad"}${r % 2}`,
    ]);
    const { accuracy } = await judged(`${file} --label-column kind`);
    expect(accuracy).toBeGreaterThan(0.9);
    const { stdout } = await world.ranksim(`train ${file} --label-column kind --dry-run`);
    expect(stdout).toMatch(/^texts +1 +review/m);
    expect(stdout).not.toContain("left out");
  });

  test("alone with their labels need no flag", async () => {
    const lines = Array.from({ length: 60 }, (_, r) => `${r % 2 ? "good" : "bad"}\t${said(r, r % 2 === 1)}`);
    writeFileSync(world.path("talk.tsv"), `label\ttext\n${lines.join("\n")}\n`);
    expect((await judged("talk.tsv")).accuracy).toBeGreaterThan(0.9);
  });
});

describe("what makes scores too good, or classes too many, is said", () => {
  const draw = draws(11);
  const fair = (): Cells => [draw().toFixed(4), draw().toFixed(4), draw() < 0.5 ? "a" : "b"];
  const names = ["x", "z", "kind"];
  const noteOf = async (file: string) => (await world.ranksim(`train ${file} --label-column kind -m n.ranksim`)).stderr;

  test("a column that gives the label away", async () => {
    const file = write("leak.csv", ["x", "outcome", "kind"], 100, () => {
      const [x, , kind] = fair();
      return [x, kind === "a" ? 1 : 0, kind];
    });
    expect(await noteOf(file)).toContain('column "outcome" alone tells every row\'s label');
  });

  test("rows that come three times", async () => {
    const once = Array.from({ length: 60 }, fair);
    const file = write("three.csv", names, 180, (r) => once[r % 60]);
    expect(await noteOf(file)).toContain("100 % of the rows equal another row");
    const plain = write("once.csv", names, 60, (r) => once[r]);
    expect(await noteOf(plain)).not.toContain("equal another row");
  });

  test("labels in three spellings, and a header that comes again", async () => {
    const file = write("spelled.csv", names, 90, (r) => [...fair().slice(0, 2), ["Yes", "yes", "no"][r % 3]]);
    expect(await noteOf(file)).toContain('the labels "Yes", "yes" differ only by case or blanks');
    const again = write("again.csv", names, 90, (r) => (r === 40 ? names : fair()));
    expect(await noteOf(again)).toContain('1 row has the name of the label column, "kind", for a label');
  });

  test("a model that is no better than the majority", async () => {
    const file = write("noise.csv", names, 300, (r) => [draw(), draw(), r % 10 ? "often" : "rare"]);
    const { code, stderr } = await world.ranksim(`train ${file} --label-column kind --test-share 0.3 -m n.ranksim`);
    expect(code).toBe(0);
    expect(stderr).toMatch(/right no more often than always answering "often" \(0\.9\d*\)|all answers are "often"/);
  });

  test("rows seen in training, but not rows that are alike by chance", async () => {
    const words = () => [["s", "m", "l"][Math.floor(draw() * 3)], ["red", "blue"][Math.floor(draw() * 2)]];
    const row = () => [...words(), draw() < 0.5 ? "a" : "b"];
    const [train, later] = ["words.csv", "later.csv"].map((name) => write(name, ["size", "colour", "kind"], 200, row));
    const options = "--label-column kind";
    expect((await world.ranksim(`train ${train} ${options} -m w.ranksim`)).code).toBe(0);
    expect((await world.ranksim(`evaluate w.ranksim ${later}`)).stderr).not.toContain("seen in training");
    const numbers = write("numbers.csv", names, 100, fair);
    expect((await world.ranksim(`train ${numbers} ${options} -m f.ranksim`)).code).toBe(0);
    expect((await world.ranksim(`evaluate f.ranksim ${numbers}`)).stderr).toContain(
      "all 100 rows were seen in training",
    );
  });
});

test("later rows that are unlike those of training are told, by column", async () => {
  const draw = draws(13);
  const colours = ["red", "blue", "green"];
  const file = write("known.csv", ["colour", "size", "weight", "kind"], 120, (r) => [
    colours[r % 3],
    (10 * draw()).toFixed(2),
    (10 * draw()).toFixed(2),
    r % 3 ? "a" : "b",
  ]);
  expect((await world.ranksim(`train ${file} --label-column kind -m k.ranksim`)).code).toBe(0);
  expect((await world.ranksim(`predict k.ranksim ${file}`)).stderr).toBe("");
  const odd = write("odd.csv", ["colour", "size", "weight"], 40, () => ["violet", (10_000 * draw()).toFixed(2), ""]);
  const { code, stderr } = await world.ranksim(`predict k.ranksim ${odd}`);
  expect(code).toBe(0);
  expect(stderr).toContain(
    'column "colour": 40 of 40 cells hold words that training rows had rarely or never, such as "violet"',
  );
  expect(stderr).toMatch(/column "size": \d+ of 40 cells are far beyond the values of training/);
  expect(stderr).toContain('column "weight": 40 of 40 cells are empty, in training none were');
});
