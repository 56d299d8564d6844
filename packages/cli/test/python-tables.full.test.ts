/**
 * python/ranksim_model.py gives the labels and the probabilities of the command, for models of texts and of tables. Skipped where
 * python3 with numpy is missing.
 */

import { writeFileSync } from "node:fs";
import { loadDigits, saveData } from "@ranksim/data/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compare, numpy, python } from "./python-world.ts";
import { EXAMPLE_CONTENTS, makeWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = makeWorld();
  for (const [name, content] of Object.entries(EXAMPLE_CONTENTS)) writeFileSync(world.path(name), content);
  const { x, y } = await loadDigits();
  await saveData(world.path("x.npy"), { form: "matrix", x: x.slice(1500, 1797) });
  await saveData(world.path("train.npz"), { form: "matrix", x: x.slice(0, 700), y: y.slice(0, 700) });
});
afterAll(() => world.remove());

describe.skipIf(!numpy)("numpy gives what the command gives", () => {
  test.each([
    "count",
    "tfidf --set ngramRange=1-2 --set logTf=true --set idfPower=2",
    "hashing --set nFeatures=512",
    "tfidf --set analyzer=char --set ngramRange=1-4",
    "hashing --set analyzer=char_wb --set ngramRange=2-5 --set nFeatures=512",
  ])("text: %s", async (vectorizer) => {
    const flags = "--text --columns review:text --label stars --filters 8";
    expect(await world.ranksim(`train reviews.csv ${flags} -m t.ranksim --set vectorizer=${vectorizer}`)).toMatchObject(
      {
        code: 0,
      },
    );
    await compare(world, "t.ranksim", "new-reviews.txt", 'open("new-reviews.txt").read().splitlines()');
  });

  test("texts of numbers in columns of decimal commas: taken or refused as by the command, in CSV and JSON", async () => {
    const cells = ["1,5", "2", "-30,25", "1,5e1", "2e1", "1.5", "1.500", "2.", ".5", "1.234,5", "word"];
    const lines = Array.from({ length: 80 }, (_, i) => `${(i * 13) % 31},${i % 10};${(i * 7) % 19},5;${"ab"[i % 2]}`);
    writeFileSync(world.path("sizes.csv"), `size;weight;label\n${lines.join("\n")}\n`);
    const train = "train sizes.csv --label label --set table=true --estimator classifier --filters 12 -m sizes.ranksim";
    expect((await world.ranksim(train)).code).toBe(0);
    const answers = async (name: string, file: (cell: string) => string) => {
      const found: unknown[] = [];
      for (const cell of cells) {
        writeFileSync(world.path(name), file(cell));
        const { code, stdout, stderr } = await world.ranksim(`predict sizes.ranksim ${name}`);
        if (code !== 0) expect(stderr).toContain("expected a number with a decimal comma as at training");
        found.push(code === 0 ? stdout.trim() : null);
      }
      return found;
    };
    const csv = await answers("one.csv", (cell) => `size;weight\n${cell};2,5\n`);
    const json = await answers("one.jsonl", (cell) => JSON.stringify({ size: cell, weight: "2,5" }));
    const numpyAnswers = JSON.parse(
      python(
        world,
        `import json
from ranksim_model import Model
m = Model("sizes.ranksim"); out = []
for cell in json.loads(${JSON.stringify(JSON.stringify(cells))}):
    try: out.append(m.predict([[cell, "2,5"]])[0])
    except ValueError as error:
        assert "expected a number with a decimal comma" in str(error), error
        out.append(None)
# A number is a number, however its column was written.
assert m.predict([[1.5, 2.5]]) == m.predict([["1,5", "2,5"]])
print(json.dumps(out))`,
      ),
    );
    const taken = cells.map((_, j) => j < 5);
    for (const found of [csv, json, numpyAnswers]) {
      expect(found.map((label: unknown) => label !== null)).toEqual(taken);
      expect(found).toEqual(csv);
    }
  });

  test("a table of words, dates, decimal commas and gaps", async () => {
    const lines = Array.from({ length: 90 }, (_, i) => {
      const colour = i % 9 === 0 ? "" : ["red", "blue", "01", "1.0", `rare ${i % 40}`][i % 5];
      const size = i % 7 === 0 ? "NA" : `${(i * 13) % 31},${i % 10}`;
      return [
        colour,
        `${1 + (i % 28)}.${1 + (i % 12)}.2023 ${i % 24}:30`,
        size,
        ["yes", "No"][i % 2],
        "abc"[i % 3],
      ].join(";");
    });
    writeFileSync(world.path("table.csv"), `colour;when;size;flag;label\n${lines.join("\n")}\n`);
    expect(await world.ranksim("train table.csv -m table.ranksim --filters 12")).toMatchObject({ code: 0 });
    await compare(
      world,
      "table.ranksim",
      "table.csv",
      'list(__import__("csv").DictReader(open("table.csv"), delimiter=";"))',
    );
  });

  test.each([
    ["by their value", ""],
    ["as they are written in columns that were said to be categories", "--columns c:category,d:category"],
  ])("categories that spell numbers, known %s", async (_, columns) => {
    // 0,50 is 0,5 but not 0.5, and 2,00 is 2.
    const spelled = "0,50 0,5 00,5 0.5 2,00 2 2.0 1,230 1,23 1230 -0,0 1e3 1,0e-7 1e-7 1,5e21 ,5 5, word".split(" ");
    const cells = Array.from({ length: 160 }, (_, i) => spelled[(i * 7) % (i < 80 ? 9 : 18)]);
    const rows = cells.map((cell, i) =>
      [cell, "0,10;0,1;1,0;1;2,5".split(";")[i % 5], "abc"[((i * 7) % 9) % 3]].join(";"),
    );
    writeFileSync(world.path("comma.csv"), `c;d;label\n${rows.join("\n")}\n`);
    const comma = `train comma.csv --label label ${columns} --estimator classifier --filters 24 -m comma.ranksim`;
    const trained = await world.ranksim(comma);
    expect(trained.code, trained.stderr).toBe(0);
    await compare(
      world,
      "comma.ranksim",
      "comma.csv",
      'list(__import__("csv").DictReader(open("comma.csv"), delimiter=";"))',
    );
    // Numbers are spelled as JavaScript writes them, among them those that Python writes in another way.
    const numbers = [0.5, 2, 1230, 1000, 1e-7, 0.00001, -0].map((c) => ({ c, d: 1 }));
    const lines = numbers.map((row) => JSON.stringify(row));
    writeFileSync(world.path("numbers.jsonl"), `${lines.join("\n")}\n`);
    await compare(
      world,
      "comma.ranksim",
      "numbers.jsonl",
      '[{k: float(v) for k, v in __import__("json").loads(line).items()} for line in open("numbers.jsonl")]',
    );
  });

  test("categories with blanks around them are others", async () => {
    const rows = Array.from({ length: 120 }, (_, i) => ({ c: ["red", " red", "red ", "blue"][i % 4], n: (i * 7) % 5 }));
    const lines = rows.map((row, i) => JSON.stringify({ ...row, label: "abca"[i % 4] }));
    writeFileSync(world.path("blanks.jsonl"), lines.join("\n"));
    const trained = await world.ranksim("train blanks.jsonl --estimator classifier --filters 24 -m blanks.ranksim");
    expect(trained.code, trained.stderr).toBe(0);
    await compare(
      world,
      "blanks.ranksim",
      "blanks.jsonl",
      '[__import__("json").loads(line) for line in open("blanks.jsonl")]',
    );
  });

  test("numbers that are encoded as a table", async () => {
    expect(await world.ranksim("train train.npz -m numbers.ranksim --filters 40 --set table=true")).toMatchObject({
      code: 0,
    });
    await compare(world, "numbers.ranksim", "x.npy", 'np.load("x.npy").tolist()');
  });
});
