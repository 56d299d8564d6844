/**
 * Hundreds of fits, predictions and transforms at once, in a random order and with pauses, on one back end: every answer is the
 * one that the call alone gets. Features lie on both sides of 192, where bounds begin.
 */

import { setImmediate, setTimeout } from "node:timers/promises";
import {
  type Backend,
  type ClassifierModel,
  type Matrix,
  openBackend,
  type ProbabilisticModel,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  type Run,
  saveModel,
  type TransformModel,
  toCsr,
} from "@ranksim/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gpuPlatforms, gpuRefusal } from "../../../gpu/test/gpu.ts";
import { drawBelow, drawWithoutReplacement, generatorOf } from "../../src/random.ts";
import type { Platform } from "../platforms.ts";
import { cases, isFull } from "../tier.ts";
import { blends, classesOf, sparseBlends } from "./blends.ts";

/** A call, and its answer as text that tells all bits. */
interface Call {
  readonly title: string;
  readonly ask: (run: Run) => Promise<string>;
}

const hash = (values: ArrayBufferView) =>
  Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString("base64");

interface Models {
  readonly classifier: ClassifierModel;
  readonly committee: ClassifierModel;
  readonly probabilistic: ProbabilisticModel;
  readonly transform: TransformModel;
}

async function train(x: Matrix, y: number[], filters: number, run: Run): Promise<Models> {
  return {
    classifier: await new RankSimilarityClassifier({ filters, iterations: 2 }).fit(x, y, run),
    committee: await new RankSimilarityClassifier({ filters, committee: 2, iterations: 1 }).fit(x, y, run),
    probabilistic: await new RankSimilarityProbabilisticClassifier({ filters, iterations: 2 }).fit(x, y, run),
    transform: await new RankSimilarityTransform({ filters, iterations: 2 }).fit(x, undefined, run),
  };
}

/** Calls of every kind on parts of `x` of many sizes. */
function callsOn(x: Matrix, y: number[], models: Models, count: number, seed: number): Call[] {
  const generator = generatorOf(seed);
  return Array.from({ length: count }, (_, j): Call => {
    const from = drawBelow(generator, x.rows - 60);
    const part = x.slice(from, from + 1 + drawBelow(generator, j % 5 === 0 ? x.rows - from : 60));
    const few = x.slice(from, from + 60);
    const truth = y.slice(from, from + 60);
    const params = { filters: 12, iterations: 2, seed: drawBelow(generator, 9) };
    const kinds: Call[] = [
      { title: "predict", ask: async (run) => JSON.stringify(await models.classifier.predict(part, run)) },
      { title: "committee", ask: async (run) => JSON.stringify(await models.committee.predict(part, run)) },
      {
        title: "probabilities",
        ask: async (run) => hash((await models.probabilistic.predictProbabilities(part, run)).values),
      },
      { title: "transform", ask: async (run) => hash(toCsr(await models.transform.transform(part, run)).values) },
      { title: "scores", ask: async (run) => hash((await models.classifier.classScores(few, run)).values) },
      {
        title: "fit",
        ask: async (run) => hash(saveModel(await new RankSimilarityClassifier(params).fit(few, truth, run))),
      },
      {
        title: "fit all",
        ask: async (run) => hash(saveModel(await new RankSimilarityTransform(params).fit(part, undefined, run))),
      },
      {
        title: "refine",
        ask: async (run) => {
          const recipe = new RankSimilarityClassifier({ ...params, refine: true, refineEpochs: 3 });
          return hash(saveModel(await recipe.fit(few, truth, run)));
        },
      },
    ];
    return kinds[drawBelow(generator, kinds.length)];
  });
}

/** Runs all calls at once, in a random order, some of them a little later. */
async function atOnce(
  calls: readonly Call[],
  seed: number,
  run: (j: number) => Run,
): Promise<PromiseSettledResult<string>[]> {
  const generator = generatorOf(seed);
  const order = drawWithoutReplacement(generator, calls.length, calls.length);
  const answers = new Array<Promise<string>>(calls.length);
  for (const j of order) {
    const pause = drawBelow(generator, 4);
    answers[j] = (async () => {
      if (pause === 1) await setImmediate();
      if (pause === 2) await setTimeout(drawBelow(generator, 30));
      return calls[j].ask(run(j));
    })();
  }
  return Promise.allSettled(answers);
}

/** With 600 filters enough for bounds to pay. */
const ROWS = 1500;
const CLASSES = 5;
const y = classesOf(ROWS, CLASSES);
const shapes = [
  ...[70, 191, 192, 193, 257].map((features) => ({
    title: `${features} dense features`,
    x: () => blends(ROWS, features, CLASSES, 5),
  })),
  { title: "300 sparse features", x: () => sparseBlends(ROWS, 300, CLASSES, 5) },
];

interface OverlapPlatform extends Platform {
  readonly calls: number;
  readonly filters: number;
  readonly shapes?: typeof shapes;
}

const platforms: readonly OverlapPlatform[] = [
  { title: "reference", calls: cases(20, 40), filters: 40, open: () => openBackend("reference") },
  { title: "wasm", calls: cases(60, 200), filters: 600, open: () => openBackend("wasm") },
];

const threaded: readonly OverlapPlatform[] = [
  { title: "1 thread", calls: 100, filters: 600, open: () => openBackend("threads", { threads: 1 }) },
  { title: "3 threads", calls: 200, filters: 600, open: () => openBackend("threads", { threads: 3 }) },
  { title: "auto", calls: 100, filters: 600, open: () => openBackend("auto", { threads: 2 }) },
];

/** Few calls on two of the shapes: a program that plays a GPU takes its time. */
const gpus = gpuPlatforms.map((gpu) => ({ ...gpu, calls: 12, filters: 20, shapes: [shapes[2], shapes[5]] }));

describe.each([...platforms, ...(isFull ? threaded : [])])("$title", overlap);
describe.skipIf(gpuRefusal !== undefined).each(gpus)("$title", overlap);

function overlap({ calls: count, filters, open, shapes: used = shapes }: OverlapPlatform): void {
  let backend: Backend;
  beforeAll(async () => {
    backend = await open();
  });
  afterAll(() => backend.close());

  it.each(used)("answers overlapping calls as single ones: $title", async (shape) => {
    const x = shape.x();
    const alone = await openBackend("wasm");
    const models = await train(x, y, filters, { backend: alone });
    const calls = callsOn(x, y, models, count, 11);
    const expected: string[] = [];
    for (const { ask } of calls) expected.push(await ask({ backend: alone }));
    await alone.close();

    const answers = await atOnce(calls, 12, () => ({ backend }));
    const wrong = answers.flatMap((answer, j) =>
      answer.status === "rejected"
        ? [`${calls[j].title}: ${answer.reason}`]
        : answer.value === expected[j]
          ? []
          : [`${calls[j].title}: another answer`],
    );
    expect(wrong).toEqual([]);
  });

  it("goes on with the others where some are aborted in their midst", async () => {
    const x = (used[3] ?? used[0]).x();
    const alone = await openBackend("wasm");
    const models = await train(x, y, filters, { backend: alone });
    const calls = callsOn(x, y, models, count / 2, 21);
    const expected: string[] = [];
    for (const { ask } of calls) expected.push(await ask({ backend: alone }));
    await alone.close();

    const generator = generatorOf(22);
    const waits = calls.map(() => drawBelow(generator, 200));
    const isAborted = (j: number) => j % 2 === 1;
    const answers = await atOnce(calls, 23, (j) =>
      isAborted(j) ? { backend, signal: AbortSignal.timeout(waits[j]) } : { backend },
    );
    for (const [j, answer] of answers.entries()) {
      // One that was done before its time was up is right as well.
      if (answer.status === "fulfilled") expect(answer.value, calls[j].title).toBe(expected[j]);
      else {
        expect(isAborted(j), `${calls[j].title}: ${answer.reason}`).toBe(true);
        expect(answer.reason, calls[j].title).toMatchObject({ name: "TimeoutError" });
      }
    }
    // Nothing of what was broken off is left behind.
    for (const [j, call] of calls.slice(0, 20).entries()) expect(await call.ask({ backend })).toBe(expected[j]);
  });
}
