/**
 * What is measured: the pieces of work, the systems, and which system does which work how often. The order of runs is round
 * by round through all systems, so that a slow spell of the machine falls on all of them.
 */

import type { EstimateJob, NodeJob, PythonJob } from "./job.ts";
import { NPM_PEERS } from "./npm-peers.ts";
import type { PhaseName } from "./results.ts";

/** One system at one piece of work. */
export interface Case {
  readonly work: string;
  readonly system: string;
  /** The data it needs, by name. */
  readonly data: string;
  readonly runs: number;
  readonly limitSeconds: number;
  /** Whether the clock matters, not only processor time. */
  readonly byTheClock?: boolean;
  /** The job in the folder of its data. */
  readonly job: (data: string, options: CaseOptions) => NodeJob | PythonJob;
}

/** What jobs are told from outside. */
interface CaseOptions {
  readonly pythonPackage: string | undefined;
  /** Where the default classifier of Fashion-MNIST is left. */
  readonly model: string;
}

/** Pieces of work, in the order of the tables. */
export const WORKS: { readonly [work: string]: string } = {
  classifier: "Classifier on Fashion-MNIST",
  probabilistic: "Probabilistic classifier on Fashion-MNIST",
  transform: "Transform on Fashion-MNIST",
  newsgroups: "Classifier on 20 Newsgroups, all words",
  small: "A small part of Fashion-MNIST, for npm packages",
};

/** Systems by name, as the tables show them. */
export const SYSTEMS: { readonly [system: string]: string } = {
  ranksim: "**ranksim**, 1 thread",
  "ranksim-2": "**ranksim**, 2 threads",
  "ranksim-refined": "**ranksim**, 300 refined filters, 1 thread",
  authors: "authors' Python package",
  "authors-bytes": "authors' Python package, rows as bytes",
  "sklearn.knn": "scikit-learn KNN (k = 5, brute force)",
  "sklearn.linear-svc": "scikit-learn LinearSVC",
  "sklearn.mlp": "scikit-learn MLP (100, 10 epochs)",
  "sklearn.extra-trees": "scikit-learn ExtraTrees (100)",
  "ml-knn": "ml-knn (k = 5)",
  "ml-random-forest": "ml-random-forest (50 trees, √n features)",
  "libsvm-wasm": "libsvm-wasm (linear, C = 1)",
  "@tensorflow-models/knn-classifier": "TensorFlow.js knn-classifier (k = 5)",
};

const SEED = 0;
const LIMIT_SECONDS = 400;
/** Patience with an npm package; one that takes longer is reported so. */
const NPM_LIMIT_SECONDS = 90;

/** All cases of a full session, or of a quick one. */
export function planCases(quick: boolean): readonly Case[] {
  const runs = (full: number) => (quick ? 1 : full);
  const ours = (work: string, data: string, estimator: EstimateJob["estimator"], phases: PhaseName[]): Case[] =>
    [1, 2].map((threads) => ({
      work,
      system: threads === 1 ? "ranksim" : "ranksim-2",
      data,
      runs: runs(5),
      limitSeconds: LIMIT_SECONDS,
      byTheClock: true,
      job: (folder, { model }) => ({
        task: "estimate",
        estimator,
        backend: threads === 1 ? "wasm" : "threads",
        threads,
        data: folder,
        phases,
        seed: SEED,
        ...(work === "classifier" && threads === 1 ? { saveTo: model } : {}),
      }),
    }));
  const python = (
    work: string,
    data: string,
    system: string,
    pythonSystem: string,
    full: number,
    phases: PhaseName[],
    dtype = "float32",
  ): Case => ({
    work,
    system,
    data,
    runs: runs(full),
    limitSeconds: LIMIT_SECONDS,
    job: (folder, { pythonPackage }) => ({
      task: "python",
      system: pythonSystem,
      package: pythonPackage,
      data: folder,
      phases,
      seed: SEED,
      dtype,
    }),
  });
  const classify: PhaseName[] = ["fit", "predict", "probabilities"];
  return [
    ...ours("classifier", "fashion", "classifier", classify),
    {
      work: "classifier",
      system: "ranksim-refined",
      data: "fashion",
      runs: runs(3),
      limitSeconds: LIMIT_SECONDS,
      byTheClock: true,
      job: (data) => ({
        task: "estimate",
        estimator: "classifier",
        backend: "wasm",
        threads: 1,
        data,
        phases: classify,
        seed: SEED,
        params: { filters: 300, refine: true },
      }),
    },
    python("classifier", "fashion", "authors", "ranksim.RankSimilarityClassifier", 5, classify),
    python("classifier", "fashion", "authors-bytes", "ranksim.RankSimilarityClassifier", 2, classify, "uint8"),
    python("classifier", "fashion", "sklearn.knn", "sklearn.knn", 2, ["fit", "predict"]),
    python("classifier", "fashion", "sklearn.linear-svc", "sklearn.linear-svc", 1, ["fit", "predict"]),
    python("classifier", "fashion", "sklearn.mlp", "sklearn.mlp", 2, classify),
    python("classifier", "fashion", "sklearn.extra-trees", "sklearn.extra-trees", 2, classify),
    ...ours("probabilistic", "fashion", "probabilistic", classify),
    python("probabilistic", "fashion", "authors", "ranksim.RSPClassifier", 2, classify),
    ...ours("transform", "fashion", "transform", ["fit", "transform"]),
    python("transform", "fashion", "authors", "ranksim.RankSimilarityTransform", 1, ["fit", "transform"]),
    ...ours("newsgroups", "newsgroups", "classifier", classify),
    python("newsgroups", "newsgroups", "authors", "ranksim.RankSimilarityClassifier", 3, classify),
    ...ours("small", "small", "classifier", classify).slice(0, 1),
    ...Object.keys(NPM_PEERS).map(
      (peer): Case => ({
        work: "small",
        system: peer,
        data: "small",
        runs: runs(2),
        limitSeconds: quick ? 20 : NPM_LIMIT_SECONDS,
        job: (folder) => ({ task: "npm-peer", peer, data: folder, seed: SEED }),
      }),
    ),
  ];
}

/** Kernels as the tables show them. */
export const KERNEL_TITLES: { readonly [kernel: string]: string } = {
  naive: "naive loop in JavaScript",
  reference: "reference kernel (exact sums in a fixed order, plain loops)",
  "wasm-full": "WebAssembly, every product",
  wasm: "WebAssembly, pruned",
};

/** Kernels, with the rows each is given (slow ones get few). */
export const KERNELS: readonly { readonly kernel: string; readonly rows: number; readonly k: number }[] = [
  { kernel: "naive", rows: 200, k: 1 },
  { kernel: "reference", rows: 200, k: 1 },
  { kernel: "wasm-full", rows: 10_000, k: 1 },
  { kernel: "wasm", rows: 10_000, k: 1 },
  { kernel: "wasm-full", rows: 10_000, k: 25 },
  { kernel: "wasm", rows: 10_000, k: 25 },
];

/** One size of a growth curve. */
export interface Growth {
  readonly axis: "rows" | "features" | "filters";
  readonly rows: number;
  readonly features: number;
  readonly filters: number;
}

/** Sizes of the growth curves; two of the three sizes stay fixed on each. */
export function planGrowth(quick: boolean): readonly Growth[] {
  const [rows, features, filters] = quick ? [2000, 32, 100] : [50_000, 64, 1000];
  const along = (axis: Growth["axis"], sizes: readonly number[]) =>
    sizes.map((size) => ({ axis, rows, features, filters, [axis]: size }));
  if (quick) return [...along("rows", [1000, 4000]), ...along("features", [16, 64]), ...along("filters", [50, 200])];
  return [
    ...along("rows", [10_000, 30_000, 100_000, 300_000, 1_000_000]),
    ...along("features", [16, 64, 256, 1024]),
    ...along("filters", [100, 300, 1000, 3000, 10_000]),
  ];
}
