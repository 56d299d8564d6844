/** Refinement and committees: the same recipe with and without `refine`, on every data set at hand. */

import {
  type ClassifierModel,
  type ClassifierParams,
  type Labels,
  type Matrix,
  RankSimilarityClassifier,
} from "@ranksim/core";
import { TfidfVectorizer } from "@ranksim/data";
import { f1 } from "@ranksim/learn";
import { timed } from "../../runner/stopwatch.ts";
import type { AccuracyRow, AccuracyTable, Bench, Figures } from "../table.ts";
import { withMovedImages } from "./moved-images.ts";

interface Part {
  readonly x: Matrix;
  readonly y: Labels;
}

interface Parts {
  readonly train: Part;
  readonly test: Part;
}

const QUICK = { filters: 60, committee: 1, refineEpochs: 3 } as const;

/** A row: the recipe with and without refinement, and the macro F1 that it has to reach; `moved`: images moved by a pixel are learned from as well. */
function refinedRow(
  name: string,
  params: Partial<ClassifierParams>,
  parts: (bench: Bench) => Promise<Parts>,
  wanted: number | "plain",
  moved = false,
): AccuracyRow {
  return {
    name,
    least: { refined: wanted },
    most: { plain: "refined" },
    measure: async (seed, bench): Promise<Figures> => {
      const { train, test } = await parts(bench);
      const run = { backend: bench.backend };
      const estimator = new RankSimilarityClassifier({ ...params, ...(bench.quick ? QUICK : {}), seed });
      const judge = async (model: ClassifierModel) =>
        f1(test.y, (await model.predict(test.x, run)) as Labels, { average: "macro" });
      const { x, copies } = moved && !bench.quick ? withMovedImages(train.x) : { x: train.x, copies: 1 };
      const plain = await timed(() => estimator.fit(x, train.y, { ...run, copies }));
      const refined = await timed(() => estimator.with({ refine: true }).fit(x, train.y, { ...run, copies }));
      const score = await timed(() => judge(refined.value));
      const told = refined.value.report.refinement;
      return {
        plain: await judge(plain.value),
        refined: score.value,
        before: told?.before ?? 0,
        after: told?.after ?? 0,
        plainCpu: plain.cpu,
        refinedCpu: refined.cpu,
        predictCpu: score.cpu,
      };
    },
  };
}

async function numbers({ shelf, quick }: Bench, name: string): Promise<Parts> {
  const open = async (part: string): Promise<Part> => {
    const { x, y } = await shelf.numbers(quick ? `digits:${part}` : `${name}:${part}`);
    return { x, y: y as Labels };
  };
  return { train: await open("train"), test: await open("test") };
}

async function words({ shelf, quick }: Bench): Promise<Parts> {
  const open = async (part: string) => {
    const { text, y } = await shelf.text(`20newsgroups:${part}`, { remove: ["headers", "footers", "quotes"] });
    const every = quick ? 25 : 1; // rows come class by class
    return { text: text.filter((_, r) => r % every === 0), y: y.filter((_, r) => r % every === 0) as Labels };
  };
  const [train, test] = [await open("train"), await open("test")];
  const model = await new TfidfVectorizer({ maxFeatures: 10_000, logTf: true, idfPower: 2 }).fit(train.text);
  return {
    train: { x: await model.transform(train.text), y: train.y },
    test: { x: await model.transform(test.text), y: test.y },
  };
}

const fashion = (bench: Bench) => numbers(bench, "fashion-mnist");
const kmnist = (bench: Bench) => numbers(bench, "kmnist");
const digits = (bench: Bench) => numbers(bench, "digits");

const FOUR_BANKS = { filters: 2000, committee: 4, iterations: 1, refineEpochs: 10 };
const EIGHT_BANKS = { filters: 4000, committee: 8, refineEpochs: 16 };
const SIX_BANKS = { filters: 12_000, committee: 6, refineEpochs: 6 };
const TEXT = { filters: 20, classWeight: "uniform", distribution: "savage", refineEpochs: 4 } as const;

export const refined: AccuracyTable = {
  name: "refined",
  title: "Refinement",
  columns: {
    plain: "plain",
    refined: "refined",
    before: "held-out accuracy before",
    after: "after",
    plainCpu: "plain fit, s",
    refinedCpu: "fit and refinement, s",
    predictCpu: "prediction, s",
  },
  rows: [
    refinedRow("Fashion-MNIST, 300 filters", { filters: 300, refineEpochs: 48 }, fashion, 0.889),
    refinedRow("Fashion-MNIST, 2,000 filters", FOUR_BANKS, fashion, 0.893),
    refinedRow("Fashion-MNIST, 4,000 filters", EIGHT_BANKS, fashion, 0.9, true),
    refinedRow("KMNIST, 12,000 filters", SIX_BANKS, kmnist, 0.945, true),
    refinedRow("20 Newsgroups, 20 filters", TEXT, words, 0.68),
    refinedRow("Digits, 100 filters", { filters: 100 }, digits, "plain"),
  ],
};
