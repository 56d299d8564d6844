/** Scores one can trust: rows held out, rows seen in training noticed, intervals, baselines, groups, time, and notes where a person would stop. */

import { readFileSync, writeFileSync } from "node:fs";
import { loadModel, schemaOf } from "@ranksim/core";
import { encodeNpy, loadDigits } from "@ranksim/data";
import { macroF1Interval, shareInterval } from "@ranksim/learn";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EXAMPLE_CONTENTS, makeWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = makeWorld();
  for (const [name, content] of Object.entries(EXAMPLE_CONTENTS)) writeFileSync(world.path(name), content);
  const { x, y } = await loadDigits();
  const head = `${Array.from({ length: 64 }, (_, i) => `p${i}`).join(",")},digit,writer,day`;
  const lines = Array.from(
    { length: 400 },
    (_, r) => `${x.row(r).join(",")},${y[r]},w${r % 8},2024-01-${1 + (r % 28)}`,
  );
  writeFileSync(world.path("writers.csv"), [head, ...lines].join("\n"));
});
afterAll(() => world.remove());

const json = async (line: string) => {
  const { code, stdout, stderr } = await world.ranksim(`${line} --json`);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
};

describe("train --test-share", () => {
  test("holds rows out, judges by them with intervals, and stores the scores", async () => {
    const { heldOut, report } = await json(
      "train digits --estimator classifier --test-share 0.25 --filters 100 --seed 3 -m d.ranksim",
    );
    expect(heldOut.rows).toBe(449);
    expect(report.rows).toBe(1797 - 449);
    expect(heldOut.accuracy).toBeGreaterThan(0.93);
    const [low, high] = heldOut.intervals.accuracy;
    expect(low).toBeLessThan(heldOut.accuracy);
    expect(high).toBeGreaterThan(heldOut.accuracy);
    const schema = schemaOf(loadModel(readFileSync(world.path("d.ranksim"))));
    expect(schema?.heldOut).toEqual({ rows: 449, scores: { accuracy: heldOut.accuracy, macroF1: heldOut.macroF1 } });
    const { stdout } = await world.ranksim(
      "train digits --estimator classifier --test-share 0.25 --filters 100 --seed 3 -m e.ranksim",
    );
    expect(stdout).toContain("449 rows held out of training");
    expect(stdout).toMatch(/accuracy +0\.9\d+ +95 %: 0\.\d+ to /);
    expect(readFileSync(world.path("e.ranksim")).equals(readFileSync(world.path("d.ranksim")))).toBe(true);
  });

  test("compares with simple methods", async () => {
    const { heldOut } = await json(
      "train digits --estimator classifier --test-share 0.25 --filters 100 --baselines -m b.ranksim",
    );
    const [majority, neighbours, svm] = heldOut.baselines;
    expect(majority).toMatchObject({ name: "most frequent class" });
    expect(majority.accuracy).toBeLessThan(0.2);
    expect(neighbours.accuracy).toBeGreaterThan(0.95);
    expect(svm.accuracy).toBeGreaterThan(0.9);
    const beside = await json("evaluate b.ranksim digits:test --baselines digits:train");
    expect(beside.baselines).toHaveLength(3);
    expect((await world.ranksim("evaluate b.ranksim digits:test --baselines digits:train")).stdout).toContain(
      "5 nearest neighbours",
    );
  });

  test("keeps groups together and takes the latest rows by time; the columns are no features", async () => {
    const flags = "--label digit --estimator classifier --filters 20 --test-share 0.25";
    const byGroup = await json(`train writers.csv ${flags} --columns writer:group --columns day:ignore -m g.ranksim`);
    // Two writers of eight, fifty rows each.
    expect(byGroup.heldOut.rows).toBe(100);
    expect(byGroup.report.features).toBe(64);
    const byTime = await json(`train writers.csv ${flags} --columns day:time --columns writer:ignore -m t.ranksim`);
    // Seven whole days of 14 rows: rows of one day are not on both sides.
    expect(byTime.heldOut.rows).toBe(98);
    const judged = await json(
      "cross-validate writers.csv --label digit --estimator classifier --filters 20 --folds 4 --columns writer:group --columns day:ignore",
    );
    expect(judged.folds).toHaveLength(4);
    for (const line of ["--columns writer:group", "--columns day:time", "--baselines"]) {
      for (const how of ["-m x", "--dry-run", "--dry-run --memory 40KB"]) {
        const outcome = await world.ranksim(
          `train writers.csv --label digit --columns day:ignore,writer:ignore ${how} ${line}`,
        );
        expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining("add --test-share") });
      }
    }
    const named = await world.ranksim("train digits --test-share 0.2 --columns writer:group -m x");
    expect(named).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("--columns NAME:group: digits: expected a file with columns"),
    });
  });
});

test("rows are split by time and by groups as they are written, in any format", async () => {
  // A new class from May on, and days that would be months if each were read alone.
  const days = Array.from({ length: 40 }, (_, r) => ({ day: (r * 7) % 28 || 28, month: 3 + (r % 4), year: 2024 }));
  const rows = days.map(({ day, month, year }, r) => ({
    ...{ a: (r * 13) % 17, b: (r * 5) % 11, kind: month < 6 ? "early" : "late", site: month },
    day: `${String(day).padStart(2, "0")}.${String(month).padStart(2, "0")}.${year}`,
  }));
  writeFileSync(
    world.path("days.csv"),
    ["a,b,kind,site,day", ...rows.map((r) => Object.values(r).join(","))].join("\n"),
  );
  writeFileSync(world.path("days.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"));
  for (const file of ["days.csv", "days.jsonl"]) {
    const train = `train ${file} --label kind --test-share 0.25 -m days.ranksim`;
    // June is the last quarter of the rows: training has seen none of it.
    const { classes, heldOut } = await json(`${train} --columns day:time --columns site:ignore`);
    expect([classes, heldOut.rows]).toEqual([["early"], 10]);
    expect((await json(`${train} --columns site:group --columns day:ignore`)).heldOut.rows).toBe(10);
  }
  writeFileSync(world.path("gap.csv"), "a,b,kind,day\n1,2,x,2024-01-01\n2,1,y,\n3,4,x,2024-01-03\n");
  const gap = await world.ranksim("train gap.csv --label kind --test-share 0.3 --columns day:time -m x.ranksim");
  expect(gap).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('--columns NAME:time: gap.csv, line 3, column 3 ("day")'),
  });
  const typo = await world.ranksim("cross-validate gap.csv --label kind --columns dya:time");
  expect(typo).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      '--columns NAME:time: gap.csv: expected one of the columns a, b, kind, day, found "dya"; did you mean day?',
    ),
  });
  const dry = await world.ranksim("train gap.csv --label kind --test-share 0.3 --columns day:time --dry-run");
  expect(dry).toMatchObject({ code: 1, stderr: gap.stderr });
  for (const role of ["time", "weight", "group"]) {
    const line = `train gap.csv --label kind --test-share 0.3 --columns dya:${role} -m x.ranksim`;
    const found = expect.stringMatching(
      new RegExp(`^error: --columns NAME:${role}: gap.csv: expected one of the columns a, b, kind, day, found "dya"`),
    );
    for (const memory of ["", " --memory 200"])
      expect(await world.ranksim(line + memory)).toMatchObject({ stderr: found });
  }
  writeFileSync(world.path("one.csv"), "a,b,kind,day\n1,2,x,5\n2,1,y,5\n3,4,x,5\n");
  const one = await world.ranksim("train one.csv --label kind --test-share 0.3 --columns day:time -m x.ranksim");
  expect(one).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--columns NAME:time: expected rows of several moments"),
  });
});

test("evaluate says how many rows were seen in training", async () => {
  await world.ranksim("train digits:train --estimator classifier --filters 50 -m seen.ranksim");
  expect((await world.ranksim("evaluate seen.ranksim digits:train")).stderr).toContain(
    "all 1,198 rows were seen in training",
  );
  expect((await world.ranksim("evaluate seen.ranksim digits")).stderr).toMatch(/about 6\d % of 1,797 rows were seen/);
  expect((await world.ranksim("evaluate seen.ranksim digits:test")).stderr).not.toContain("seen in training");
});

test("evaluate names classes that the model does not know, and its own where it knows none", async () => {
  const note = async (first: string, second: string) => {
    writeFileSync(world.path("t.csv"), `a,b,label\n1,2,${first}\n3,1,${second}\n`);
    return (await world.ranksim("evaluate known.ranksim t.csv")).stderr;
  };
  writeFileSync(world.path("known.csv"), "a,b,label\n1,2,up\n3,1,down\n2,5,up\n");
  await world.ranksim("train known.csv -m known.ranksim");
  expect(await note("up", "level")).toContain("does not know 1 class of the data (level); log loss is left out");
  expect(await note("Up", "Down")).toContain("2 classes of the data (Up, Down); its own are down, up; log loss");
});

test("arrays that a table model was trained on, or that were added to it, are known again", async () => {
  const values = Float64Array.from({ length: 160 }, (_, i) => ((i * 37) % 101) / 10 + (i % 4) * 100);
  const rows = (from: number, to: number) => encodeNpy(values.slice(4 * from, 4 * to), [to - from, 4]);
  for (const [name, from, to] of [
    ["first", 0, 30],
    ["later", 30, 40],
  ] as const) {
    writeFileSync(world.path(`${name}.npy`), rows(from, to));
    writeFileSync(world.path(`${name}.txt`), Array.from({ length: to - from }, (_, r) => "ab"[r % 2]).join("\n"));
  }
  const evaluate = (name: string) => world.ranksim(`evaluate array.ranksim ${name}.npy --labels ${name}.txt`);
  await world.ranksim("train first.npy --labels first.txt --filters 10 --keep-sums -m array.ranksim");
  expect((await evaluate("first")).stderr).toContain("all 30 rows were seen in training");
  expect((await evaluate("later")).stderr).not.toContain("seen in training");
  await world.ranksim("update array.ranksim later.npy --labels later.txt");
  expect((await evaluate("later")).stderr).toContain("all 10 rows were seen in training");
});

describe("notes where a person would stop", () => {
  const rows = (line: (r: number) => string, count = 40) => Array.from({ length: count }, (_, r) => line(r)).join("\n");
  const values = (r: number) => Array.from({ length: 9 }, (_, i) => (i * (r + 3)) % 11).join(",");

  test.each([
    ["one class only", rows((r) => `${values(r)},a`), "--label -1", "all rows are of one class"],
    [
      "a continuous target",
      rows((r) => `${values(r)},${r * 1.37}`),
      "--label -1",
      "a measurement rather than classes?",
    ],
    [
      "a class of one row",
      rows((r) => `${values(r)},${r === 20 ? "rare" : r % 2 ? "a" : "b"}`),
      "--label -1",
      'one row only ("rare")',
    ],
    [
      "a header taken as data",
      `note,kind\n${rows((r) => `a ${r % 2 ? "lovely" : "dull"} film,${r % 2 ? "good" : "bad"}`)}`,
      "--text --columns 0:text --label 1",
      'no other row has its label "kind"; if it names the columns, add --set header=true',
    ],
    [
      "a column that names every row",
      rows((r) => `${100 + r},${values(r)},${r % 2 ? "a" : "b"}`),
      "--label -1 --set table=false",
      "counts the 40 rows and says nothing",
    ],
    [
      "several labels, separated by something else than commas",
      rows((r) => `${values(r)},${r % 3 ? "a" : "a;b"}`),
      "--multilabel --label -1",
      'no row has several labels, but one has "a;b": labels are separated by commas',
    ],
  ])("%s", async (_, content, flags, words) => {
    writeFileSync(world.path("strange.csv"), content);
    const { stderr } = await world.ranksim(`train strange.csv ${flags} -m strange.ranksim`);
    expect(stderr).toContain(words);
  });

  test("labels that nobody named", async () => {
    writeFileSync(
      world.path("cells.csv"),
      `size,when,kind\n${rows((r) => `${r % 2 ? "L" : "S"},2024-01-0${1 + (r % 7)},a`)}`,
    );
    for (const memory of ["", "--memory 200kB"]) {
      const { stderr, code } = await world.ranksim(`train cells.csv -m x.ranksim ${memory}`);
      expect(stderr).toContain("name their column with --label");
      expect(stderr, memory).toContain("columns are size, when, kind");
      expect(code).toBe(1);
    }
    const { stderr } = await world.ranksim("train plants.csv --multilabel --label species --sets -m x.ranksim");
    expect(stderr).toContain("--sets): expected one label for each row");
  });

  test("a label column that is not used", async () => {
    const { stderr } = await world.ranksim("train digits --label digit --filters 20 -m x.ranksim");
    expect(stderr).toContain("--label was not used");
    const plain = await world.ranksim("train plants.csv --label species -m x.ranksim");
    expect(plain.stderr).not.toContain("was not used");
  });
});

describe("intervals", () => {
  test("of a share are Wilson's", () => {
    // Worked out by hand from the formula for 90 of 100, as tables print it.
    const [low, high] = shareInterval(90, 100);
    expect(low).toBeCloseTo(0.8256, 4);
    expect(high).toBeCloseTo(0.9448, 4);
    expect(shareInterval(10, 10)[1]).toBeCloseTo(1, 12);
    expect(shareInterval(0, 10)[0]).toBeCloseTo(0, 12);
  });

  test("of macro F1 hold the score, shrink with rows and are the same every time", () => {
    const answers = (rows: number) => {
      const truth = Array.from({ length: rows }, (_, r) => r % 3);
      return [truth, truth.map((label, r) => (r % 7 === 0 ? (label + 1) % 3 : label))] as const;
    };
    const widths = [100, 1000, 10_000].map((rows) => {
      const [truth, given] = answers(rows);
      const [low, high] = macroF1Interval(truth, given);
      expect(low).toBeLessThan(6 / 7);
      expect(high).toBeGreaterThan(6 / 7);
      expect(macroF1Interval(truth, given)).toEqual([low, high]);
      return high - low;
    });
    expect(widths[1] / widths[0]).toBeLessThan(0.5);
    expect(widths[2] / widths[1]).toBeLessThan(0.5);
  });
});

test("reading shows how far it is, by name, share and bytes", async () => {
  const line = Array.from({ length: 100 }, (_, i) => (i * 7) % 10).join(",");
  writeFileSync(world.path("wide.csv"), `${line}\n`.repeat(20_000));
  const { code, stderr } = await world.ranksim("train wide.csv --label 0 --dry-run", {
    isTerminal: true,
  });
  expect(code).toBe(0);
  // How far the last line shown has come depends on the clock.
  expect(stderr).toMatch(/reading wide\.csv.*\d %.*\d (bytes|kB|MB)/);
});
