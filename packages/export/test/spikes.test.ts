/** The network of spikes ends where `predict` does, and stops early only where nothing to come could change that. */

import {
  type ClassifierModel,
  Dense,
  type MatrixLike,
  type PatchModel,
  type PatchParams,
  PatchTransform,
  Pipeline,
  type PipelineModel,
  RankSimilarityClassifier,
} from "@ranksim/core";
import { loadDigits } from "@ranksim/data";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { simulateSpikes, summarizeSpikes, traceSpikes } from "../src/index.ts";
import { denseWeights } from "../src/parts.ts";
import { PatchNetwork } from "../src/spikes/patch-layer.ts";
import { LIMITS, withLimits } from "./limited.ts";
import { tiedRows } from "./tied-rows.ts";

const digits = await loadDigits();
const x = digits.x as Dense;
const y = digits.y as number[];
let model: ClassifierModel;
beforeAll(async () => {
  model = await new RankSimilarityClassifier({ filters: 60, seed: 1 }).fit(x, y);
});

/**
 * The early stop by its definition, without shortcuts: at each time from 0 on, the leader is certain if for every filter of
 * another class even the worst values of what is still to come leave it behind. Spikes that had arrived then.
 */
function neededByDefinition(trained: ClassifierModel, row: ArrayLike<number>): number {
  const n = row.length;
  const m = trained.bank.filters;
  const weights = denseWeights(trained.bank);
  const end = Math.max(...Array.from(row));
  let spikes = 0;
  for (let time = 0; time < end; time++) {
    const left = end - time;
    const isSeen = Array.from(row, (value) => value > 0 && end - value <= time);
    spikes = isSeen.filter(Boolean).length;
    if (!Array.from(row).includes(left)) continue;
    // Arrived spikes give their values in full by the end.
    const promised = Array.from({ length: m }, (_, f) =>
      isSeen.reduce((sum, seen, i) => sum + (seen ? weights[f * n + i] * row[i] : 0), 0),
    );
    const leader = promised.indexOf(Math.max(...promised));
    const certain = promised.every((own, f) => {
      if (trained.filterClass[f] === trained.filterClass[leader]) return true;
      let worst = promised[leader] - own;
      for (let i = 0; i < n; i++) {
        if (!isSeen[i]) worst += (left - 1) * Math.min(0, weights[leader * n + i] - weights[f * n + i]);
      }
      return worst > 0;
    });
    if (certain) return spikes;
  }
  return spikes;
}

describe("simulateSpikes", () => {
  it("ends with the class of predict, on all digits", async () => {
    const run = await simulateSpikes(model, x);
    expect(run.labels).toEqual(await model.predict(x));
  });

  it.each([1, 2, 3])("breaks ties as predict does, seed %i", async (seed) => {
    const tied = tiedRows(seed, 200, 5);
    const trained = await new RankSimilarityClassifier({ filters: 30, seed }).fit(tied.x, tied.y);
    expect((await simulateSpikes(trained, tied.x)).labels).toEqual(await trained.predict(tied.x));
  });

  it("stops as early as the definition says", async () => {
    const some = x.slice(0, 60);
    const { spikesNeeded } = await simulateSpikes(model, some);
    for (let r = 0; r < some.rows; r++) expect(spikesNeeded[r]).toBe(neededByDefinition(model, some.row(r)));
    const tied = tiedRows(9, 60, 6, 5);
    const trained = await new RankSimilarityClassifier({ filters: 12 }).fit(tied.x, tied.y);
    const run = await simulateSpikes(trained, tied.x);
    for (let r = 0; r < 60; r++) expect(run.spikesNeeded[r]).toBe(neededByDefinition(trained, tied.x.row(r)));
  });

  it("stops only where no value of the features to come gives another class", async () => {
    const run = await simulateSpikes(model, x);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(x.rows - 1),
        fc.array(fc.nat(1_000_000), { minLength: 64, maxLength: 64 }),
        async (r, dice) => {
          const row = Array.from(x.row(r));
          const falling = row.toSorted((a, b) => b - a);
          const needed = run.spikesNeeded[r];
          // Features that had not arrived are below the last that had.
          const last = falling[needed - 1];
          const changed = row.map((value, i) => (value >= last ? value : dice[i] % last));
          expect(await model.predict([changed])).toEqual([run.labels[r]]);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("saves spikes, and counts what they cost", async () => {
    const run = await simulateSpikes(model, x);
    const found = summarizeSpikes(run, y);
    expect(found.spikes).toBe(Array.from(x.values).filter((value) => value > 0).length);
    expect(found.spikesNeeded).toBeLessThan(found.spikes);
    expect(found.synapticEvents).toBe(found.spikes * model.bank.filters);
    expect(found.curve).toHaveLength(20);
    const end = found.curve[19];
    expect(end.accuracy).toBe(await model.score(x, y));
    expect(end.spikeShare).toBeCloseTo(1, 12);
    for (let m = 1; m < 20; m++)
      expect(found.curve[m].spikeShare).toBeGreaterThanOrEqual(found.curve[m - 1].spikeShare);
  });

  it.each([
    ["none", 1],
    ["temperature", 1],
    ["temperature", 3],
  ] as const)(
    "ends with the most probable class where that decides: probabilities %s, banks %i",
    async (calibrate, committee) => {
      // Equal scores of a committee are settled by rounding: its rows do not tie.
      const rows = committee === 1 ? tiedRows(4, 240, 6) : { x, y };
      const params = { filters: 30, committee, calibrate, decision: "probability" as const };
      const model = await new RankSimilarityClassifier(params).fit(rows.x, rows.y);
      expect((await simulateSpikes(model, rows.x)).labels).toEqual(await model.predict(rows.x));
    },
  );

  it("takes rows without any spike", async () => {
    const run = await simulateSpikes(model, Dense.of(new Uint8Array(128), 2, 64));
    expect(run.labels).toEqual(await model.predict(Dense.of(new Uint8Array(128), 2, 64)));
    expect([...run.spikesNeeded]).toEqual([0, 0]);
  });

  it("refuses rows that cannot spike, and models that are no such network", async () => {
    await expect(simulateSpikes(model, [new Array(64).fill(0.5)])).rejects.toThrow(
      /row 0, column 0: expected a whole number .* found 0.5; scale/,
    );
    await expect(simulateSpikes(model, [[-1, ...new Array(63).fill(0)]])).rejects.toThrow(/found -1/);
    await expect(simulateSpikes(model, [[1, 2]])).rejects.toThrow(/64 features, the data has 2/);
    await expect(simulateSpikes(model, x, { moments: 0 })).rejects.toThrow(/moments: expected/);
    const voting = await new RankSimilarityClassifier({ filters: 20, voters: 3 }).fit(x, y);
    await expect(simulateSpikes(voting, x)).rejects.toThrow(/spikes: expected one voter, found 3/);
  });

  it("stops where progress throws", async () => {
    const stop = () => {
      throw new Error("enough");
    };
    await expect(simulateSpikes(model, x, { onProgress: stop })).rejects.toThrow("enough");
  });
});

describe("a committee", () => {
  let committee: ClassifierModel;
  beforeAll(async () => {
    committee = await new RankSimilarityClassifier({ filters: 60, committee: 3, seed: 2, refine: true }).fit(x, y);
  });

  it("ends with the class of predict", async () => {
    expect((await simulateSpikes(committee, x)).labels).toEqual(await committee.predict(x));
  });

  it("stops only where no value of the features to come gives another class, and before the end", async () => {
    const run = await simulateSpikes(committee, x);
    const { spikes, spikesNeeded } = summarizeSpikes(run, y);
    expect(spikesNeeded).toBeLessThan(spikes);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(x.rows - 1),
        fc.array(fc.nat(1_000_000), { minLength: 64, maxLength: 64 }),
        async (r, dice) => {
          const row = Array.from(x.row(r));
          const last = row.toSorted((a, b) => b - a)[run.spikesNeeded[r] - 1];
          const changed = row.map((value, i) => (value >= last ? value : dice[i] % last));
          expect(await committee.predict([changed])).toEqual([run.labels[r]]);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("is traced by the scores of its classes", async () => {
    const scores = await committee.classScores(x.slice(0, 5));
    const { norm } = committee.bank;
    for (let r = 0; r < 5; r++) {
      const { racers } = traceSpikes(committee, x.row(r));
      expect(racers[0].label).toBe((await committee.predict(x.slice(r, r + 1)))[0]);
      for (const { label, potentials } of racers) {
        expect((potentials.at(-1) as number) / norm[0]).toBeCloseTo(scores.row(r)[label as number], 9);
      }
    }
  });
});

describe.each([false, true])("a model with patches, bytes %s", (bytes) => {
  const few = x.slice(0, 120);
  let images: PipelineModel<MatrixLike, ClassifierModel>;
  let patches: PatchModel;
  beforeAll(async () => {
    const steps = (params: Partial<PatchParams>) =>
      new Pipeline([
        ["patches", new PatchTransform({ ...params, width: 8, height: 8, sample: 4000, bytes })],
        ["classify", new RankSimilarityClassifier({ filters: 30, refine: true, seed: 3 })],
      ]);
    images = (await steps({ patch: [3, 4], filters: [20, 12], nBest: [4, 20], grid: [3, 2], stride: [1, 2] }).fit(
      x,
      y,
    )) as PipelineModel<MatrixLike, ClassifierModel>;
    patches = images.steps[0] as PatchModel;
  });

  it("has a first layer that ends as the patch transform does, and a second that ends as predict does", async () => {
    const network = new PatchNetwork(patches);
    const pooled = await patches.transform(few);
    for (let r = 0; r < few.rows; r++) {
      expect(Array.from(network.run(few.row(r)).pooled)).toEqual(Array.from(pooled.row(r)));
    }
    expect((await simulateSpikes(images, few)).labels).toEqual(await images.predict(few));
  });

  it("makes bytes of sums as the transform does, whatever the limits", async () => {
    for (const limits of LIMITS) {
      const limited = withLimits(images, limits).steps[0] as PatchModel;
      const network = new PatchNetwork(limited);
      const pooled = await limited.transform(few);
      for (let r = 0; r < few.rows; r++) {
        expect(Array.from(network.run(few.row(r)).pooled)).toEqual(Array.from(pooled.row(r)));
      }
    }
  });

  it("counts a spike in every window that holds its value, for every filter", async () => {
    const run = await simulateSpikes(images, few);
    for (let r = 0; r < 10; r++) {
      let events = 0;
      for (const { bank, windows } of patches.layers) {
        for (let wy = 0; wy < windows.down; wy++) {
          for (let wx = 0; wx < windows.across; wx++) {
            for (let j = 0; j < windows.patchHeight; j++) {
              for (let i = 0; i < windows.patchWidth; i++) {
                if (few.row(r)[(wy * windows.stride + j) * 8 + wx * windows.stride + i] > 0) events += bank.filters;
              }
            }
          }
        }
      }
      expect(run.firstLayer?.synapticEvents[r]).toBe(events);
      expect(run.firstLayer?.spikes[r]).toBe(Array.from(few.row(r)).filter((value) => value > 0).length);
    }
    const { firstLayer, spikes, spikesNeeded } = summarizeSpikes(run, y.slice(0, 120));
    expect(firstLayer?.spikes).toBe(run.firstLayer?.spikes.reduce((sum, one) => sum + one, 0));
    expect(spikesNeeded).toBeLessThanOrEqual(spikes);
  });

  it("stops its second layer only where nothing to come gives another class", async () => {
    const run = await simulateSpikes(images, few);
    const pooled = await patches.transform(few);
    const second = images.steps[1] as ClassifierModel;
    for (let r = 0; r < few.rows; r++) {
      const row = Array.from(pooled.row(r));
      const last = row.toSorted((a, b) => b - a)[run.spikesNeeded[r] - 1];
      for (let turn = 0; turn < 5; turn++) {
        const changed = row.map((value, i) => (value >= last ? value : (i * 7919 * (turn + 1) + r) % last));
        expect(await second.predict([changed])).toEqual([run.labels[r]]);
      }
    }
  });

  it("is traced in its second layer", () => {
    const trace = traceSpikes(images, few.row(0));
    expect(trace.isPooled).toBe(true);
    expect(traceSpikes(model, few.row(0)).isPooled).toBe(false);
    expect(trace.features.length).toBeGreaterThan(20);
  });

  it("takes images of several channels, and refuses values that are no bytes", async () => {
    const colours = Dense.of(
      Uint8Array.from({ length: 40 * 75 }, (_, e) => (e * 7919) % 251),
      40,
      75,
    );
    const fitted = await new PatchTransform({ width: 5, height: 5, channels: 3, patch: 2, filters: 6, nBest: 3 }).fit(
      colours,
    );
    const pooled = await fitted.transform(colours);
    const network = new PatchNetwork(fitted);
    for (let r = 0; r < 40; r++) {
      expect(Array.from(network.run(colours.row(r)).pooled)).toEqual(Array.from(pooled.row(r)));
    }
    await expect(simulateSpikes(images, [new Array(64).fill(300)])).rejects.toThrow(/from 0 to 255 .* found 300/);
  });
});

describe("traceSpikes", () => {
  it("shows one row as the simulation sees it", async () => {
    const run = await simulateSpikes(model, x.slice(0, 30));
    const weights = denseWeights(model.bank);
    for (let r = 0; r < 30; r++) {
      const trace = traceSpikes(model, x.row(r));
      expect(trace.settledAfter).toBe(run.spikesNeeded[r]);
      expect(trace.features).toHaveLength(run.spikes[r]);
      expect(trace.racers[0].label).toBe(run.labels[r]);
      expect(trace.labels.at(-1)).toBe(run.labels[r]);
      for (const { filter, potentials } of trace.racers) {
        const response = Array.from(x.row(r)).reduce((sum, value, i) => sum + value * weights[filter * 64 + i], 0);
        expect(potentials.at(-1)).toBe(response);
      }
    }
  });
});
