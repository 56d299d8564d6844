/** ONNX files before the judges of the format itself. Skipped where Python has no onnx, or no onnxruntime. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Dense,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
} from "@ranksim/core";
import { loadDigits } from "@ranksim/data";
import { afterAll, describe, expect, it } from "vitest";
import { exportOnnx } from "../src/index.ts";
import { pythonWith } from "./python.ts";

const folder = mkdtempSync(join(tmpdir(), "ranksim-onnx-"));
afterAll(() => rmSync(folder, { recursive: true }));

const digits = await loadDigits();
const x = digits.x as Dense;
const y = Array.from(digits.y as number[], (label) => `digit ${label}`);

const checker = pythonWith("onnx");
describe.skipIf(checker === undefined)("onnx.checker (needs Python with onnx)", () => {
  const models = {
    classifier: () => new RankSimilarityClassifier({ filters: 30, calibrate: "isotonic" }).fit(x, y),
    voters: () => new RankSimilarityClassifier({ filters: 30, voters: 3 }).fit(x, y),
    committee: () => new RankSimilarityClassifier({ filters: 30, committee: 2 }).fit(x, y),
    probabilistic: () => new RankSimilarityProbabilisticClassifier({ filters: 30, combine: "mean" }).fit(x, y),
    multilabel: () =>
      new RankSimilarityProbabilisticClassifier({ filters: 30, calibrate: "temperature" }).fit(
        x,
        y.map((label) => [label]),
      ),
    transform: () => new RankSimilarityTransform({ filters: 30 }).fit(x),
  };
  it.each(Object.keys(models) as (keyof typeof models)[])("accepts a %s, shapes and types included", async (name) => {
    const model = await models[name]();
    for (const rows of ["uint8", "float64"] as const) {
      const path = join(folder, `${name}-${rows}.onnx`);
      writeFileSync(path, exportOnnx(model, { rows }));
      const script = `import onnx, sys; onnx.checker.check_model(sys.argv[1], full_check=True)`;
      const { status, stderr } = spawnSync(checker as string, ["-c", script, path], { encoding: "utf8" });
      expect(stderr).toBe("");
      expect(status).toBe(0);
    }
  });
});

const runtime = pythonWith("onnxruntime", "numpy");
describe.skipIf(runtime === undefined)("onnxruntime (needs Python with onnxruntime)", () => {
  it("gives the labels of predict on all digits", async () => {
    const model = await new RankSimilarityClassifier({ filters: 100 }).fit(x, y);
    const [file, rows] = [join(folder, "model.onnx"), join(folder, "rows.bin")];
    writeFileSync(file, exportOnnx(model, { rows: "uint8" }));
    writeFileSync(rows, Uint8Array.from(x.values));
    const script = `
import json, sys, numpy, onnxruntime
rows = numpy.fromfile(sys.argv[2], dtype=numpy.uint8).reshape(-1, ${x.features})
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
print(json.dumps(session.run(["label"], {"rows": rows})[0].tolist()))`;
    const { stdout } = spawnSync(runtime as string, ["-c", script, file, rows], { encoding: "utf8" });
    expect(JSON.parse(stdout)).toEqual(await model.predict(x));
  });
});
