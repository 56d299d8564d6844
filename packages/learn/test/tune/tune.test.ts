/** Tuning: who goes on to the next round, what is reported, and that time, aborts and refusals are respected. */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  Dense,
  type Estimator,
  type Matrix,
  Pipeline,
  type PredictingModel,
  type Progress,
  RankSimilarityClassifier,
  RanksimError,
  type Run,
} from "@ranksim/core";
import { TfidfVectorizer } from "@ranksim/data";
import { gridCandidates, tune } from "@ranksim/learn";
import { describe, expect, it, vi } from "vitest";

interface FakeParams {
  readonly [name: string]: unknown;
  /** What every model of it scores. */
  readonly quality: number;
  /** Bytes of its models. */
  readonly bytes: number;
  /** Milliseconds that a fit takes per 1,000 rows. */
  readonly slowness: number;
  readonly refuses: boolean;
}

/** A recipe whose scores and costs are known beforehand. */
class Fake implements Estimator<Matrix, PredictingModel<Matrix>> {
  readonly kind = "fake";
  readonly params: FakeParams;
  readonly fits: number[];

  constructor(params: Partial<FakeParams>, fits: number[] = []) {
    this.params = { quality: 0, bytes: 1, slowness: 0, refuses: false, ...params };
    this.fits = fits;
  }

  with(changes: Partial<FakeParams>): Fake {
    return new Fake({ ...this.params, ...changes }, this.fits);
  }

  async fit(x: Matrix): Promise<PredictingModel<Matrix>> {
    const { quality, bytes, slowness, refuses } = this.params;
    if (refuses) throw new RanksimError("bad-params", "not with me");
    this.fits.push(quality);
    if (slowness > 0) await new Promise((resume) => setTimeout(resume, (slowness * x.rows) / 1000));
    return {
      kind: "fake",
      classes: [],
      predict: async () => [],
      score: async () => quality,
      save: () => ({
        kind: "fake",
        meta: {},
        arrays: { all: { shape: [bytes], values: new Uint8Array(bytes) } },
      }),
    };
  }
}

/** Runs `work` by a clock that goes on only where something waits for it, whatever the machine does meanwhile. */
async function byClock<T>(work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  try {
    let isDone = false;
    const ended = work().finally(() => {
      isDone = true;
    });
    while (!isDone) await vi.advanceTimersToNextTimerAsync();
    return await ended;
  } finally {
    vi.useRealTimers();
  }
}

const rows = 9000;
const x = Dense.of(new Uint8Array(rows * 2), rows, 2);
const y = Array.from({ length: rows }, (_, r) => r % 3);
const qualities = (list: readonly number[], change: (quality: number) => Partial<FakeParams> = () => ({})) => {
  const fits: number[] = [];
  return { fits, candidates: list.map((quality) => new Fake({ quality, ...change(quality) }, fits)) };
};

describe("tune", () => {
  it("lets the best third of each round go on to three times the rows, and drops the others", async () => {
    const { fits, candidates } = qualities([0.1, 0.9, 0.3, 0.8, 0.5, 0.6, 0.7, 0.4, 0.2]);
    const found = await tune(candidates, x, y, { folds: 2 });
    expect(found.rounds).toEqual([
      { rows: 1000, candidates: 9, judged: 9 },
      { rows: 3000, candidates: 3, judged: 3 },
      { rows: 9000, candidates: 1, judged: 1 },
    ]);
    // Two folds each: nine, then the best three, best first, then one.
    expect(fits.slice(18)).toEqual([0.9, 0.9, 0.8, 0.8, 0.7, 0.7, 0.9, 0.9]);
    expect(found.results.map(({ params, outcome, rounds }) => [params.quality, outcome, rounds.length])).toEqual([
      [0.9, "finished", 3],
      [0.8, "dropped", 2],
      [0.7, "dropped", 2],
      ...[0.6, 0.5, 0.4, 0.3, 0.2, 0.1].map((quality) => [quality, "dropped", 1]),
    ]);
    expect(found.best.estimator).toBe(candidates[1]);
    expect(found.complete).toBe(true);
    expect(found.best.rounds.map(({ rows }) => rows)).toEqual([1000, 3000, 9000]);
    expect(found.best.rounds[2]).toMatchObject({ mean: 0.9, standardDeviation: 0, scores: [0.9, 0.9], bytes: 1 });
  });

  it("also keeps what nothing cheaper equals, and reports the front", async () => {
    const { candidates } = qualities([0.9, 0.8, 0.7, 0.3, 0.2], (quality) => ({ bytes: quality === 0.3 ? 1 : 5 }));
    const found = await tune(candidates, x, y, { folds: 2, firstRows: 3000 });
    expect(found.rounds.map(({ candidates }) => candidates)).toEqual([5, 3]);
    expect(found.results.map(({ params, outcome }) => [params.quality, outcome])).toEqual([
      [0.9, "finished"],
      [0.8, "finished"],
      [0.3, "finished"],
      [0.7, "dropped"],
      [0.2, "dropped"],
    ]);
    expect(found.front.map(({ params }) => params.quality).sort()).toEqual([0.3, 0.9]);
    expect(found.results.map(({ onFront }) => onFront)).toEqual([true, false, true, false, false]);
  });

  it("judges the first candidate first and then cheap ones before dear ones, where the time is limited", async () => {
    const params: { readonly [quality: number]: object } = {
      0.1: { "a.filters": 50 },
      0.2: { "a.filters": 500, "a.iterations": 3 },
      0.3: { "a.filters": 100, "a.refine": true, "a.refineEpochs": 24 },
      0.4: { "p.patch": [3, 5], "p.filters": 8, "p.grid": 5, "p.width": 8, "p.height": 8, "a.filters": 10 },
      0.5: { "a.filters": "auto", "a.fastFilters": 1, "a.maxFilters": 40 },
      0.6: { "a.filters": 10 },
    };
    const list = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
    const limited = qualities(list, (quality) => params[quality]);
    await tune(limited.candidates, x, y, { folds: 2, firstRows: rows, seconds: 1e6 });
    expect([...new Set(limited.fits)]).toEqual([0.1, 0.6, 0.5, 0.2, 0.3, 0.4]);
    const free = qualities(list, (quality) => params[quality]);
    await tune(free.candidates, x, y, { folds: 2, firstRows: rows });
    expect([...new Set(free.fits)]).toEqual(list);
  });

  it("spends no more time than it is given, and says what was cut", async () => {
    const { fits, candidates } = qualities([0.5, 0.6, 0.7, 0.8], () => ({ slowness: 200 }));
    // Each candidate takes two fits of 500 rows: 0.2 s.
    const found = await byClock(() => tune(candidates, x, y, { folds: 2, seconds: 0.5 }));
    expect(found.complete).toBe(false);
    expect(new Set(fits).size).toBeLessThan(4);
    expect(found.results.filter(({ outcome }) => outcome === "cut").length).toBeGreaterThan(0);
    expect(found.best.rounds).toHaveLength(1);
    // One more may have begun: it was ended when the time was up, and does not count.
    const judged = found.results.filter(({ rounds }) => rounds.length > 0).length;
    expect(found.rounds[0].judged).toBe(judged);
    expect(new Set(fits).size - judged).toBeLessThanOrEqual(1);
    // Even a hopeless limit judges one.
    const one = await byClock(() => tune(candidates, x, y, { folds: 2, seconds: 0.001 }));
    expect(one.rounds).toEqual([{ rows: 1000, candidates: 4, judged: 1 }]);
    expect(one.best.params.quality).toBe(0.5);
  });

  it("ends a candidate when the time is up, also where garbage is collected meanwhile", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    let ended = 0;
    class Endless extends Fake {
      override async fit(_: Matrix, __?: unknown, { signal }: Run = {}): Promise<PredictingModel<Matrix>> {
        const began = performance.now();
        // Far longer than the limit, so that it is seen where nobody ends it.
        while (performance.now() - began < 5000) {
          collect();
          await new Promise((resume) => setTimeout(resume, 10));
          if (signal?.aborted) ended++;
          signal?.throwIfAborted();
        }
        return super.fit(_);
      }
    }
    const { signal } = new AbortController();
    const both = [new Fake({ quality: 1 }), new Endless({ quality: 2 })];
    const found = await tune(both, x, y, { folds: 2, seconds: 0.2, signal });
    expect([ended, found.best.params.quality]).toEqual([1, 1]);
  });

  it("leaves time to fit the best on all rows where it is asked to", async () => {
    // A fold of 500 rows takes 0.1 s, so all rows 1.8 s, and with caution 2.25 s: of 2.4 s nothing is left for a second candidate.
    const slow = () => qualities([0.5, 0.6, 0.7, 0.8], () => ({ slowness: 200 }));
    const left = await byClock(() => tune(slow().candidates, x, y, { folds: 2, seconds: 2.4, leaveTimeToFit: true }));
    expect(left.rounds).toEqual([{ rows: 1000, candidates: 4, judged: 1 }]);
    const used = await byClock(() => tune(slow().candidates, x, y, { folds: 2, seconds: 2.4 }));
    expect(used.rounds[0].judged).toBeGreaterThan(1);
  });

  it("keeps groups together and times in order in every round", async () => {
    const group = Array.from({ length: rows }, (_, r) => r % 40);
    const seen: number[][][] = [];
    // The only feature is the number of the row.
    const numbered = Dense.of(
      Float64Array.from({ length: rows }, (_, r) => r),
      rows,
      1,
    );
    class Watching extends Fake {
      override async fit(train: Matrix): Promise<PredictingModel<Matrix>> {
        const model = await super.fit(train);
        return {
          ...model,
          score: async (test) => {
            seen.push([Array.from(train.values), Array.from((test as Matrix).values)]);
            return this.params.quality;
          },
        };
      }
      override with(changes: Partial<FakeParams>): Watching {
        return new Watching({ ...this.params, ...changes });
      }
    }
    const candidates = [0.1, 0.2, 0.3, 0.4].map((quality) => new Watching({ quality }));
    await tune(candidates, numbered, y, { folds: 3, groups: group });
    expect(new Set(seen.map(([train, test]) => train.length + test.length)).size).toBeGreaterThan(1);
    for (const [train, test] of seen.splice(0)) {
      const inTest = new Set(test.map((r) => group[r]));
      expect(train.some((r) => inTest.has(group[r]))).toBe(false);
    }
    const times = Array.from({ length: rows }, (_, r) => (r * 7919) % rows);
    await tune(candidates, numbered, y, { folds: 3, times });
    for (const [train, test] of seen) {
      const latest = train.reduce((most, r) => Math.max(most, times[r]), 0);
      expect(test.every((r) => times[r] > latest)).toBe(true);
    }
    await expect(tune(candidates, numbered, y, { groups: group, times })).rejects.toThrow(
      /groups or by times, found both/,
    );
    await expect(tune(candidates, numbered, y, { times: [1] })).rejects.toThrow(/expected 9000 times/);
  });

  it("starts no round that its limit would not see the end of", async () => {
    const { candidates } = qualities([0.5, 0.6, 0.7], (quality) => ({ slowness: quality === 0.7 ? 300 : 1 }));
    const found = await byClock(() => tune(candidates, x, y, { folds: 2, firstRows: 1000, seconds: 0.8 }));
    // The best took 0.3 s for 1,000 rows, so 3,000 would take 0.9 s.
    expect(found.rounds.at(-1)).toEqual({ rows: 3000, candidates: 1, judged: 0 });
    expect(found.best.params.quality).toBe(0.7);
    expect(found.best.outcome).toBe("cut");
  });

  it("gives time that is left to candidates that still fit into it", async () => {
    const changes = (quality: number) => ({ slowness: quality === 0.8 ? 200 : 0, bytes: quality === 0.7 ? 1 : 5 });
    const { candidates } = qualities([0.9, 0.8, 0.7], changes);
    // 0.8 takes 0.6 s for 3,000 rows, so 9,000 would take 1.8 s more.
    const found = await byClock(() => tune(candidates, x, y, { folds: 2, firstRows: 3000, factor: 1.5, seconds: 1.9 }));
    expect(found.results.map(({ params, outcome, rounds }) => [params.quality, outcome, rounds.length])).toEqual([
      [0.9, "finished", 2],
      [0.7, "finished", 2],
      [0.8, "cut", 1],
    ]);
    expect(found.rounds.at(-1)).toEqual({ rows: 9000, candidates: 3, judged: 2 });
    expect(found.front.map(({ params }) => params.quality)).toHaveLength(2);
  });

  it("begins with twice as many rows as the largest bank has filters", async () => {
    const { candidates } = qualities([0.4, 0.6], (quality) => ({ filters: quality * 2000 }));
    expect((await tune(candidates, x, y, { folds: 2 })).rounds.map(({ rows }) => rows)).toEqual([3000, 9000]);
    const larger = qualities([0.4, 0.6], (quality) => ({ filters: quality * 3500 })).candidates;
    expect((await tune(larger, x, y, { folds: 2 })).rounds.map(({ rows }) => rows)).toEqual([4200, 9000]);
  });

  it("goes on without candidates that refuse the data, and refuses if all do", async () => {
    const { candidates } = qualities([0.4, 0.6, 0.5], (quality) => ({ refuses: quality === 0.6 }));
    const found = await tune(candidates, x, y, { folds: 2 });
    expect(found.best.params.quality).toBe(0.5);
    const failed = found.results.find(({ outcome }) => outcome === "failed");
    expect([failed?.params.quality, failed?.reason]).toEqual([0.6, "not with me"]);
    expect(found.results.at(-1)).toBe(failed);
    await expect(tune([candidates[1]], x, y)).rejects.toThrow(/every candidate failed: not with me/);
  });

  it("stops at an abort", async () => {
    const abort = new AbortController();
    const { fits, candidates } = qualities([0.4, 0.6, 0.5]);
    const onProgress = ({ trial }: Progress) => {
      if (trial?.candidate === 2) abort.abort(new Error("enough"));
    };
    await expect(tune(candidates, x, y, { signal: abort.signal, onProgress })).rejects.toThrow("enough");
    expect(new Set(fits)).toEqual(new Set([0.4]));
  });

  it("tells how far it is, never falling, from 0 to 1, with the round and the candidate", async () => {
    const seen: Progress[] = [];
    const { candidates } = qualities([0.4, 0.6, 0.5, 0.1]);
    await tune(candidates, x, y, { folds: 2, onProgress: (progress) => void seen.push(progress) });
    const shares = seen.map(({ share }) => share);
    expect(shares[0]).toBe(0);
    expect(shares.at(-1)).toBe(1);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(seen[0].trial).toEqual({ round: 1, rounds: 3, candidate: 1, candidates: 4 });
  });

  it("refuses what cannot be meant", async () => {
    const { candidates } = qualities([0.4]);
    await expect(tune([], x, y)).rejects.toThrow(/at least 1 candidate/);
    await expect(tune(candidates, x, y, { factor: 1 })).rejects.toThrow(/factor above 1, found 1/);
    await expect(tune(candidates, x, y, { seconds: 0 })).rejects.toThrow(/seconds above 0/);
    await expect(tune(candidates, x, y, { firstRows: 1.5 })).rejects.toThrow(/firstRows/);
    await expect(tune(candidates, x, y.slice(1))).rejects.toMatchObject({ code: "bad-labels" });
  });

  it("finds the same again with the same seed", async () => {
    const kinds = Array.from({ length: 240 }, (_, r) =>
      Array.from({ length: 12 }, (_, i) => ((i + r) % 3 === 0 ? 9 : 0) + ((r * 7 + i * 5) % 11)),
    );
    const labels = kinds.map((_, r) => r % 3);
    const candidates = gridCandidates(new RankSimilarityClassifier(), { filters: [3, 9, 30], voters: [1, 3] });
    expect(candidates).toHaveLength(6);
    const plain = (found: Awaited<ReturnType<typeof tune>>) =>
      found.results.map(({ params, outcome, onFront, rounds }) => ({
        params,
        outcome,
        onFront,
        rounds: rounds.map(({ fitSeconds: _, secondsPerThousand: __, ...same }) => same),
      }));
    const options = { firstRows: 60, folds: 3, seed: 5 };
    const once = plain(await tune(candidates, kinds, labels, options));
    expect(plain(await tune(candidates, kinds, labels, options))).toEqual(once);
    expect(plain(await tune(candidates, kinds, labels, { ...options, seed: 6 }))).not.toEqual(once);
    expect(Object.keys(once[0].params)).toEqual(["filters", "voters"]);
  });
});

it("counts words once for all candidates, which changes nothing but the time", async () => {
  const words = ["red", "green", "blue", "round", "square", "small", "large"];
  const texts = Array.from({ length: 90 }, (_, r) =>
    [r % 3, (r % 3) + 1, r % 7, (r * 5) % 7].map((w) => words[w]).join(" "),
  );
  const labels = texts.map((_, r) => "abc"[r % 3]);
  let fits = 0;
  class Counted extends TfidfVectorizer {
    override fit(...given: Parameters<TfidfVectorizer["fit"]>) {
      fits++;
      return super.fit(...given);
    }
  }
  const pipeline = new Pipeline<readonly string[], PredictingModel>([
    ["words", new Counted()],
    ["classify", new RankSimilarityClassifier()],
  ]);
  const candidates = gridCandidates(pipeline, { "words.idfPower": [1, 2], "classify.filters": [3, 6, 9] });
  type Candidates = readonly Estimator<readonly string[], PredictingModel<readonly string[]>>[];
  const plain = async (scoring: "accuracy" | ((...args: never[]) => Promise<number>)) => {
    fits = 0;
    const options = { folds: 3, scoring: scoring as "accuracy" };
    const found = await tune(candidates as unknown as Candidates, texts, labels, options);
    return {
      fits,
      results: found.results.map(({ params, rounds }) => {
        const { mean, multiplyAdds, bytes } = rounds[0];
        return { params, mean, multiplyAdds, bytes };
      }),
    };
  };
  const shared = await plain("accuracy");
  const apart = await plain((model: PredictingModel, ...rest: Parameters<PredictingModel["score"]>) =>
    model.score(...rest),
  );
  expect(shared.results).toEqual(apart.results);
  expect([shared.fits, apart.fits]).toEqual([2 * 3, 6 * 3]);
});
