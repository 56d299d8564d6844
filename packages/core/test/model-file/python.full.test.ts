/** python/ranksim_model.py must give the classes that the library gives. Skipped where python3 with numpy is missing. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { Dense } from "../../src/matrix/dense.ts";
import { toCsr } from "../../src/matrix/matrix.ts";
import type { Values } from "../../src/matrix/values.ts";
import { saveModel } from "../../src/model-file/save.ts";
import { RankSimilarityClassifier } from "../../src/models/classifier.ts";
import type { ClassifierModel } from "../../src/models/classifier-model.ts";
import type { ClassifierParams } from "../../src/models/params.ts";
import { RankSimilarityTransform } from "../../src/models/transform.ts";
import { drawBelow, drawUnit, generatorOf } from "../../src/random.ts";
import { plain, sample } from "./fake-models.ts";

const script = fileURLToPath(new URL("../../../../python/ranksim_model.py", import.meta.url));
const hasNumpy = spawnSync("python3", ["-c", "import numpy"]).status === 0;
const folder = mkdtempSync(join(tmpdir(), "ranksim-python-"));
afterAll(() => rmSync(folder, { recursive: true }));

const descr = { Uint8Array: "|u1", Uint16Array: "<u2", Int16Array: "<i2", Float32Array: "<f4", Float64Array: "<f8" };

/** A matrix as a .npy file of version 1.0. */
function npy(x: Dense): Uint8Array {
  const { values } = x;
  const type = descr[values.constructor.name as keyof typeof descr];
  const fields = `{'descr': '${type}', 'fortran_order': False, 'shape': (${x.rows}, ${x.features}), }`;
  const text = `${fields.padEnd(64 * Math.ceil((fields.length + 11) / 64) - 11)}\n`;
  const head = Buffer.from([0x93, ...Buffer.from("NUMPY"), 1, 0, text.length & 0xff, text.length >> 8]);
  return Buffer.concat([head, Buffer.from(text), Buffer.from(values.buffer, values.byteOffset, values.byteLength)]);
}

function python(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync("python3", [script, ...args], { encoding: "utf8" });
}

/** The classes that the script prints for a model and rows. */
function predictInPython(model: ClassifierModel, x: Dense): unknown[] {
  const [modelPath, rowsPath] = [join(folder, "model.safetensors"), join(folder, "rows.npy")];
  writeFileSync(modelPath, saveModel(model));
  writeFileSync(rowsPath, npy(x));
  const { status, stdout, stderr } = python(modelPath, rowsPath);
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Rows in three groups; few different values, so that responses tie often, and many zeros if `sparse`. */
function rowsOf(
  make: (values: Float64Array) => Values,
  features: number,
  sparse: boolean,
): { x: Dense; y: (string | number)[] } {
  const random = generatorOf(5);
  const names = ["Zürich", 3, "3"];
  const rows = 90;
  const values = new Float64Array(rows * features);
  const y = Array.from({ length: rows }, (_, r) => names[r % 3]);
  for (let r = 0; r < rows; r++) {
    for (let i = 0; i < features; i++) {
      if (sparse && drawBelow(random, 25) > 0) continue;
      const peak = i % 3 === r % 3 ? 2 : 0;
      values[r * features + i] =
        drawBelow(random, 4) + peak + (make(Float64Array.of(0.5))[0] === 0.5 ? drawUnit(random) : 0);
    }
  }
  return { x: Dense.of(make(values), rows, features), y };
}

describe.skipIf(!hasNumpy)("python/ranksim_model.py (python3 with numpy)", () => {
  it.each<[string, (values: Float64Array) => Values, number, boolean, Partial<ClassifierParams>]>([
    ["bytes", (v) => Uint8Array.from(v), 12, false, { filters: 30 }],
    ["negative numbers", (v) => Int16Array.from(v, (value) => 1 - value), 9, false, { filters: 6 }],
    ["float32", (v) => Float32Array.from(v), 13, false, { filters: 30 }],
    ["float64 with the confusion distribution", (v) => v, 11, false, { filters: 30, distribution: "confusion" }],
    [
      "bytes with the confusion distribution",
      (v) => Uint8Array.from(v),
      21,
      false,
      { filters: 12, distribution: "confusion" },
    ],
    ["a committee", (v) => Uint8Array.from(v), 12, false, { filters: 30, committee: 3 }],
    ...(["none", "temperature", "isotonic"] as const).flatMap((calibrate) =>
      [{}, { voters: 4 }, { committee: 3 }].map(
        (more): [string, (values: Float64Array) => Values, number, boolean, Partial<ClassifierParams>] => [
          `the most probable class, ${JSON.stringify(more)}, probabilities ${calibrate}`,
          (v) => Uint8Array.from(v),
          12,
          false,
          { filters: 30, decision: "probability", calibrate, ...more },
        ],
      ),
    ),
    ["sparse counts", (v) => Uint8Array.from(v), 200, true, { filters: 30 }],
    ["sparse floats", (v) => Float32Array.from(v), 203, true, { filters: 80, spreading: "none" }],
  ])("predicts as the library does: %s", async (_, make, features, sparse, params) => {
    const { x, y } = rowsOf(make, features, sparse);
    const model = await new RankSimilarityClassifier({ seed: 1, ...params }).fit(sparse ? toCsr(x) : x, y);
    expect("base" in model.save().arrays).toBe(sparse);
    const expected = await model.predict(x);
    expect(new Set(expected).size).toBe(3);
    expect(predictInPython(model, x)).toEqual(expected);
  });

  it("settles ties as the library does: most filters at the maximum, then the lowest class", async () => {
    // Every row of equal values gives the same response to every filter, as does a row of zeros.
    const x = Dense.fromRows([
      [1, 2, 3],
      [3, 2, 1],
      [3, 1, 2],
      [1, 1, 1],
      [0, 0, 0],
    ]);
    const model = await new RankSimilarityClassifier({ filters: 4, fastFilters: 1 }).fit(x.slice(0, 3), [
      "b",
      "a",
      "a",
    ]);
    expect(await model.predict(x)).toEqual(["b", "a", "a", "a", "a"]);
    expect(predictInPython(model, x)).toEqual(["b", "a", "a", "a", "a"]);
  });

  it("lists what a file holds, steps included", () => {
    const path = join(folder, "listed.safetensors");
    writeFileSync(path, saveModel(plain(sample)));
    const { stdout } = python(path);
    expect(stdout).toMatch(/^chain\n {2}norm: float64 \[3\]\n {2}plain\n {4}empty: float64 \[0, 7\]/);
    expect(stdout).toContain("    filters: uint16 [2, 3]\n");
  });

  it("refuses a damaged file, another kind of model and rows of another width", async () => {
    const { x, y } = rowsOf((v) => Uint8Array.from(v), 9, false);
    const [path, rows, narrow] = ["m", "r", "n"].map((name) => join(folder, name));
    writeFileSync(rows, npy(x));
    writeFileSync(narrow, npy(Dense.fromRows([[1, 2]])));
    const bytes = saveModel(await new RankSimilarityClassifier({ filters: 6 }).fit(x, y));
    writeFileSync(path, bytes);
    expect(python(path, narrow).stderr).toMatch("expected rows of 9 features");
    bytes[bytes.length - 1] ^= 1;
    writeFileSync(path, bytes);
    expect(python(path, rows).stderr).toMatch("damaged");
    writeFileSync(path, saveModel(await new RankSimilarityTransform({ filters: 6 }).fit(x)));
    expect(python(path, rows).stderr).toMatch("expected a model that predicts");
    writeFileSync(path, "something else");
    expect(python(path, rows).stderr).toMatch("not a ranksim model");
  });
});
