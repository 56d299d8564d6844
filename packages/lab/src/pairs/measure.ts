/** The process that measures one row of the comparison with one build of the core. Argument: the job as JSON, with the path for the result. */

import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { argv } from "node:process";
import type * as Core from "@ranksim/core";
import { type Part, readPart } from "../bench/data-files.ts";
import { timed } from "../bench/measure.ts";

/** A row of the comparison. */
export interface PairJob {
  /** The built core, as an address to import. */
  readonly core: string;
  readonly estimator: "classifier" | "probabilistic" | "transform";
  readonly params: { readonly [name: string]: unknown };
  readonly data: string;
  readonly out: string;
}

/** Processor seconds of each call, and a digest of the model. */
export interface PairResult {
  readonly cpu: { readonly [phase: string]: number };
  readonly digest: string;
}

const job = JSON.parse(argv[2]) as PairJob;
const core = (await import(job.core)) as typeof Core;
const backend = await core.openBackend("wasm");
writeFileSync(job.out, JSON.stringify(await measure()));
await backend.close();

async function measure(): Promise<PairResult> {
  const run = { backend };
  const train = read("train");
  const test = read("test");
  const cpu: { [phase: string]: number } = {};
  const phase = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
    const [result, time] = await timed(call);
    cpu[name] = time.cpu;
    return result;
  };
  if (job.estimator === "transform") {
    const recipe = new core.RankSimilarityTransform(job.params);
    const model = await phase("fit", () => recipe.fit(train.x, undefined, run));
    await phase("transform", () => model.transform(test.x, run));
    return { cpu, digest: digestOf(core.saveModel(model)) };
  }
  const recipe =
    job.estimator === "classifier"
      ? new core.RankSimilarityClassifier(job.params)
      : new core.RankSimilarityProbabilisticClassifier(job.params);
  const model = await phase<Core.ClassifierModel | Core.ProbabilisticModel>("fit", () =>
    recipe.fit(train.x, train.y, run),
  );
  await phase("predict", () => model.predict(test.x, run));
  await phase("probabilities", () => model.predictProbabilities(test.x, run));
  return { cpu, digest: digestOf(core.saveModel(model)) };
}

/** A part of the data as a matrix of the core that is measured. */
function read(part: string): Part {
  const { x, y } = readPart(job.data, part);
  return x.form === "dense"
    ? { x: core.Dense.of(x.values, x.rows, x.features), y }
    : { x: core.Csr.of(x.offsets, x.indices, x.values, x.features), y };
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}
