/**
 * Work takes turns with the rest of the program: the event loop turns and aborts are heard in the midst of it, on every back
 * end. The clock that work looks at is replaced by one that each look sets forward, as if every slice took the same time. So
 * the number of turns is a property of how work is sliced, and the same on every machine.
 */

import {
  type Backend,
  Dense,
  openBackend,
  RankSimilarityClassifier,
  RankSimilarityTransform,
  type Run,
} from "@ranksim/core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { isFull } from "../tier.ts";
import { blends, classesOf } from "./blends.ts";

/** Milliseconds between two looks at the clock: a few make a stretch of computing, and slices keep their first size. */
const STEP = 6;
/** Work with fewer turns could not show that it is sliced. */
const LEAST_TURNS = 10;
/** The largest part of a call's processor time between two turns. */
const MOST_SHARE = 0.25;

beforeAll(() => {
  let now = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => {
    now += STEP;
    return now;
  });
});
afterAll(() => {
  vi.restoreAllMocks();
});

/** Turns of the event loop in the midst of a call, and the largest share of its processor time between two of them. */
async function turnsOf(call: () => Promise<unknown>): Promise<{ turns: number; share: number }> {
  const elapsed = (since: NodeJS.CpuUsage) => {
    const { user, system } = process.cpuUsage(since);
    return user + system;
  };
  const began = process.cpuUsage();
  let before = process.cpuUsage();
  let longest = 0;
  let turns = 0;
  let isOver = false;
  const look = () => {
    longest = Math.max(longest, elapsed(before));
    before = process.cpuUsage();
    turns++;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await call();
  isOver = true;
  look();
  return { turns, share: longest / elapsed(began) };
}

const CLASSES = 10;
const bytes = blends(6000, 784, CLASSES, 1);
const large = Dense.of(
  Float32Array.from(bytes.values, (value) => value + 0.25),
  bytes.rows,
  bytes.features,
);
const small = large.slice(0, 1200);

interface Subject {
  readonly title: string;
  readonly x: typeof large;
  readonly filters: number;
  readonly open: () => Promise<Backend>;
}

const platforms: readonly Subject[] = [
  { title: "reference", x: small, filters: 200, open: () => openBackend("reference") },
  { title: "wasm", x: large, filters: 1000, open: () => openBackend("wasm") },
  ...(isFull
    ? [{ title: "threads", x: large, filters: 1000, open: () => openBackend("threads", { threads: 2 }) }]
    : []),
];

describe.each(platforms)("$title", ({ x, filters, open }) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await open();
  });
  afterAll(() => backend.close());

  const recipe = new RankSimilarityTransform({ filters, iterations: 3, tolerance: 0 });
  const fit = (run: Run) => recipe.fit(x, undefined, run);

  it("lets the event loop turn while it fits", async () => {
    const { turns, share } = await turnsOf(() => fit({ backend }));
    expect(turns).toBeGreaterThan(LEAST_TURNS);
    expect(share).toBeLessThan(MOST_SHARE);
  });

  it("lets the event loop turn while it predicts, transforms and refines", async () => {
    const y = classesOf(x.rows, CLASSES);
    const classifier = await new RankSimilarityClassifier({ filters, iterations: 1 }).fit(x, y, { backend });
    const transform = await new RankSimilarityTransform({ filters, iterations: 1 }).fit(x, undefined, { backend });
    const few = x.slice(0, x.rows / 4);
    for (const call of [
      () => classifier.predict(x, { backend }),
      () => classifier.predictProbabilities(x, { backend }),
      () => transform.transform(x, { backend }),
      () => new RankSimilarityClassifier({ filters: 50, refine: true }).fit(few, y.slice(0, few.rows), { backend }),
    ]) {
      const { turns, share } = await turnsOf(call);
      expect(turns).toBeGreaterThan(LEAST_TURNS);
      expect(share).toBeLessThan(MOST_SHARE);
    }
  });

  it("hears a signal that is given in the midst of a fit, and works as before afterwards", async () => {
    const stop = new AbortController();
    const fitting = fit({ backend, signal: stop.signal });
    setImmediate(() => setImmediate(() => stop.abort(new Error("enough"))));
    await expect(fitting).rejects.toThrow("enough");
    const few = x.slice(0, 300);
    const model = await new RankSimilarityTransform({ filters: 20 }).fit(few, undefined, { backend });
    const reference = await openBackend("reference");
    const expected = await new RankSimilarityTransform({ filters: 20 }).fit(few, undefined, { backend: reference });
    expect(model.bank).toEqual(expected.bank);
  });
});
