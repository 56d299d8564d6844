/** Metrics on cases small enough to count by hand, and identities that hold for any labels. */

import { Dense, type Label } from "@ranksim/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LogLossTally, logLoss } from "../../src/select/log-loss.ts";
import {
  accuracy,
  balancedAccuracy,
  classificationReport,
  confusionMatrix,
  f1,
  hammingLoss,
  precision,
  recall,
  subsetAccuracy,
} from "../../src/select/metrics.ts";

// a: 4 rows, 2 found, 3 predicted. b: 2 rows, 1 found, 2 predicted. c: 1 row, 0 found, 1 predicted. d: predicted once, never true.
const truth = ["a", "a", "a", "a", "b", "b", "c"];
const guess = ["a", "a", "b", "c", "b", "a", "d"];

describe("labels of another type", () => {
  const cure = /label "0" is a string where the predictions have the number 0; .*Array\.from\(y, Number\)/;

  test("are refused with the cure where every row would be wrong for it", () => {
    for (const metric of [accuracy, balancedAccuracy, confusionMatrix, classificationReport, f1, precision, recall]) {
      expect(() => metric(["0", "1"], [0, 1])).toThrow(cure);
      expect(() => metric([0, 1], ["0", "1"])).toThrow(/label 0 is a number .* string "0"; .*Array\.from\(y, String\)/);
    }
    for (const metric of [subsetAccuracy, hammingLoss, classificationReport]) {
      expect(() => metric([["0"], []], [[0], []])).toThrow(cure);
    }
    const half = Dense.fromRows([[0.5, 0.5]]);
    expect(() => logLoss(["0"], half, [0, 1])).toThrow(/the classes have the number 0/);
    expect(() => accuracy(["0"], [0])).toThrow(expect.objectContaining({ code: "bad-labels" }));
  });

  test("are refused where only some labels are", () => expect(() => accuracy(["0", 1], [0, 1])).toThrow(cure));

  test("are two names where the truth has both, and no reason to refuse other spellings", () => {
    expect(accuracy(["0", 0], [0, 0])).toBe(0.5);
    expect(accuracy(["00", "1.0", ""], [0, 1, 0])).toBe(0);
  });
});

describe("one label per row", () => {
  test("accuracy counts the right rows", () => expect(accuracy(truth, guess)).toBe(3 / 7));

  test("balanced accuracy leaves out classes that are never true", () => {
    expect(balancedAccuracy(truth, guess)).toBeCloseTo((2 / 4 + 1 / 2 + 0) / 3, 15);
  });

  test("the confusion matrix has the true class by row", () => {
    const { classes, counts } = confusionMatrix(truth, guess);
    expect(classes).toEqual(["a", "b", "c", "d"]);
    expect([...counts]).toEqual([2, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
  });

  test("the report has each class and each average", () => {
    const report = classificationReport(truth, guess);
    expect(report.accuracy).toBe(3 / 7);
    expect(report.classes).toEqual([
      { label: "a", precision: 2 / 3, recall: 1 / 2, f1: 4 / 7, support: 4 },
      { label: "b", precision: 1 / 2, recall: 1 / 2, f1: 1 / 2, support: 2 },
      { label: "c", precision: 0, recall: 0, f1: 0, support: 1 },
      { label: "d", precision: 0, recall: 0, f1: 0, support: 0 },
    ]);
    expect(report.macro.precision).toBeCloseTo((2 / 3 + 1 / 2) / 4, 15);
    expect(report.macro.recall).toBeCloseTo((1 / 2 + 1 / 2) / 4, 15);
    expect(report.macro.f1).toBeCloseTo((4 / 7 + 1 / 2) / 4, 15);
    expect(report.micro).toEqual({ precision: 3 / 7, recall: 3 / 7, f1: 3 / 7 });
    expect(report.weighted.precision).toBeCloseTo((4 * (2 / 3) + 2 * (1 / 2)) / 7, 15);
    expect(report.weighted.f1).toBeCloseTo((4 * (4 / 7) + 2 * (1 / 2)) / 7, 15);
  });

  test("the simple functions give the averages of the report", () => {
    const report = classificationReport(truth, guess);
    expect(f1(truth, guess)).toBe(report.macro.f1);
    expect(f1(truth, guess, { average: "weighted" })).toBe(report.weighted.f1);
    expect(precision(truth, guess, { average: "micro" })).toBe(3 / 7);
    expect(recall(truth, guess, { average: "macro" })).toBe(report.macro.recall);
  });

  test("numbers, strings and typed arrays are labels; 1 and '1' are two", () => {
    expect(accuracy(Int16Array.of(1, 2), [1, 2])).toBe(1);
    expect(accuracy([1, "1"], ["1", "1"])).toBe(0.5);
    expect(confusionMatrix([10, "x"], [9, "x"]).classes).toEqual([9, 10, "x"]);
  });

  test("for any labels: weighted recall is accuracy, micro is accuracy, counts add up", () => {
    const label = fc.constantFrom<Label>("a", "b", 0, 1, 2);
    fc.assert(
      fc.property(fc.array(fc.tuple(label, label), { minLength: 1, maxLength: 40 }), (pairs) => {
        const yTrue = pairs.map(([t]) => t);
        const yPred = pairs.map(([, p]) => p);
        const share = pairs.filter(([t, p]) => t === p).length / pairs.length;
        expect(accuracy(yTrue, yPred)).toBe(share);
        expect(recall(yTrue, yPred, { average: "weighted" })).toBeCloseTo(share, 12);
        expect(f1(yTrue, yPred, { average: "micro" })).toBeCloseTo(share, 12);
        expect(confusionMatrix(yTrue, yPred).counts.reduce((a, b) => a + b)).toBe(pairs.length);
        for (const row of classificationReport(yTrue, yPred).classes) {
          const harmonic =
            row.precision + row.recall === 0 ? 0 : (2 * row.precision * row.recall) / (row.precision + row.recall);
          expect(row.f1).toBeCloseTo(harmonic, 12);
        }
      }),
    );
  });
});

describe("log loss", () => {
  const classes = ["no", "yes"];

  test("is the mean of -ln p of the true class", () => {
    const p = Dense.of(Float64Array.of(0.25, 0.75, 0.5, 0.5), 2, 2);
    expect(logLoss(["yes", "no"], p, classes)).toBeCloseTo((Math.log(4 / 3) + Math.log(2)) / 2, 15);
  });

  test("clips certainty to 2^-52 and divides rows by their sum", () => {
    expect(logLoss(["no"], Dense.of(Uint8Array.of(0, 1), 1, 2), classes)).toBeCloseTo(52 * Math.log(2), 12);
    expect(logLoss(["yes"], Dense.of(Float64Array.of(0.2, 0.2), 1, 2), classes)).toBeCloseTo(Math.log(2), 15);
    expect(logLoss(["yes"], Dense.of(Uint8Array.of(0, 0), 1, 2), classes)).toBeCloseTo(Math.log(2), 15);
  });

  test("is the same number for rows that come in blocks", () => {
    const values = Float64Array.from({ length: 300 }, (_, j) => ((j * 37) % 101) / 101);
    const labels = Array.from({ length: 100 }, (_, r) => ["a", "b", "c"][(r * 7) % 3]);
    const tally = new LogLossTally(["a", "b", "c"]);
    const blocks = [0, 1, 64, 100];
    for (const [j, to] of blocks.slice(1).entries()) {
      const from = blocks[j];
      tally.add(labels.slice(from, to), Dense.of(values.slice(3 * from, 3 * to), to - from, 3));
    }
    expect(tally.loss()).toBe(logLoss(labels, Dense.of(values, 100, 3), ["a", "b", "c"]));
    expect(() => new LogLossTally(classes).loss()).toThrow(/at least 1 row/);
  });

  test("refuses labels that are no class and a wrong number of columns", () => {
    const p = Dense.of(Float64Array.of(0.25, 0.75), 1, 2);
    expect(() => logLoss(["maybe"], p, classes)).toThrow(/"maybe" is none of the classes/);
    expect(() => logLoss(["no"], p, ["no"])).toThrow(/expected 1 columns.*found 2/);
  });
});

describe("label sets", () => {
  // x: true 2, predicted 2, both 1. y: true 2, predicted 1, both 1. z: true 1, predicted 1, both 0.
  const sets = [["x"], ["x", "y"], ["y", "z"], []];
  const guesses = [["x"], ["y"], ["x"], ["z"]];

  test("subset accuracy wants the exact set", () => {
    expect(subsetAccuracy(sets, guesses)).toBe(1 / 4);
    expect(subsetAccuracy([["x", "y"]], [["y", "x"]])).toBe(1);
    expect(subsetAccuracy([["x"], []], [["x"], []])).toBe(1);
  });

  test("Hamming loss counts wrong cells", () => {
    // row 1 lacks x; row 2 lacks y and z and has x too much; row 3 has z too much
    expect(hammingLoss(sets, guesses)).toBe(5 / 12);
    expect(hammingLoss([[]], [[]])).toBe(0);
  });

  test("F1 is per label, macro and micro", () => {
    const report = classificationReport(sets, guesses);
    expect(report.accuracy).toBe(1 / 4);
    expect(report.classes.map((row) => row.f1)).toEqual([2 / 4, 2 / 3, 0]);
    expect(f1(sets, guesses)).toBeCloseTo((1 / 2 + 2 / 3) / 3, 15);
    expect(f1(sets, guesses, { average: "micro" })).toBe(4 / 9);
  });

  test("a 0/1 matrix is the same sets over all its columns", () => {
    const yTrue = Dense.fromRows([
      [1, 0, 0, 0],
      [1, 1, 0, 0],
    ]);
    expect(hammingLoss(yTrue, [[0], [0]])).toBe(1 / 8);
    expect(f1(yTrue, [[0], [0]])).toBe(1 / 4);
    expect(subsetAccuracy(yTrue, yTrue)).toBe(1);
  });

  test("labels that are never true weigh nothing", () => {
    expect(f1([[], []], [["x"], []], { average: "weighted" })).toBe(0);
  });
});

describe("refusals", () => {
  test.each([
    ["different lengths", () => accuracy(["a"], ["a", "b"]), /expected 1 labels.*found 2/],
    ["no rows", () => accuracy([], []), /at least 1 row/],
    ["no rows of sets", () => subsetAccuracy([], []), /at least 1 row/],
    ["missing labels", () => accuracy(["a", undefined as unknown as Label], ["a", "a"]), /row 1: expected a string/],
    ["mixed forms", () => f1([["a"]], ["a"]), /label sets and labels/],
    ["an unknown average", () => f1(["a"], ["a"], { average: "mean" as "macro" }), /found mean/],
  ])("%s", (_, call, message) => expect(call).toThrow(message));
});
