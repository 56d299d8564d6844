/** A few of the random cases, on back ends with and without threads; and proof that a wrong answer would be seen. */

import { isDeepStrictEqual } from "node:util";
import { type Backend, Dense, openBackend } from "@ranksim/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { drawCase } from "../../src/differential/case.ts";
import { compareCase, noCounts, type Subject } from "../../src/differential/compare.ts";

const CASES = 100;
let subjects: Subject[] = [];

beforeAll(async () => {
  subjects = [
    { name: "reference", backend: await openBackend("reference") },
    { name: "wasm", backend: await openBackend("wasm") },
    { name: "threads 3", backend: await openBackend("threads", { threads: 3 }) },
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

it("sees a back end that is wrong once, and one that fails", async () => {
  const [{ backend: reference }, { backend: wasm }] = subjects;
  const broken = (spoil: (backend: Backend) => Backend["hold"]): Subject[] => [
    { name: "reference", backend: reference },
    { name: "broken", backend: { name: wasm.name, threads: 1, hold: spoil(wasm), close: async () => {} } as Backend },
  ];
  const failing = broken(() => async () => {
    throw new Error("out of memory");
  });
  const wrong = broken((backend) => async (rows) => {
    if (!(rows instanceof Dense) || rows.rows < 2) return backend.hold(rows);
    // The second row is the first.
    return backend.hold(rows.gather(Array.from({ length: rows.rows }, (_, r) => (r === 1 ? 0 : r))));
  });
  let [failed, seen] = [0, 0];
  for (let number = 0; number < 20; number++) {
    // Cases that are refused before anything is held show nothing.
    failed += (await compareCase(2, number, failing, noCounts())).differences.length > 0 ? 1 : 0;
    seen += (await compareCase(2, number, wrong, noCounts())).differences.length > 0 ? 1 : 0;
  }
  expect(failed).toBeGreaterThan(15);
  expect(seen).toBeGreaterThan(5);
});
