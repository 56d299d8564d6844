/** Refinement and committees: the same recipe with and without `refine`, on every data set at hand. */

import { readFileSync } from "node:fs";
import {
  type ClassifierModel,
  type ClassifierParams,
  f1,
  type Labels,
  type Matrix,
  RankSimilarityClassifier,
} from "@ranksim/core";
import { TfidfVectorizer } from "@ranksim/data";
import { median } from "../../bench/results.ts";
import { type Bench, type Experiment, type Figures, figuresOf, type Target, timed } from "../experiment.ts";

interface Part {
  readonly x: Matrix;
  readonly y: Labels;
}

interface Refined {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly params: Partial<ClassifierParams>;
  /** Macro F1 wanted; without it only that refined filters are no worse than plain ones. */
  readonly wanted?: number;
  /** Whether fit and refinement have to take less processor time than the authors' package takes to fit. */
  readonly fast?: boolean;
  parts(bench: Bench): Promise<{ readonly train: Part; readonly test: Part }>;
}

function refined({ name, title, about, params, wanted, fast, parts }: Refined): Experiment {
  return {
    name,
    title,
    about,
    columns: [
      { figure: "plain", title: "plain" },
      { figure: "refined", title: "refined" },
      { figure: "before", title: "held-out accuracy before" },
      { figure: "after", title: "after" },
      { figure: "plainCpu", title: "plain fit, s" },
      { figure: "refinedCpu", title: "fit and refinement, s" },
      { figure: "predictCpu", title: "prediction, s" },
    ],
    measure: async (seed, bench): Promise<Figures> => {
      const { train, test } = await parts(bench);
      const run = { backend: bench.backend };
      const estimator = new RankSimilarityClassifier({ ...params, ...(bench.quick ? QUICK : {}), seed });
      const judge = async (model: ClassifierModel) =>
        f1(test.y, (await model.predict(test.x, run)) as Labels, { average: "macro" });
      const plain = await timed(() => estimator.fit(train.x, train.y, run));
      const taught = await timed(() => estimator.with({ refine: true }).fit(train.x, train.y, run));
      const score = await timed(() => judge(taught.value));
      const told = taught.value.report.refinement;
      return {
        plain: await judge(plain.value),
        refined: score.value,
        before: told?.before ?? 0,
        after: told?.after ?? 0,
        plainCpu: plain.cpu,
        refinedCpu: taught.cpu,
        predictCpu: score.cpu,
      };
    },
    targets: (runs) => {
      const middle = (figure: string) => median(figuresOf(runs, figure)) ?? Number.NaN;
      const [before, after] = [middle("plain"), middle("refined")];
      const targets: Target[] = [
        {
          name: `${title}: refined no worse than plain`,
          wanted: `≥ ${before.toFixed(4)}`,
          measured: after.toFixed(4),
          met: after >= before,
        },
      ];
      if (wanted !== undefined) {
        targets.unshift({
          name: `${title}: test macro F1`,
          wanted: `≥ ${wanted.toFixed(3)}`,
          measured: after.toFixed(4),
          met: after >= wanted,
        });
      }
      if (fast) {
        const [ours, theirs] = [middle("refinedCpu"), authorsFit()];
        targets.push({
          name: `${title}: processor seconds, against the plain fit of the authors' package`,
          wanted: `< ${theirs.toFixed(1)}`,
          measured: ours.toFixed(1),
          met: ours < theirs,
        });
      }
      return targets;
    },
  };
}

const QUICK = { filters: 60, committee: 1, refineEpochs: 3 } as const;

/** Processor seconds that the authors' package takes to fit Fashion-MNIST, as `npm run bench` measured. */
function authorsFit(): number {
  const path = new URL("../../../results/bench.json", import.meta.url);
  const { measurements } = JSON.parse(readFileSync(path, "utf8")) as {
    measurements: { work: string; system: string; runs: { phases: { fit: { cpu: number } } }[] }[];
  };
  const found = measurements.find(({ work, system }) => work === "classifier" && system === "authors");
  return median(found?.runs.map(({ phases }) => phases.fit.cpu) ?? []) ?? Number.NaN;
}

async function numbers({ shelf, quick }: Bench, name: string): Promise<{ train: Part; test: Part }> {
  const open = async (part: string): Promise<Part> => {
    const { x, y } = await shelf.numbers(quick ? `digits:${part}` : `${name}:${part}`);
    return { x, y: y as Labels };
  };
  return { train: await open("train"), test: await open("test") };
}

async function words({ shelf, quick }: Bench): Promise<{ train: Part; test: Part }> {
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

export const refinedExperiments: readonly Experiment[] = [
  refined({
    name: "refined-300",
    title: "Fashion-MNIST, 300 filters",
    about: "One bank of 300 filters, at most 24 epochs.",
    params: { filters: 300, refineEpochs: 24 },
    wanted: 0.889,
    parts: fashion,
  }),
  refined({
    name: "refined-2000",
    title: "Fashion-MNIST, 2,000 filters",
    about: "Four banks of 500, one round of spreading and at most 6 epochs, to be quick.",
    params: { filters: 2000, committee: 4, iterations: 1, refineEpochs: 6 },
    wanted: 0.893,
    fast: true,
    parts: fashion,
  }),
  refined({
    name: "refined-4000",
    title: "Fashion-MNIST, 4,000 filters",
    about: "Eight banks of 500, at most 12 epochs.",
    params: { filters: 4000, committee: 8 },
    wanted: 0.9,
    parts: fashion,
  }),
  refined({
    name: "refined-kmnist",
    title: "KMNIST, 12,000 filters",
    about: "Six banks of 2,000, at most 9 epochs.",
    params: { filters: 12_000, committee: 6, refineEpochs: 9 },
    wanted: 0.945,
    parts: (bench) => numbers(bench, "kmnist"),
  }),
  refined({
    name: "refined-text",
    title: "20 Newsgroups, 20 filters",
    about:
      "Split by date, headers, footers and quotes removed, the 10,000 most frequent words, ln(1 + count) times the square of their rarity; Savage scores, one filter a class, at most 4 epochs.",
    params: { filters: 20, classWeight: "uniform", distribution: "savage", refineEpochs: 4 },
    wanted: 0.68,
    parts: words,
  }),
  refined({
    name: "refined-digits",
    title: "Digits, 100 filters",
    about: "The UCI digits in the order of the catalogue, one bank of 100 filters.",
    params: { filters: 100 },
    parts: (bench) => numbers(bench, "digits"),
  }),
];
