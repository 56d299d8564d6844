/**
 * `ranksim demo`: the whole way in under a minute and without a network. Trains on the embedded digits by the default preset and by
 * the paper's plain method, compares both with one nearest neighbour, draws filters in the terminal, writes a model and a report.
 */

import { dirname, join } from "node:path";
import {
  type ClassifierModel,
  type Dense,
  expandFilter,
  type PipelineModel,
  type PredictingModel,
  RankSimilarityClassifier,
  type Run,
  saveModel,
} from "@ranksim/core";
import { loadDigits } from "@ranksim/data";
import {
  accuracy,
  filterPart,
  type Interval,
  type Preset,
  shareInterval,
  train as trainByPreset,
  trainTestSplit,
} from "@ranksim/learn";
import type { Command } from "commander";
import { commandName } from "../command-name.ts";
import { writeTo } from "../files/output.ts";
import type { Io, Output } from "../io.ts";
import { patchesOf } from "../model/patch-view.ts";
import { writeModel } from "../model/store.ts";
import { pictureOf } from "../pictures/picture.ts";
import { makeReport } from "../report/make.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { type Captioned, drawPictures } from "../terminal/draw.ts";
import { bytes, count, score, seconds } from "../terminal/numbers.ts";
import { table } from "../terminal/table.ts";
import { nearestNeighbour } from "./nearest-neighbour.ts";

/** Filters of the plain method. */
const FILTERS = 200;
const SEED = 1;
/** Patch filters that are drawn. */
const PATCHES_SHOWN = 20;
/** Processor seconds that repeated predictions are measured over: the system's clock is too coarse for one. */
const MEASURED_SECONDS = 0.4;

type Options = ComputeOptions & { readonly folder: string };

/** Adds the command. */
export function addDemo(program: Command, io: Io): void {
  const command = program
    .command("demo")
    .summary("see it work, offline, in under a minute")
    .description(
      "Trains on 1,348 handwritten digits by the preset `balanced` and by the paper's plain method, compares both with one nearest neighbour on 449 others, draws some filters and writes a model, a report and the digits as a table.",
    )
    .option("--folder <path>", "where its files go", "ranksim-demo");
  addCommonOptions(addComputeOptions(command)).action(async (options: Options) => {
    const session = new Session(io, options);
    await demo(session, options);
  });
}

/** What the demo writes. */
interface Paths {
  readonly modelPath: string;
  readonly reportPath: string;
  readonly tablePath: string;
}

/** One method's figures. */
interface Figures {
  readonly accuracy: number;
  readonly cpuSeconds: number;
  readonly byteLength: number;
}

async function demo(session: Session, options: Options): Promise<void> {
  const { io, style } = session;
  const digits = await loadDigits();
  const { train, test } = trainTestSplit(digits.x, digits.y, { seed: SEED, stratify: true });
  if (!session.json) {
    await io.stdout.write(
      `${style.strong("Handwritten digits")}, 8 × 8 pixels: ${count(train.x.rows)} to learn from, ${count(test.x.rows)} to be asked about.\n\n`,
    );
  }
  const inFolder = (name: string) => join(options.folder, name);
  const paths = {
    modelPath: inFolder("digits.ranksim"),
    reportPath: inFolder("report.html"),
    tablePath: inFolder("digits.csv"),
  };
  const { modelPath, reportPath, tablePath } = paths;
  const { stored, model, plain, figures, page, recipe } = await session.compute("training", options, async (run) => {
    const plain = await new RankSimilarityClassifier({ filters: FILTERS, seed: SEED }).fit(train.x, train.y, run);
    const data = { form: "matrix" as const, ...train, imageSize: digits.imageSize };
    const { model, recipe } = await trainByPreset(data, { seed: SEED, ...run });
    const stored = await writeModel(model, modelPath, io);
    const asked = model as unknown as PredictingModel;
    const figures = {
      ours: await judge(asked, stored.byteLength, test.x, test.y, run),
      plain: await judge(plain, saveModel(plain).byteLength, test.x, test.y, run),
    };
    const { page } = await makeReport(
      {
        ...stored,
        modelName: stored.name,
        title: "Handwritten digits",
        data: { form: "matrix", ...test, imageSize: digits.imageSize },
        dataName: "digits",
        imageSize: digits.imageSize,
        samples: 10,
      },
      { ...(run.backend ? { backend: run.backend } : {}), ...(run.signal ? { signal: run.signal } : {}) },
    );
    return { stored, model: model as PipelineModel, plain, figures, page, recipe };
  });
  await writeTo(reportPath, [new TextEncoder().encode(page)], io);
  await writeTo(tablePath, tableOf(digits.x, digits.y), io);
  const neighbour = await judgeNeighbour(train.x, train.y, test.x, test.y);
  const own = filterPart(model)?.part.report;
  const value = {
    rows: { train: train.x.rows, test: test.x.rows },
    recipe: { preset: recipe.preset as Preset, about: recipe.about }, // no estimator was named
    rankSimilarity: {
      ...figures.ours,
      filters: filtersOf(model),
      digest: stored.digest,
      trainingSeconds: own?.seconds,
    },
    plain: { ...figures.plain, filters: plain.report.filters, trainingSeconds: plain.report.seconds },
    nearestNeighbour: neighbour,
    model: modelPath,
    report: reportPath,
    table: tablePath,
  };
  await session.print("demo", value, () =>
    forPeople(session, { model, plain }, { ...figures, neighbour }, paths, test.x.rows),
  );
}

/** Filters of patches and of classes together. */
function filtersOf(model: PipelineModel): number {
  const patches = patchesOf(model)?.layers.reduce((sum, { bank }) => sum + bank.filters, 0) ?? 0;
  return patches + (filterPart(model)?.part.report.filters ?? 0);
}

/** The digits as a table of the kind people have: a line of names, numbers, the class in a column. */
function* tableOf(x: Dense, y: readonly number[]): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode(`${Array.from({ length: x.features }, (_, i) => `pixel ${i}`).join(",")},digit\n`);
  for (let r = 0; r < x.rows; r++) yield encoder.encode(`${x.row(r).join(",")},${y[r]}\n`);
}

async function judge(
  model: PredictingModel,
  byteLength: number,
  x: Dense,
  y: readonly number[],
  { backend }: Run,
): Promise<Figures> {
  const quiet = backend ? { backend } : {};
  const predicted = (await model.predict(x, quiet)) as number[];
  const cpuSeconds = await processorTime(() => model.predict(x, quiet));
  return { accuracy: accuracy(y, predicted), cpuSeconds, byteLength };
}

async function judgeNeighbour(
  train: Dense,
  labels: readonly number[],
  x: Dense,
  y: readonly number[],
): Promise<Figures> {
  const predicted = nearestNeighbour(train, labels, x);
  const cpuSeconds = await processorTime(() => nearestNeighbour(train, labels, x));
  return { accuracy: accuracy(y, predicted), cpuSeconds, byteLength: train.values.byteLength + labels.length };
}

/** Processor seconds of one call, as the mean of many after a first that warms up. */
async function processorTime(call: () => unknown): Promise<number> {
  await call();
  const before = process.cpuUsage();
  for (let calls = 1; ; calls++) {
    await call();
    const { user, system } = process.cpuUsage(before);
    const spent = (user + system) / 1e6;
    if (spent >= MEASURED_SECONDS) return spent / calls;
  }
}

function forPeople(
  { io, style }: Session,
  { model, plain }: { readonly model: PipelineModel; readonly plain: ClassifierModel },
  figures: { readonly ours: Figures; readonly plain: Figures; readonly neighbour: Figures },
  { modelPath, reportPath, tablePath }: Paths,
  test: number,
): string {
  const right = { align: "right" } as const;
  const line = (name: string, of: (figures: Figures) => string) => [
    name,
    style.strong(of(figures.ours)),
    of(figures.plain),
    of(figures.neighbour),
  ];
  const comparison = table(
    [
      { head: "" },
      { head: "rank similarity", ...right },
      { head: "the paper's", ...right },
      { head: "1 nearest neighbour", ...right },
    ],
    [
      line("accuracy", ({ accuracy }) => score(accuracy)),
      line("its 95 % interval", ({ accuracy }) => intervalOf(accuracy, test).map(score).join("–")),
      line("processor time to answer", ({ cpuSeconds }) => seconds(cpuSeconds)),
      line("size", ({ byteLength }) => bytes(byteLength)),
      ["runs on", style.strong(plain.report.backend ?? ""), plain.report.backend ?? "", "JavaScript loops"],
      [
        "compares each row with",
        style.strong(`${count(filtersOf(model))} filters`),
        `${count(plain.report.filters)} filters`,
        `${count(plain.report.rows)} rows`,
      ],
    ],
    style,
  );
  const again = join(dirname(modelPath), "again.ranksim");
  const next = [
    [`explain ${modelPath} digits --row 5`, "see which filters decide about one digit"],
    [`inspect ${modelPath}`, "see what is in the model file"],
    ["data list", "see what else can be trained on"],
    [
      `train ${tablePath} --label digit --test-share 0.2 --model ${again}`,
      "train on a table, as you would on your own",
    ],
  ].map(([rest, about]) => `  ${style.accent(`${commandName(io)} ${rest}`)}\n      ${style.faint(about)}\n`);
  return [
    comparison,
    ...levelWithNeighbour(figures, test),
    `\n${style.strong("Small pictures it looks for")}, some of them: ranks of the pixels of similar windows\n\n`,
    ...inBands(patchesToShow(model), io.stdout).map((band) => `${drawPictures(band, io.stdout, style, 2)}\n`),
    `${style.strong("Two filters of each digit")} of the paper's method: the rank order of the pixels of similar training rows\n\n`,
    ...inBands(filtersToShow(plain), io.stdout).map((band) => `${drawPictures(band, io.stdout, style, 2)}\n`),
    `Model in ${style.strong(modelPath)}, report in ${style.strong(reportPath)}: open it in a browser.\n\nTry next:\n`,
    ...next,
  ].join("");
}

const intervalOf = (accuracy: number, rows: number): Interval => shareInterval(Math.round(accuracy * rows), rows);

/** What so few rows cannot tell apart. */
function levelWithNeighbour(
  { ours, neighbour }: { readonly ours: Figures; readonly neighbour: Figures },
  rows: number,
) {
  const [low, high] = intervalOf(ours.accuracy, rows);
  if (neighbour.accuracy < low || neighbour.accuracy > high) return [];
  return [
    `\nOn ${count(rows)} digits one nearest neighbour is level: their accuracies cannot be told apart by so few.\n`,
  ];
}

/** The first patch filters: each is a picture of the size of a window. */
function patchesToShow(model: PipelineModel): Captioned[] {
  const [{ bank, windows }] = patchesOf(model)?.layers ?? [];
  return Array.from({ length: Math.min(PATCHES_SHOWN, bank.filters) }, (_, f) => ({
    picture: pictureOf(
      bank.weights.subarray(f * bank.features, (f + 1) * bank.features),
      windows.patchWidth,
      windows.patchHeight,
    ),
    caption: "",
  }));
}

/** Ten in a line, or five: so that the second filters stand under the first where the terminal is wide enough. */
function inBands(pictures: readonly Captioned[], { columns, colourDepth }: Output): Captioned[][] {
  const width = pictures[0].picture.width * (colourDepth >= 8 ? 1 : 2) + 2;
  const fit = Math.floor((columns - 2) / width);
  const each = [10, 5].find((count) => count <= fit) ?? Math.max(1, fit);
  return Array.from({ length: Math.ceil(pictures.length / each) }, (_, b) => pictures.slice(b * each, (b + 1) * each));
}

/** The two filters of each class that stand for most rows. */
function filtersToShow(model: ClassifierModel): Captioned[] {
  const weights = new Float64Array(model.features);
  const side = Math.sqrt(model.features);
  const strongest = model.classes.map((_, c) =>
    Array.from(model.filterClass.keys())
      .filter((f) => model.filterClass[f] === c)
      .sort((a, b) => model.filterRows(b).length - model.filterRows(a).length || a - b),
  );
  return [0, 1].flatMap((place) =>
    model.classes.map((label, c) => {
      expandFilter(model.bank, strongest[c][place], weights);
      return { picture: pictureOf(weights, side, side), caption: String(label) };
    }),
  );
}
