/**
 * Packages that a TypeScript user would pick for classification, each behind the same two calls. They are loaded by name
 * when asked for, so a package that is not installed is a message, not a failure of the whole.
 */

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { f1 } from "@ranksim/core";
import { readPart } from "./data-files.ts";
import type { PeerJob } from "./job.ts";
import { Stopwatch } from "./measure.ts";
import type { RunResult } from "./results.ts";

type Rows = number[][];
type Predict = (x: Rows) => number[] | Promise<number[]>;
type Fit = (x: Rows, y: number[], seed: number) => Predict | Promise<Predict>;

/** Neighbours of the k-nearest-neighbour peers, as for scikit-learn's. */
const NEIGHBOURS = 5;

// CommonJS resolution, because it also looks in the folders of NODE_PATH.
const load = createRequire(import.meta.url);

/** A peer: the packages it needs and how it is loaded. Loading is not timed. */
interface NpmPeer {
  readonly packages: readonly string[];
  readonly open: () => Fit | Promise<Fit>;
}

export const NPM_PEERS: { readonly [name: string]: NpmPeer } = {
  "ml-knn": {
    packages: ["ml-knn"],
    open() {
      interface Knn {
        predict(x: Rows): number[];
      }
      const Knn = load("ml-knn") as new (x: Rows, y: number[], options: { k: number }) => Knn;
      return (x, y) => {
        const knn = new Knn(x, y, { k: NEIGHBOURS });
        return (test) => knn.predict(test);
      };
    },
  },
  "ml-random-forest": {
    packages: ["ml-random-forest"],
    open() {
      interface Forest {
        train(x: Rows, y: number[]): void;
        predict(x: Rows): number[];
      }
      const { RandomForestClassifier } = load("ml-random-forest") as {
        RandomForestClassifier: new (options: { seed: number; noOOB: boolean; maxFeatures: number }) => Forest;
      };
      return (x, y, seed) => {
        // The square root of the features, as forests elsewhere have it; with all of them, the default, training takes far longer.
        const forest = new RandomForestClassifier({
          seed,
          noOOB: true,
          maxFeatures: Math.round(Math.sqrt(x[0].length)),
        });
        forest.train(x, y);
        return (test) => forest.predict(test);
      };
    },
  },
  "libsvm-wasm": {
    packages: ["libsvm-wasm"],
    async open() {
      interface Svm {
        init(): Promise<void>;
        feedSamples(x: Rows, y: number[]): void;
        train(): Promise<void>;
        predict(row: number[]): number;
      }
      const { SVM, SVMParam } = load("libsvm-wasm") as {
        SVM: new (param: unknown) => Svm;
        SVMParam: new (param: { svm_type: number; kernel_type: number; C: number }) => unknown;
      };
      const CLASSIFIER = 0;
      const LINEAR = 0;
      const svm = new SVM(new SVMParam({ svm_type: CLASSIFIER, kernel_type: LINEAR, C: 1 }));
      // Where there is a `fetch`, its loader takes the module's path for a web address and fails.
      Reflect.deleteProperty(globalThis, "fetch");
      await svm.init();
      const scaled = (rows: Rows) => rows.map((row) => row.map((value) => value / 255));
      return async (x, y) => {
        svm.feedSamples(scaled(x), y);
        await svm.train();
        return (test) => scaled(test).map((row) => svm.predict(row));
      };
    },
  },
  "@tensorflow-models/knn-classifier": {
    packages: ["@tensorflow/tfjs", "@tensorflow-models/knn-classifier"],
    async open() {
      interface Tensor {
        dispose(): void;
      }
      interface Tensorflow {
        setBackend(name: string): Promise<boolean>;
        tensor1d(values: number[]): Tensor;
      }
      interface KnnClassifier {
        addExample(example: Tensor, label: number): void;
        predictClass(input: Tensor, k: number): Promise<{ label: string }>;
      }
      const tf = load("@tensorflow/tfjs") as Tensorflow;
      const { create } = load("@tensorflow-models/knn-classifier") as { create(): KnnClassifier };
      await tf.setBackend("cpu");
      return (x, y) => {
        const knn = create();
        x.forEach((row, r) => {
          const example = tf.tensor1d(row);
          knn.addExample(example, y[r]);
          example.dispose();
        });
        return async (test) => {
          const labels: number[] = [];
          for (const row of test) {
            const input = tf.tensor1d(row);
            labels.push(Number((await knn.predictClass(input, NEIGHBOURS)).label));
            input.dispose();
          }
          return labels;
        };
      };
    },
  },
};

/** The first package a peer needs and that is not installed. */
export function missingPackage(peer: NpmPeer): string | undefined {
  return peer.packages.find((name) => {
    try {
      load.resolve(name);
      return false;
    } catch {
      return true;
    }
  });
}

/** Version of an installed package, from the first package.json above its entry that bears its name. */
export function packageVersion(name: string): string {
  for (let folder = dirname(load.resolve(name)); folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, "package.json");
    if (!existsSync(path)) continue;
    const found = JSON.parse(readFileSync(path, "utf8")) as { name?: string; version?: string };
    if (found.name === name) return found.version ?? "unknown";
  }
  return "unknown";
}

/** Fits and applies one peer. */
export async function measurePeer(job: PeerJob): Promise<RunResult> {
  const fit = await NPM_PEERS[job.peer].open();
  const [train, test] = [readPart(job.data, "train"), readPart(job.data, "test")];
  const [trainRows, testRows] = [rowsOf(train.x), rowsOf(test.x)];
  const labels = Array.from(train.y);
  const watch = new Stopwatch();
  const predict = await watch.phase("fit", () => fit(trainRows, labels, job.seed));
  const predicted = await watch.phase("predict", () => predict(testRows));
  return watch.result({ macroF1: f1(test.y, predicted, { average: "macro" }) }, {});
}

function rowsOf(x: ReturnType<typeof readPart>["x"]): Rows {
  if (x.form !== "dense") throw new Error("npm peers are measured on dense rows");
  return Array.from({ length: x.rows }, (_, r) => Array.from(x.row(r)));
}
