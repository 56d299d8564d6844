/** Answers with a promise, and rows that count more than others, on the command line. */

import { readFileSync, writeFileSync } from "node:fs";
import type { ClassifierModel, ConformalModel, PipelineModel } from "@ranksim/core";
import { loadDigits, type TableLike } from "@ranksim/data";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readModelFile as loadModel } from "../src/load-model.ts";
import { misfits } from "./output-schema.ts";
import { makeWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = makeWorld();
  await world.ranksim("train --estimator classifier digits:train --sets --filters 40 -m sets.ranksim");
  await world.ranksim("train --estimator classifier digits:train --filters 40 -m plain.ranksim");
});
afterAll(() => world.remove());

/** What a command prints for programs, which fits the schema. */
async function told(line: string) {
  const { code, stdout, stderr } = await world.ranksim(`${line} --json`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const found = JSON.parse(stdout);
  expect(misfits(found)).toEqual([]);
  return found;
}

/** The fields of a line of CSV, by RFC 4180. */
const fieldsOf = (line: string): string[] =>
  Array.from(line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g), ([, quoted, plain]) =>
    quoted === undefined ? plain : quoted.replaceAll('""', '"'),
  );

describe("--coverage", () => {
  test("gives sets that grow with it, and evaluate says how often they hold the class", async () => {
    const [narrow, wide] = [
      await told("predict sets.ranksim digits:test --coverage 0.8"),
      await told("predict sets.ranksim digits:test --coverage 0.95"),
    ];
    narrow.sets.forEach((set: number[], r: number) => {
      expect(wide.sets[r]).toEqual(expect.arrayContaining(set));
    });
    const { y } = await loadDigits();
    const truth = y.slice(-wide.sets.length);
    const held = wide.sets.filter((set: number[], r: number) => set.includes(truth[r])).length;
    const { sets } = await told("evaluate sets.ranksim digits:test");
    expect(sets).toEqual({
      coverage: 0.95,
      held: held / truth.length,
      meanSize: wide.sets.flat().length / truth.length,
    });
    const text = (await world.ranksim("evaluate sets.ranksim digits:test")).stdout;
    expect(text).toMatch(/^sets of 0\.95 +hold the class of 0\.\d{4} of the rows, with \d+\.\d\d classes on average$/m);
    await world.ranksim("report sets.ranksim digits:test -o sets.html");
    expect(readFileSync(world.path("sets.html"), "utf8")).toContain("<dt>Coverage</dt>");
  });

  test("is a column of a table, and of JSON lines", async () => {
    const table = (await world.ranksim("predict sets.ranksim digits:test --coverage 0.99")).stdout;
    expect(table.split("\n")[0]).toBe("label,set");
    await world.ranksim("predict sets.ranksim digits:test --coverage 0.99 -o sets.jsonl");
    const [first] = readFileSync(world.path("sets.jsonl"), "utf8").split("\n");
    expect(JSON.parse(first)).toEqual({ label: expect.any(Number), set: expect.any(Array) });
  });

  test("is a line of CSV in its cell, so that names with commas and quotes stay whole", async () => {
    const names = ["Smith, John", "Smith", 'John "Jo"'];
    const lines = Array.from({ length: 120 }, (_, r) =>
      JSON.stringify({ a: (r * 7) % 11, b: (r * 5) % 13, c: (r * 3) % 7, kind: names[r % 3] }),
    );
    writeFileSync(world.path("people.jsonl"), lines.join("\n"));
    const flags = "--label kind --estimator classifier --set table=false --filters 6 --sets";
    await told(`train people.jsonl ${flags} -m people.ranksim`);
    const { sets } = await told("predict people.ranksim people.jsonl --coverage 0.95");
    // The classes cannot be told apart, so that some sets hold several.
    expect(sets.some((set: string[]) => set.length > 1 && set.includes("Smith, John"))).toBe(true);
    const csv = (await world.ranksim("predict people.ranksim people.jsonl --coverage 0.95 --out-format csv")).stdout;
    const cells = csv
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => fieldsOf(line)[1]);
    expect(cells.map((cell) => (cell === "" ? [] : fieldsOf(cell)))).toEqual(sets);
  });
});

test.each([210, 60])(
  "--sets with %d rows, and a class of one of them, holds out rows of the other classes",
  async (rows) => {
    const lines = Array.from({ length: rows }, (_, r) => `${(r * 7) % 11},${r % 2},${(r * 5) % 13},${kindOf(r)}`);
    writeFileSync(world.path("few.csv"), `a,b,c,kind\n${lines.join("\n")}\n`);
    const { report } = await told("train few.csv --label kind --sets --for reject -m few.ranksim -q");
    expect(report.rows).toBe(rows * 0.9);
    const model = loadModel(readFileSync(world.path("few.ranksim"))) as ConformalModel<TableLike>;
    expect(model.scores).toHaveLength(rows * 0.1);
    const [, classify] = (model.model as unknown as PipelineModel<TableLike>).steps;
    expect((classify as ClassifierModel).params.calibrate).toBe("temperature");
    const { sets } = await told("predict few.ranksim few.csv --coverage 0.8");
    expect(sets.flat()).toEqual(expect.arrayContaining(["even", "odd"]));
    expect(model.classes).toEqual(["even", "odd", "single"]);
  },
);

const kindOf = (r: number): string => (r === 5 ? "single" : r % 2 === 0 ? "even" : "odd");

test("--reject gives rows unlike those trained on no class", async () => {
  writeFileSync(
    world.path("noise.csv"),
    `${Array.from({ length: 20 }, (_, r) => Array.from({ length: 64 }, (_, i) => (i * 7 + r * 3) % 17).join(",")).join("\n")}\n`,
  );
  const { labels } = await told("predict sets.ranksim noise.csv --set header=false --reject 0.05");
  expect(labels.filter((label: unknown) => label === null).length).toBeGreaterThan(15);
  const known = await told("predict sets.ranksim digits:train --reject 0.05");
  expect(known.labels.filter((label: unknown) => label === null).length).toBeLessThan(0.1 * known.labels.length);
  const lines = (await world.ranksim("predict sets.ranksim noise.csv --set header=false --reject 0.05")).stdout;
  expect(lines).toMatch(/^$/m);
  // Many readers of CSV skip empty lines, and the rows after them would shift.
  const csv = await world.ranksim("predict sets.ranksim noise.csv --set header=false --reject 0.05 --out-format csv");
  expect(csv.stdout.split("\n").filter((line) => line === '""')).toHaveLength(
    labels.filter((label: unknown) => label === null).length,
  );
});

test.each([
  [1, "predict plain.ranksim digits:test --coverage 0.9", "trained without --sets"],
  [1, "predict plain.ranksim digits:test --reject 0.1", "trained without --sets"],
  [2, "predict sets.ranksim digits:test --coverage 1", "Expected a number above 0 and below 1"],
  [1, "predict sets.ranksim digits:test --coverage 0.9 -o a.npy", "no place for"],
  [2, "train digits:train --estimator transform --sets -m x.ranksim", "a transform has no classes"],
  [2, "train digits:train --for reject -m x.ranksim", "--for reject: expected --sets with it"],
  [
    1,
    "train w.csv --label kind --columns gaps:weight -m x",
    'line 3, column 3 ("gaps"): expected a number above 0, found nothing',
  ],
  [1, "train w.csv --label kind --columns gap:weight -m x", 'found "gap"; did you mean gaps?'],
  [2, "predict w.csv plain.ranksim", "w.csv is not a model, but plain.ranksim is"],
  [
    1,
    "train w.csv --label kind --columns a:weight -m x",
    '--columns NAME:weight: w.csv, line 4, column 0 ("a"): expected a number above 0',
  ],
])("ends with %s: %s", async (code, line, message) => {
  writeFileSync(world.path("w.csv"), "a,b,w,gaps,kind\n1,9,1,1,x\n2,8,1,,x\n0,1,1,1,y\n8,2,1,1,y\n");
  const outcome = await world.ranksim(line);
  expect(outcome.code).toBe(code);
  expect(outcome.stderr).toContain(message);
});

test("--columns says:weight how much rows count, and is no feature", async () => {
  // One filter a class: the rank order of the sum of its rows, which a heavy row turns round.
  const rows = ["9,5,1,x", "1,5,9,x", "1,5,8,x", "5,9,1,y", "5,9,1,y", "5,8,1,y"];
  const train = async (name: string, weights: readonly number[] | undefined) => {
    const lines = rows.map((row, r) => (weights ? `${row},${weights[r]}` : row));
    writeFileSync(world.path(`${name}.csv`), `a,b,c,kind${weights ? ",w" : ""}\n${lines.join("\n")}\n`);
    const flags = `--estimator classifier --set table=false --filters 2 ${weights ? "--columns w:weight" : ""}`;
    const { report } = await told(`train ${name}.csv --label kind ${flags} -m ${name}.ranksim`);
    expect(report.features).toBe(3);
    writeFileSync(world.path("asked.csv"), "a,b,c\n1,2,30\n");
    return (await told(`predict ${name}.ranksim asked.csv`)).labels[0];
  };
  // Ranks of x are 1, 2, 3 and of y 2, 3, 1: the row responds with 95 and 38. With a heavy first row x has 3, 2, 1: 37.
  expect(await train("none", undefined)).toBe("x");
  expect(await train("ones", [1, 1, 1, 1, 1, 1])).toBe("x");
  expect(await train("heavy", [100, 1, 1, 1, 1, 1])).toBe("y");
});

test("--columns goes:weight with the rows that are trained on", async () => {
  const rows = Array.from({ length: 80 }, (_, r) => [r % 2 ? 9 : 1, 5, (r * 7) % 11, r % 2 ? "x" : "y", 1 + (r % 3)]);
  writeFileSync(world.path("rows.csv"), ["a,b,c,kind,w", ...rows.map((row) => row.join(","))].join("\n"));
  const flags = "--label kind --estimator classifier --set table=false --filters 4 -m w.ranksim";
  const train = async (weights: string) => {
    const { heldOut, digest } = await told(`train rows.csv ${flags} --test-share 0.25 --sets ${weights}`);
    expect(heldOut.rows).toBe(20);
    return digest;
  };
  expect(await train("--columns w:weight")).not.toBe(await train("--columns w:ignore"));
});

test("says where too few rows were held out for what is asked", async () => {
  const rows = Array.from({ length: 100 }, (_, r) => `${r % 7},${(r * 3) % 11},${r % 2 ? "odd" : "even"}`);
  writeFileSync(world.path("few.csv"), `a,b,label\n${rows.join("\n")}\n`);
  await world.ranksim("train few.csv --sets --for reject -m few.ranksim");
  const asked = (flags: string) => world.ranksim(`predict few.ranksim few.csv ${flags}`);
  // Of ten rows, sets of more than 10 / 11 cannot leave a class out, and less than 1 / 11 of known rows cannot be rejected.
  const { stderr, stdout } = await asked("--coverage 0.91 --reject 0.09");
  expect(stderr).toContain("--coverage 0.91: every set holds all classes, as only 10 rows were held out");
  expect(stderr).toContain("--reject 0.09: no row is rejected, as only 10 rows were held out");
  expect(stdout.trimEnd().split("\n").slice(1)).toSatisfy((lines: string[]) =>
    lines.every((line) => /^(odd|even),"(odd,even|even,odd)"$/.test(line)),
  );
  expect((await asked("--coverage 0.9 --reject 0.1")).stderr).toBe("");
});

test("inspect says that a model gives sets", async () => {
  expect((await world.ranksim("inspect sets.ranksim")).stdout).toMatch(/^sets +fitted to 1\d\d held-out rows$/m);
  expect((await world.ranksim("inspect plain.ranksim")).stdout).not.toMatch(/^sets/m);
});

test("explain says what the rows of filters are counted among, where some rows were held out", async () => {
  const note = "rows of filters are counted among the rows that were trained on";
  const { notes } = await told("explain sets.ranksim digits:test --row 0");
  expect(notes).toEqual([expect.stringContaining(note)]);
  expect((await told("explain plain.ranksim digits:test --row 0")).notes).toEqual([]);
});
