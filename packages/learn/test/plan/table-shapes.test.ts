/** Rows of another kind than a model was trained on are refused with the cure, in every form they come in and by every call. */

import { Csr, Dense, type PredictingModel, RankSimilarityClassifier } from "@ranksim/core";
import { Table } from "@ranksim/data";
import { ConformalClassifier, recipeFor, train } from "@ranksim/learn";
import { describe, expect, it } from "vitest";

const records = Array.from({ length: 90 }, (_, i) => ({
  age: 20 + ((i * 7) % 50),
  drinks: i % 3 ? "often" : "rarely",
}));
const y = records.map(({ age }) => (age > 45 ? "yes" : "no"));
const rows = records.map(({ age }) => [age, age % 7, 3, 9 - (age % 9), age % 5, age % 4, age % 3, 1]);
const table = Table.fromRecords(records);
const words = records.map(({ age, drinks }) => `word${age} ${drinks} day`);

type Called = {
  readonly [call in "predict" | "predictProbabilities" | "familiarity"]: (x: unknown) => Promise<unknown>;
} & {
  score(x: unknown, y: unknown): Promise<unknown>;
};

/** What every call says of rows, which is the same. */
async function refusals(model: unknown, x: unknown): Promise<Set<string>> {
  const asked = model as Called;
  const message = (call: Promise<unknown>) => call.then(String, (error: Error) => error.message);
  return new Set([
    await message(asked.predict(x)),
    await message(asked.predictProbabilities(x)),
    await message(asked.score(x, ["yes"])),
    ...(asked.familiarity ? [await message(asked.familiarity(x))] : []),
  ]);
}

const CURE =
  'the model takes a Table or records of the columns "age" (number), "drinks" (category): [{ "age": …, "drinks": … }]';
const numbersOf = (...row: number[]): [string, unknown][] => [
  ["arrays", [row]],
  ["typed arrays", [Float64Array.from(row)]],
  ["Dense", Dense.fromRows([row])],
  ["Csr", Csr.of(Uint32Array.of(0, row.length), Uint32Array.from(row.keys()), Float64Array.from(row), row.length)],
];

describe("a model of a table of numbers and words", async () => {
  const { model } = await train({ form: "table", table, y }, { seed: 1 });
  const recipe = recipeFor({ form: "table", table, y }, { seed: 1 });
  const sets = await new ConformalClassifier<Table>(recipe.estimator as never).fit(table, y);
  const models: [string, PredictingModel<never>][] = [
    ["alone", model as never],
    ["with sets", sets as never],
  ];

  it.each(numbersOf(60, 1))("refuses rows of numbers: %s", async (_, x) => {
    for (const [, asked] of models) {
      expect(await refusals(asked, x)).toEqual(
        new Set([`column "drinks": expected words such as "often", found rows of numbers; ${CURE}`]),
      );
    }
  });

  it.each(numbersOf(60, 1, 5))("refuses rows of another width: %s", async (_, x) => {
    expect(await refusals(model, x)).toEqual(new Set([`the model takes 2 columns, the data has 3; ${CURE}`]));
  });

  it.each([
    ["words in arrays", [[60, "often"]], 'row 0, column 1: expected a number, found "often"'],
    ["texts", ["sixty often"], "found an array of 1 texts; rows of this model are numbers"],
    ["numbers in one array", [60, 1], "found 2 numbers; for one row pass [row]"],
    ["nothing", undefined, "found undefined"],
  ])("refuses %s, and says how a table is passed", async (_, x, found) => {
    for (const message of await refusals(model, x)) {
      expect(message).toContain(found);
      expect(message).toContain(CURE);
    }
  });

  it("refuses tables that lack a column, or have words in one of numbers", async () => {
    for (const message of await refusals(model, Table.fromRecords([{ age: 60 }]))) {
      expect(message).toBe('expected the columns "drinks", which the table lacks');
    }
    for (const message of await refusals(model, Table.fromRecords([{ age: "old", drinks: "often" }]))) {
      expect(message).toBe('column "age", row 0: expected a number, found "old"');
    }
  });

  it("answers tables and records in any order of columns, and nothing with nothing", async () => {
    const swapped = Table.fromRecords([{ drinks: "often", age: 60 }]);
    expect(await model.predict(swapped)).toEqual(["yes"]);
    const record = { drinks: "often", age: 60 };
    expect(await model.predict([record, record])).toEqual(["yes", "yes"]);
    expect(await model.predict(record)).toEqual(["yes"]);
    expect(await model.predict([])).toEqual([]);
  });
});

it("a model of rows of numbers that are a table takes them by position", async () => {
  const { model, recipe } = await train(
    { form: "table", table: Table.fromMatrix(Dense.fromRows(rows)), y },
    { seed: 1, table: true },
  );
  expect(recipe.takes).toBe("table");
  for (const [, x] of numbersOf(...rows[0])) expect(await model.predict(x as never)).toEqual([y[0]]);
  for (const message of await refusals(model, [[60, 1]])) {
    expect(message).toContain("the model takes 8 columns, the data has 2");
    expect(message).toContain('"column 0" (number)');
  }
});

it("dates are no numbers, and categories that spell numbers are", async () => {
  const dated = Table.fromRecords(
    records.map(({ age }, i) => ({ day: `2024-0${1 + (i % 9)}-1${i % 10}`, age, plan: String(100 + (i % 3)) })),
  );
  const { model } = await train({ form: "table", table: dated, y }, { seed: 1 });
  await expect(model.predict([[1, 60, 101]])).rejects.toThrow('column "day": expected a date, found rows of numbers');
  const plans = Table.fromRecords(records.map(({ age }, i) => ({ age, plan: `${100 + (i % 3)}` })));
  const planned = await train({ form: "table", table: plans, y }, { seed: 1 });
  expect(await planned.model.predict([[60, 101]])).toEqual(["yes"]);
});

describe("a model of texts", async () => {
  const { model } = await train({ form: "text", text: words, y }, { seed: 1 });

  it.each([
    ...numbersOf(60, 1).map(([name, x]): [string, unknown, string] => [
      name,
      x,
      { arrays: "an Array", "typed arrays": "a Float64Array", Dense: "a Dense", Csr: "a Csr" }[name] as string,
    ]),
    ["a table", table, "a Table"],
    ["records", [records[0]], "an Object"],
    ["one text", "word60", "a value of type string"],
  ])("refuses %s", async (_, x, found) => {
    for (const message of await refusals(model, x)) {
      expect(message).toContain(`found ${found}; texts are passed as ["one text", "another text"]`);
    }
  });
});

it("a model of numbers refuses texts and tables", async () => {
  const model = await new RankSimilarityClassifier({ filters: 10 }).fit(rows, y);
  for (const message of await refusals(model, ["word60 often day"])) {
    expect(message).toContain("found an array of 1 texts; rows of this model are numbers");
  }
  for (const message of await refusals(model, table)) expect(message).toContain("found a Table");
});
