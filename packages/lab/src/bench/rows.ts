/** What the benchmark measures: pieces of work, and the systems that do each. A run is a process of its own. */

import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { execPath } from "node:process";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { drawTable } from "../accuracy/tables/draw-table.ts";
import { type DataName, type DataShelf, placesOf, rowsFor } from "../runner/data.ts";
import { measureApart, measureInPython, run, type Workshop } from "../runner/process.ts";
import type { Python } from "../runner/python.ts";
import type { Measured } from "../runner/results.ts";
import type { RowChoice } from "../runner/rows.ts";
import type { Build } from "./against.ts";
import type { FitJob } from "./fit.ts";
import { BIN } from "./functions.ts";
import { BARE, measureRecovery, measureServer } from "./serve.ts";

/** What measurements may use. */
export interface Tools {
  readonly shelf: DataShelf;
  readonly workshop: Workshop;
  readonly python: Python;
  /** Folder of the authors' package. */
  readonly pythonPackage: string | undefined;
  readonly quick: boolean;
}

/** One system at one piece of work. */
export interface BenchRow {
  readonly work: string;
  readonly system: string;
  readonly runs: number;
  /** Measured only where it is asked for: it needs a device, a launcher, or much time or memory. */
  readonly onDemand?: boolean;
  /** Whether it can be measured with the build of another commit. */
  readonly comparable?: boolean;
  measure(tools: Tools, build?: Build): Promise<Measured>;
}

/** Pieces of work, in the order of the tables. */
export const WORKS: { readonly [work: string]: string } = {
  classifier: "Classifier on Fashion-MNIST",
  probabilistic: "Probabilistic classifier on Fashion-MNIST",
  transform: "Transform on Fashion-MNIST",
  newsgroups: "Classifier on 20 Newsgroups, all words",
  read: "Reading and training",
  "start-up": "From the start of a program to the first prediction of a saved classifier",
  gpu: "On a GPU",
  mpi: "Two processes",
  serve: "The server: 64 connections, single rows of 784 numbers, 300 filters",
  overload: "The server with one connection, before and after ten times the connections for ten minutes",
};

const SEED = 0;
const LIMIT_SECONDS = 400;
const OURS = "**ranksim**";
export const ONE_CORE = `${OURS}, 1 thread`;
export const AUTHORS = "authors' Python package";
const PIXELS = 784;

type Phase = "fit" | "predict" | "probabilities" | "transform";
const CLASSIFY: readonly Phase[] = ["fit", "predict", "probabilities"];
const WHOLE: RowChoice = { seed: SEED };

function ours(work: string, system: string, data: DataName, job: FitJob, more: Partial<BenchRow> = {}): BenchRow {
  return {
    work,
    system,
    runs: 5,
    comparable: job.backend === "wasm",
    ...more,
    async measure({ shelf, workshop, quick }, build) {
      const places = await placesOf(shelf, workshop.scratch, data, rowsFor(quick, data, WHOLE));
      return measureApart(workshop, "bench/fit", { ...places, ...job, ...(build ? { core: build.core } : {}) });
    },
  };
}

/** Ours on one thread and on two. */
function oursTwice(work: string, data: DataName, estimator: FitJob["estimator"]): BenchRow[] {
  const params = { seed: SEED };
  return [
    ours(work, ONE_CORE, data, { estimator, backend: "wasm", params }),
    ours(work, `${OURS}, 2 threads`, data, { estimator, backend: "threads", threads: 2, params }),
  ];
}

/** A system of the Python side: an estimator with its parameters, given rows of a type. */
function python(
  work: string,
  system: string,
  data: DataName,
  runs: number,
  [estimator, params]: readonly [name: string, params: object],
  more: { readonly phases?: readonly Phase[]; readonly scale?: string; readonly type?: string } = {},
): BenchRow {
  const { phases = CLASSIFY, scale = "none", type = "float32" } = more;
  return {
    work,
    system,
    runs,
    async measure({ shelf, workshop, python: found, pythonPackage, quick }) {
      const lacking = found.lacks(estimator.startsWith("ranksim.") ? "ranksim" : "sklearn");
      if (lacking !== undefined) throw new Error(lacking);
      const places = await placesOf(shelf, workshop.scratch, data, rowsFor(quick, data, WHOLE));
      const spec = { system: estimator, params, scale };
      const job = {
        spec,
        phases,
        type,
        limitSeconds: LIMIT_SECONDS,
        ...(pythonPackage ? { package: pythonPackage } : {}),
      };
      return measureInPython(workshop, "peers.py", { ...places, ...job });
    },
  };
}

const AUTHORS_SEED = { random_state: SEED };
const RSC = ["ranksim.RankSimilarityClassifier", AUTHORS_SEED] as const;

/** Reads a source and trains what a preset suggests. */
const read = (system: string, source: string, quickSource: string): BenchRow => ({
  work: "read",
  system,
  runs: 5,
  comparable: true,
  measure: ({ workshop, quick }, build) =>
    measureApart(workshop, "bench/read", { source: quick ? quickSource : source, preset: "fast", ...build }),
});

const DRAWN = { table: 3, rows: 100_000, quickRows: 300 };

/** The same for a large CSV that is drawn first. */
const readDrawn: BenchRow = {
  work: "read",
  system: `a CSV of ${DRAWN.rows.toLocaleString("en-US")} rows`,
  runs: 5,
  comparable: true,
  async measure({ workshop, quick }, build) {
    const source = join(workshop.scratch, "drawn.csv");
    const { x, y } = drawTable(DRAWN.table, quick ? DRAWN.quickRows : DRAWN.rows);
    const lines = function* () {
      yield `${Array.from({ length: x.features }, (_, i) => `column ${i}`).join(",")},label\n`;
      for (let r = 0; r < x.rows; r++) yield `${Array.from(x.row(r)).join(",")},class ${y[r]}\n`;
    };
    await pipeline(Readable.from(lines()), createWriteStream(source));
    return measureApart(workshop, "bench/read", { source, preset: "fast", ...build });
  },
};

/** Runs a line of the built command. */
async function command(line: string, launcher: readonly string[] = []): Promise<void> {
  const [program, ...args] = [...launcher, execPath, BIN, ...line.split(" ")];
  await run(program, args, process.env, LIMIT_SECONDS);
}

/** Trains a small classifier of images with the command; the path of its file. */
async function trainedModel({ workshop, quick }: Tools): Promise<string> {
  const path = join(workshop.scratch, "images.ranksim");
  const data = quick ? "digits:train" : "fashion-mnist:train";
  await command(`train ${data} --estimator classifier --filters 300 --seed 0 --quiet --model ${path}`);
  return path;
}

const QUICK_PIXELS = 64;

const startUp: BenchRow = {
  work: "start-up",
  system: OURS,
  runs: 10,
  async measure(tools) {
    const script = join(import.meta.dirname, "start-up.js");
    const args = [script, await trainedModel(tools), String(tools.quick ? QUICK_PIXELS : PIXELS)];
    return { figures: JSON.parse(await run(execPath, args, process.env, LIMIT_SECONDS)) };
  },
};

const server = (system: string, args: (tools: Tools) => Promise<readonly string[]>): BenchRow => ({
  work: "serve",
  system,
  runs: 3,
  onDemand: true,
  measure: async (tools) => measureServer(await args(tools), tools.quick ? QUICK_PIXELS : PIXELS),
});

const SERVE = async (tools: Tools) => [BIN, "serve", await trainedModel(tools), "--port", "0", "--json", "-q"];

/** Ten minutes of more than it can answer. */
const recovery: BenchRow = {
  work: "overload",
  system: OURS,
  runs: 1,
  onDemand: true,
  measure: async (tools) =>
    measureRecovery(await SERVE(tools), tools.quick ? QUICK_PIXELS : PIXELS, tools.quick ? 2 : 600),
};

/** A probabilistic fit by the command, by the clock; training alone is what processes share. */
const processes = (count: number): BenchRow => ({
  work: "mpi",
  system: `${OURS}, ${count} ${count === 1 ? "process" : "processes"} of one thread`,
  runs: 7,
  onDemand: true,
  async measure({ workshop, quick }) {
    const data = quick ? "digits" : "fashion-mnist:train";
    const model = join(workshop.scratch, "processes.ranksim");
    const began = performance.now();
    const line = `train ${data} --estimator probabilistic --threads 1 --quiet --model ${model}`;
    await command(line, ["mpirun", "-n", String(count)]);
    return { figures: { commandClock: (performance.now() - began) / 1000 } };
  },
});

const onGpu = (estimator: FitJob["estimator"]): BenchRow[] =>
  (["gpu", "threads"] as const).map((backend) =>
    ours(
      "gpu",
      `${estimator}, ${backend === "gpu" ? "GPU" : "all threads"}`,
      "fashion",
      { estimator, backend, params: { seed: SEED } },
      { onDemand: true },
    ),
  );

export const ROWS: readonly BenchRow[] = [
  ...oursTwice("classifier", "fashion", "classifier"),
  ours(
    "classifier",
    `${OURS}, 300 refined filters, 1 thread`,
    "fashion",
    { estimator: "classifier", backend: "wasm", params: { seed: SEED, filters: 300, refine: true } },
    { runs: 3 },
  ),
  python("classifier", AUTHORS, "fashion", 5, RSC),
  python("classifier", `${AUTHORS}, rows as bytes`, "fashion", 2, RSC, { type: "uint8" }),
  python(
    "classifier",
    "scikit-learn KNN (k = 5, brute force)",
    "fashion",
    2,
    ["KNeighborsClassifier", { n_neighbors: 5, algorithm: "brute", n_jobs: 1 }],
    { phases: ["fit", "predict"] },
  ),
  python("classifier", "scikit-learn LinearSVC", "fashion", 1, ["LinearSVC", { random_state: SEED }], {
    phases: ["fit", "predict"],
    scale: "unit",
  }),
  python(
    "classifier",
    "scikit-learn MLP (100, 10 epochs)",
    "fashion",
    2,
    ["MLPClassifier", { hidden_layer_sizes: [100], max_iter: 10, random_state: SEED }],
    { scale: "unit" },
  ),
  python("classifier", "scikit-learn ExtraTrees (100)", "fashion", 2, [
    "ExtraTreesClassifier",
    { n_estimators: 100, n_jobs: 1, random_state: SEED },
  ]),
  ...oursTwice("probabilistic", "fashion", "probabilistic"),
  python("probabilistic", AUTHORS, "fashion", 2, ["ranksim.RSPClassifier", AUTHORS_SEED]),
  ...oursTwice("transform", "fashion", "transform"),
  python("transform", AUTHORS, "fashion", 1, ["ranksim.RankSimilarityTransform", AUTHORS_SEED], {
    phases: ["fit", "transform"],
  }),
  ...oursTwice("newsgroups", "newsgroups-words", "classifier"),
  python("newsgroups", AUTHORS, "newsgroups-words", 3, RSC),
  read("digits", "digits", "digits:test"),
  read("60,000 images", "fashion-mnist:train", "digits:train"),
  readDrawn,
  startUp,
  ...onGpu("classifier"),
  ...onGpu("probabilistic"),
  processes(1),
  processes(2),
  server(OURS, SERVE),
  server("bare node:http", async () => BARE),
  recovery,
];
