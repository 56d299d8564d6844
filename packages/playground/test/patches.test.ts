/** Patches and spikes in the worker, run in Node: what the page is told is what the library says. */

import {
  type ClassifierModel,
  loadModel,
  type PatchModel,
  type PipelineModel,
  saveModel,
  toDense,
} from "@ranksim/core";
import { loadDigits } from "@ranksim/data";
import { train } from "@ranksim/learn";
import { beforeAll, describe, expect, it } from "vitest";
import type { Explanation, ModelSummary, PatchView, Recipe, Sample } from "../src/protocol.ts";
import { Session } from "../src/worker/session.ts";

const RECIPE: Recipe = { estimator: "chosen", heldOut: 0.75, params: { preset: "fast", seed: 4 } };

describe("a classifier on patches", () => {
  const stages = new Set<string>();
  const session = new Session(({ stage }) => stages.add(stage));
  let summary: ModelSummary;
  let sample: Sample;
  let explanation: Explanation;

  beforeAll(async () => {
    await session.openDigits();
    summary = await session.train({ recipe: RECIPE, pace: "full" });
    const [row] = session.heldOutRows({ recipe: RECIPE });
    [{ sample }] = session.rows({ rows: [row] });
    explanation = await session.explain({ sample });
  });

  it("is the library's model, byte for byte", async () => {
    const { model } = await train(await loadDigits(), { preset: "fast", seed: 4, testShare: 0.75 });
    expect(Buffer.compare(session.save(), saveModel(model))).toBe(0);
    expect(summary).toMatchObject({
      kind: "classifier",
      inputs: 64,
      patches: { filters: 64, sizes: [{ width: 3, height: 3 }] },
      about: expect.stringMatching(/^fast, for 449 images of 8 x 8/),
    });
  });

  it("is watched from the first layer on", () => {
    for (const stage of ["patches", "spread", "refine"]) expect(stages).toContain(stage);
  });

  it("tells which pixels decided: together what the windows contributed", async () => {
    const { steps } = loadModel(session.save()) as PipelineModel;
    const [patches, classifier] = steps as unknown as [PatchModel, ClassifierModel];
    const rows = [Array.from((sample as { values: Float64Array }).values)];
    const pooled = await patches.transform(rows);
    const found = await classifier.explain(pooled, 0);
    const sum = found.contributions.reduce((total, { contribution }) => total + contribution, 0);
    const parts = explanation.parts.reduce((total, part) => total + part, 0);
    expect(parts).toBeCloseTo(sum, 6);
    expect(Array.from(explanation.seen?.values ?? [])).toEqual(Array.from(toDense(pooled).values));
    expect(explanation.seen?.drawn.size).toEqual({ width: 8, height: 8 });
  });

  it("tells which patches were found where, for the answer and for the runner-up", async () => {
    const view = (await session.patches({ sample })) as PatchView;
    expect(view.given.label).toBe(explanation.labels[0]);
    expect(view.rival?.label).not.toBe(view.given.label);
    expect(view.banks.map(({ filters }) => filters.length)).toEqual([64]);
    for (const { cell, part, drawn } of [...view.given.found, ...(view.rival?.found ?? [])]) {
      expect(part).toBeGreaterThan(0);
      expect(drawn.pixels.length).toBe(9);
      // Six windows each way in three cells: two begin in each, so that a cell is four pixels wide.
      expect([cell.width, cell.height]).toEqual([4, 4]);
      expect([0, 2, 4]).toContain(cell.x);
      expect([0, 2, 4]).toContain(cell.y);
    }
    expect(view.given.where.some((value, p) => value > 0 && (view.rival?.where[p] ?? 0) > 0)).toBe(false);
  });

  it("races as spikes of the second layer to the same answer", async () => {
    const spikes = await session.spikes({ sample });
    expect(spikes.isPooled).toBe(true);
    expect(spikes.racers[0].label).toBe(explanation.labels[0]);
    expect(spikes.settledAfter).toBeLessThanOrEqual(spikes.features.length);
    const savings = await session.spikeSavings();
    expect(savings).toMatchObject({ rows: 300, heldOut: true });
    expect(savings.needed).toBeGreaterThan(0);
    expect(savings.needed).toBeLessThanOrEqual(1);
    expect(savings.curve[savings.curve.length - 1].accuracy).toBeGreaterThan(0.8);
  });
});

describe("a model file whose pooled values are bytes", () => {
  it("answers, explains and spikes as the library does", async () => {
    const { x, y, imageSize } = await loadDigits();
    const part = { form: "matrix", x: x.slice(0, 400), y: y.slice(0, 400), imageSize } as const;
    const { model } = await train(part, { preset: "fast", params: { filters: 20 }, patches: { bytes: true } });
    const session = new Session(() => {});
    await session.openDigits();
    const file = new File([saveModel(model)], "bytes.ranksim");
    await session.openFiles({ files: [{ path: "bytes.ranksim", file }], choices: {} });
    const [patches, classifier] = (model as PipelineModel).steps as unknown as [PatchModel, ClassifierModel];
    expect(patches.layers[0].windows.limit).toBeGreaterThan(0);
    for (const row of [500, 900, 1700]) {
      const sample: Sample = { form: "dense", values: Float64Array.from(x.row(row)) };
      const explanation = await session.explain({ sample });
      const pooled = await patches.transform([x.row(row)]);
      expect(Array.from(explanation.seen?.values ?? [])).toEqual(Array.from(pooled.values));
      expect(explanation.labels[0]).toBe(String((await classifier.predict(pooled))[0]));
      const found = await classifier.explain(pooled, 0);
      const sum = found.contributions.reduce((total, { contribution }) => total + contribution, 0);
      expect(explanation.parts.reduce((total, one) => total + one, 0)).toBeCloseTo(sum, 6);
      expect((await session.spikes({ sample })).racers[0].label).toBe(explanation.labels[0]);
    }
  });
});
