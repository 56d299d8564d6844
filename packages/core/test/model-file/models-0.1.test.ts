/**
 * Files of version 0.1 load and answer as they did. The files in golden/data/0.1, and the answers beside them, were written by the
 * code of that version and are never written again.
 */

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Dense } from "../../src/matrix/dense.ts";
import { type Matrix, toCsr } from "../../src/matrix/matrix.ts";
import { loadModel } from "../../src/model-file/load.ts";
import { saveModel } from "../../src/model-file/save.ts";
import type { Model, PredictingModel, TransformingModel } from "../../src/models/estimator.ts";

interface Answers {
  readonly rows: "bytes" | "reals" | "sparse";
  readonly labels?: unknown[];
  readonly probabilities?: number[];
  readonly values?: number[] | { offsets: number[]; indices: number[]; values: number[] };
  readonly strongest?: number[];
}

const folder = new URL("golden/data/0.1/", import.meta.url);
const read = (name: string) => readFileSync(new URL(name, folder));
const { rows, features, dense, few, models } = JSON.parse(read("answers.json").toString()) as {
  readonly rows: number;
  readonly features: number;
  readonly dense: string;
  readonly few: string;
  readonly models: { readonly [name: string]: Answers };
};

const bytes = new Uint8Array(Buffer.from(dense, "base64"));
const data: Record<Answers["rows"], Matrix> = {
  bytes: Dense.of(bytes, rows, features),
  reals: Dense.of(
    Float64Array.from(bytes, (value) => value / 7 - 3),
    rows,
    features,
  ),
  sparse: toCsr(Dense.of(new Uint8Array(Buffer.from(few, "base64")), rows, features)),
};

const plain = (found: Matrix) =>
  found.form === "dense"
    ? Array.from(found.values)
    : { offsets: [...found.offsets], indices: [...found.indices], values: [...found.values] };

describe.each(Object.entries(models))("%s of version 0.1", (name, answers) => {
  const file = read(`${name}.safetensors`);
  const model = loadModel(new Uint8Array(file)) as Model as Partial<PredictingModel & TransformingModel> & {
    explain?(x: Matrix, row: number): Promise<{ strongest?: readonly { filter: number }[] }>;
  };
  const x = data[answers.rows];

  it("gives the same answers, to the bit", async () => {
    const { labels, probabilities, values, strongest } = answers;
    expect([labels, probabilities, values].some((one) => one !== undefined)).toBe(true);
    if (labels) expect(await model.predict?.(x)).toEqual(labels);
    if (probabilities) expect(plain((await model.predictProbabilities?.(x)) as Dense)).toEqual(probabilities);
    if (values) expect(plain((await model.transform?.(x)) as Matrix)).toEqual(values);
    if (strongest) {
      expect((await model.explain?.(x, 7))?.strongest?.map(({ filter }) => filter)).toEqual(strongest);
    }
  });

  it("is saved as the same file", () => {
    expect(Buffer.compare(saveModel(model as Model), file)).toBe(0);
  });
});
