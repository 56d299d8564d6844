/** The pieces of work that are timed. Each gives a digest of what came out, so that two back ends can be compared. */

import { createHash } from "node:crypto";
import {
  type Backend,
  Dense,
  type HeldBank,
  type HeldRows,
  type Matrix,
  type Model,
  PatchTransform,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  saveModel,
  toDense,
} from "@ranksim/core";
import { asFloats, asWords, drawBytes, drawWords, type Images } from "./rows.ts";

const FILTERS = 6000;
const SEED = 1;

export interface GpuWork {
  readonly name: string;
  readonly title: string;
  /** Milliseconds that it should stay below on a data-centre GPU, where a goal was set. */
  readonly goal?: number;
  /** The work; what it gives makes a digest of the answers, which is no part of the work. */
  prepare(images: Images): Promise<(backend: Backend) => Promise<() => string>>;
}

const digest = (bytes: ArrayBufferView): string =>
  createHash("sha256")
    .update(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    .digest("hex");
const ofModel = (model: Model) => (): string => digest(saveModel(model));

/** Rows and filters that each back end holds from its first call on. */
function winners(times: number, like?: (x: Dense) => Dense): GpuWork["prepare"] {
  return async (images) => {
    const x = like ? like(images.x) : images.x;
    const held = new Map<Backend, { readonly rows: HeldRows; readonly bank: HeldBank }>();
    return async (backend) => {
      let found = held.get(backend);
      if (!found) {
        const rows = await backend.hold(x);
        const drawn = Uint32Array.from({ length: FILTERS }, (_, f) => f * Math.floor(x.rows / FILTERS));
        const groups = { offsets: Uint32Array.from({ length: FILTERS + 1 }, (_, f) => f), rows: drawn };
        found = { rows, bank: await rows.sum(groups).rank() };
        held.set(backend, found);
      }
      const { rows, bank } = found;
      const answers = await Promise.all(Array.from({ length: times }, () => rows.topFilters(bank, 1)));
      return () => digest(answers[0].filter) + digest(answers[0].response);
    };
  };
}

/** A fit, and labels of other rows: digests of the model file and of the labels. */
const fitAndPredict = async (
  backend: Backend,
  filters: number,
  x: Matrix,
  y: readonly number[],
  test: Matrix,
): Promise<() => string> => {
  const model = await new RankSimilarityClassifier({ filters, seed: SEED }).fit(x, y as number[], { backend });
  const labels = await model.predict(test, { backend });
  return () => ofModel(model)() + JSON.stringify(labels);
};

/** All images to pooled rows, as bytes or as 16-bit sums. */
function patches(bytes: boolean): GpuWork["prepare"] {
  return async ({ x }) => {
    const model = await new PatchTransform({ filters: 256, patch: 5, bytes, seed: SEED }).fit(x.slice(0, 6000));
    return async (backend) => {
      const pooled = await model.transform(x, { backend });
      return () => digest(toDense(pooled).values);
    };
  };
}

const asShorts = (x: Dense): Dense =>
  Dense.of(
    Int16Array.from(x.values, (value) => 256 * value - 32_640),
    x.rows,
    x.features,
  );

export const WORKS: readonly GpuWork[] = [
  {
    name: "winners",
    title: "exact winners, 60,000 × 784 bytes × 6,000 filters, one call",
    goal: 3,
    prepare: winners(1),
  },
  {
    name: "thirty-winners",
    title: "the same, thirty calls at once: the kernel's time, thirty times",
    goal: 90,
    prepare: winners(30),
  },
  {
    name: "fit",
    title: "fit of the classifier, 6,000 filters, rows in host memory → model",
    goal: 100,
    prepare:
      async ({ x, y }) =>
      async (backend) =>
        ofModel(await new RankSimilarityClassifier({ filters: FILTERS, seed: SEED }).fit(x, y, { backend })),
  },
  {
    name: "predict",
    title: "predict 10,000, rows in host memory → labels",
    goal: 10,
    prepare: async ({ x, y, test }) => {
      const models = new Map<Backend, Promise<{ predict(x: typeof test, run: object): Promise<unknown[]> }>>();
      return async (backend) => {
        const known =
          models.get(backend) ?? new RankSimilarityClassifier({ filters: FILTERS, seed: SEED }).fit(x, y, { backend });
        models.set(backend, known);
        const labels = await (await known).predict(test, { backend });
        return () => JSON.stringify(labels);
      };
    },
  },
  {
    name: "probabilistic",
    title: "fit of the probabilistic classifier, 6,000 filters",
    goal: 150,
    prepare:
      async ({ x, y }) =>
      async (backend) =>
        ofModel(
          await new RankSimilarityProbabilisticClassifier({ filters: FILTERS, seed: SEED }).fit(x, y, { backend }),
        ),
  },
  {
    name: "patches",
    title: "60,000 images → pooled rows as bytes, 256 filters of 5 × 5",
    goal: 150,
    prepare: patches(true),
  },
  {
    name: "patches-u16",
    title: "the same as 16-bit sums",
    prepare: patches(false),
  },
  {
    name: "refined",
    title: "fit with refinement, 300 filters",
    goal: 1000,
    prepare:
      async ({ x, y }) =>
      async (backend) =>
        ofModel(await new RankSimilarityClassifier({ filters: 300, refine: true, seed: SEED }).fit(x, y, { backend })),
  },
  {
    name: "winners-f32",
    title: "winners of f32 rows by candidates, 60,000 × 784 × 6,000 filters, with their responses",
    prepare: winners(1, asFloats),
  },
  {
    name: "winners-u16",
    title: "the same of u16 rows",
    prepare: winners(1, asWords),
  },
  {
    name: "winners-i16",
    title: "the same of i16 rows",
    prepare: winners(1, asShorts),
  },
  {
    name: "fit-f32",
    title: "fit of the classifier on f32 rows, 6,000 filters, and labels of 10,000",
    prepare: async ({ x, y, test }) => {
      const [train, rest] = [asFloats(x), asFloats(test)];
      return (backend) => fitAndPredict(backend, FILTERS, train, y, rest);
    },
  },
  {
    name: "fit-sparse",
    title: "the same on sparse rows: 20,000 × 2,000 words of which a row has 60, 1,000 filters",
    prepare: async () => {
      const { x, y } = drawWords(20_000, 2000, 60, 5);
      const test = drawWords(10_000, 2000, 60, 6);
      return (backend) => fitAndPredict(backend, 1000, x, y, test.x);
    },
  },
  {
    name: "million",
    title: "1,000,000 × 1,024 bytes, 10,000 filters, 5 rounds",
    goal: 5000,
    prepare: async () => {
      const x = drawBytes(1_000_000, 1024, 3);
      const recipe = new RankSimilarityTransform({ filters: 10_000, iterations: 5, tolerance: 0, seed: SEED });
      return async (backend) => ofModel(await recipe.fit(x, undefined, { backend }));
    },
  },
];
