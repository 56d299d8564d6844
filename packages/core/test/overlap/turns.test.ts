/** Work takes turns with the rest of the program: timers fire and aborts are heard in the midst of it, on every back end. */

import {
  type Backend,
  Dense,
  openBackend,
  RankSimilarityClassifier,
  RankSimilarityTransform,
  type Run,
} from "@ranksim/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { blends, classesOf } from "./blends.ts";

/** The contract says 50 ms; this is what a loaded machine and the collector may add. Without turns it is the whole call. */
const MOST_SECONDS = 0.5;
/** A call shorter than this could not show that it takes turns. */
const LEAST_SECONDS = 1;

/**
 * Processor seconds of a call, and the most of them that went by between two turns of the event loop. Processor time does not
 * count what other programs on the machine take.
 */
async function turnsOf(call: () => Promise<unknown>): Promise<{ seconds: number; longest: number; turns: number }> {
  const began = process.cpuUsage();
  let before = process.cpuUsage();
  let longest = 0;
  let turns = 0;
  const look = () => {
    const { user, system } = process.cpuUsage(before);
    longest = Math.max(longest, (user + system) / 1e6);
    before = process.cpuUsage();
    turns++;
  };
  const timer = setInterval(look, 1);
  try {
    await call();
  } finally {
    clearInterval(timer);
    look();
  }
  const { user, system } = process.cpuUsage(began);
  return { seconds: (user + system) / 1e6, longest, turns };
}

const CLASSES = 10;
const bytes = blends(20_000, 784, CLASSES, 1);
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
  /** Threads whose processor time counts together. */
  readonly threads: number;
  readonly open: () => Promise<Backend>;
}

const platforms: readonly Subject[] = [
  { title: "reference", x: small, filters: 200, threads: 1, open: () => openBackend("reference") },
  { title: "wasm", x: large, filters: 3000, threads: 1, open: () => openBackend("wasm") },
  { title: "threads", x: large, filters: 3000, threads: 2, open: () => openBackend("threads", { threads: 2 }) },
];

describe.each(platforms)("$title", ({ x, filters, threads, open }) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await open();
  });
  afterAll(() => backend.close());

  const recipe = new RankSimilarityTransform({ filters, iterations: 6, tolerance: 0 });
  const fit = (run: Run) => recipe.fit(x, undefined, run);

  it("lets timers fire while it fits", async () => {
    const { seconds, longest, turns } = await turnsOf(() => fit({ backend }));
    expect(seconds).toBeGreaterThan(LEAST_SECONDS);
    expect(longest).toBeLessThan(MOST_SECONDS * threads);
    expect(turns).toBeGreaterThan(3);
  });

  it("lets timers fire while it predicts, transforms and refines", async () => {
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
      const { longest } = await turnsOf(call);
      expect(longest).toBeLessThan(MOST_SECONDS * threads);
    }
  });

  it("hears a signal that a timer gives in the midst of a fit, and works as before afterwards", async () => {
    await expect(fit({ backend, signal: AbortSignal.timeout(50) })).rejects.toMatchObject({ name: "TimeoutError" });
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(new Error("enough")), 30);
    await expect(fit({ backend, signal: stop.signal })).rejects.toThrow("enough");
    clearTimeout(timer);
    const few = x.slice(0, 300);
    const model = await new RankSimilarityTransform({ filters: 20 }).fit(few, undefined, { backend });
    const reference = await openBackend("reference");
    const expected = await new RankSimilarityTransform({ filters: 20 }).fit(few, undefined, { backend: reference });
    expect(model.bank).toEqual(expected.bank);
  });
});
