/** A few of the random cases, on back ends with and without threads; and proof that a wrong answer would be seen. */

import { isDeepStrictEqual } from "node:util";
import { openBackend } from "@ranksim/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isFull } from "../../../core/test/tier.ts";
import type { Answer } from "../../src/differential/answer.ts";
import { drawCase } from "../../src/differential/case.ts";
import { compareCase, differencesOf, noCounts, type Subject } from "../../src/differential/compare.ts";

const CASES = 100;
let subjects: Subject[] = [];

beforeAll(async () => {
  subjects = [
    { name: "reference", backend: await openBackend("reference") },
    { name: "wasm", backend: await openBackend("wasm") },
    ...(isFull ? [{ name: "threads 3", backend: await openBackend("threads", { threads: 3 }) }] : []),
  ];
});
afterAll(async () => {
  for (const { backend } of subjects) await backend.close();
});

describe("random cases", () => {
  it("get the same answers everywhere", async () => {
    const counts = noCounts();
    for (let number = 0; number < CASES; number++) {
      const { differences } = await compareCase(2, number, subjects, counts);
      expect(differences).toEqual([]);
    }
    expect(counts.refused).toBeLessThan(CASES / 4);
    // Every kind of work and of numbers comes up.
    expect(Object.keys(counts.of.estimator).sort()).toEqual(["classifier", "multilabel", "probabilistic", "transform"]);
    expect(Object.keys(counts.of.form).length).toBe(10);
    expect(Object.keys(counts.of.features)).toContain("from 192");
    expect(Object.keys(counts.of.asked).sort()).toEqual(["plain", "refined", "rows added"]);
  });

  it("are the same whenever they are drawn", () => {
    const isSame = (a: [number, number], b: [number, number]) => isDeepStrictEqual(drawCase(...a), drawCase(...b));
    for (let number = 0; number < 30; number++) expect(isSame([7, number], [7, number])).toBe(true);
    expect(isSame([7, 1], [7, 2])).toBe(false);
    expect(isSame([7, 1], [8, 1])).toBe(false);
  });
});

it("sees a back end that fails", async () => {
  const [{ backend: reference }, { backend: wasm }] = subjects;
  const failing = new Proxy(wasm, {
    get(target, name) {
      if (name === "hold") return () => Promise.reject(new Error("out of memory"));
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  let failed = 0;
  for (let number = 0; number < 20; number++) {
    const both = [
      { name: "reference", backend: reference },
      { name: "failing", backend: failing },
    ];
    const { differences } = await compareCase(2, number, both, noCounts());
    if (differences.length > 0) failed++;
  }
  // Cases that are refused before anything is held show nothing.
  expect(failed).toBeGreaterThan(15);
});

it("sees an answer that is another one, is missing, or is one too many", () => {
  const right: Answer[] = [
    ["fit", "aa"],
    ["predict", "bb"],
  ];
  expect(differencesOf(3, "wasm", right, right)).toEqual([]);
  expect(differencesOf(3, "wasm", right, [right[0], ["predict", "cc"]])).toEqual([
    { case: 3, backend: "wasm", question: "predict", expected: "bb", found: "cc" },
  ]);
  expect(differencesOf(3, "wasm", right, right.slice(0, 1))).toMatchObject([{ question: "predict", found: "nothing" }]);
  expect(differencesOf(3, "wasm", right.slice(0, 1), right)).toMatchObject([
    { question: "predict", expected: "nothing" },
  ]);
  const failed: Answer[] = [["error", "out of memory"]];
  expect(differencesOf(3, "wasm", failed, failed).length).toBe(1);
});
