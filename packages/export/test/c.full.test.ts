/** C headers compile without a warning under every compiler here and answer as the library does. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ClassifierModel,
  type ClassifierParams,
  Dense,
  type MatrixLike,
  type Model,
  type PatchParams,
  PatchTransform,
  Pipeline,
  type PipelineModel,
  RankSimilarityClassifier,
  StandardScaler,
} from "@ranksim/core";
import { loadDigits } from "@ranksim/data";
import { loadData } from "@ranksim/data/node";
import { afterAll, describe, expect, it } from "vitest";
import { predictWhole, wholeWeights } from "../src/c/whole-weights.ts";
import { type COptions, checkBits, exportC } from "../src/index.ts";
import { LIMITS, withLimits } from "./limited.ts";
import { tiedRows } from "./tied-rows.ts";

const folder = mkdtempSync(join(tmpdir(), "ranksim-c-"));
afterAll(() => rmSync(folder, { recursive: true }));

const STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O2"];
const SANITIZED = ["-fsanitize=undefined,address", "-fno-sanitize-recover=all", "-g"];

/** Reads rows, prints the number and the label of each. The stated sizes are there for the preprocessor. */
const MAIN = `
#include <stdio.h>
#include "model.h"
#if RANKSIM_FLASH_BYTES < 1 || RANKSIM_RAM_BYTES < 1
#error sizes
#endif
int main(void) {
  static uint8_t row[RANKSIM_FEATURES];
  while (fread(row, 1, sizeof row, stdin) == sizeof row) {
    int number = ranksim_predict(row);
    printf("%d %s\\n", number, ranksim_label(number));
  }
  return ranksim_label(-1) == 0 && ranksim_label(RANKSIM_CLASSES) == 0 ? 0 : 1;
}
`;

/** Whether a compiler makes programs that run here. */
function works(compiler: string, flags: readonly string[]): boolean {
  const source = join(folder, "empty.c");
  const program = join(folder, "empty");
  writeFileSync(source, "int main(void) { return 0; }\n");
  return spawnSync(compiler, [...flags, source, "-o", program]).status === 0 && spawnSync(program, []).status === 0;
}

/** The labels that a compiled header prints. */
function ask(compiler: string, flags: readonly string[], model: Model, x: Dense, options: COptions = {}) {
  writeFileSync(join(folder, "model.h"), exportC(model, options).text);
  writeFileSync(join(folder, "main.c"), MAIN);
  const program = join(folder, "main");
  const made = spawnSync(compiler, [...STRICT, ...flags, join(folder, "main.c"), "-o", program], { encoding: "utf8" });
  expect(made.stderr).toBe("");
  const told = spawnSync(program, [], { input: Uint8Array.from(x.values), encoding: "utf8", maxBuffer: 1 << 28 });
  expect(told.stderr).toBe("");
  expect(told.status).toBe(0);
  return told.stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.slice(line.indexOf(" ") + 1));
}

const digits = await loadDigits();
const x = digits.x as Dense;
const names = ['"quoted"', "back\\slash", "zwei ²", "what??/", "%d", "five", "six", "seven", "eight", "nine"];
const y = Array.from(digits.y as number[], (label) => names[label]);

const RECIPES: Partial<ClassifierParams>[] = [
  { filters: 100 },
  { filters: 40, committee: 3 },
  { filters: 100, refine: true },
];

/** Sizes side by side, strides, all filters counted, windows of many values, colours, and sums that have to be halved. */
const IMAGES: readonly { patches: Partial<PatchParams>; filters: number; committee?: number }[] = [
  { patches: { patch: 3, filters: 20, nBest: 4, grid: 3 }, filters: 30 },
  {
    patches: { patch: [3, 8], filters: [12, 7], nBest: [20, 3], grid: [2, 1], stride: [2, 1] },
    filters: 20,
    committee: 2,
  },
  { patches: { width: 4, height: 4, channels: 4, patch: 2, filters: 9, nBest: 3, grid: 2 }, filters: 20 },
  { patches: { width: 32, height: 32, patch: 17, filters: 4, nBest: 2, grid: 1 }, filters: 10 },
];

/** The recipe of images, as it is or with pooled values that are bytes. */
function imageRecipe({ patches, filters, committee = 1 }: (typeof IMAGES)[number], bytes: boolean) {
  return new Pipeline([
    ["patches", new PatchTransform({ sample: 4000, ...patches, bytes })],
    ["classify", new RankSimilarityClassifier({ filters, committee, seed: 3 })],
  ]);
}

/** The digits' values cut into images of so many. */
function imagesOf(width: number): Dense {
  const rows = Math.floor((x.rows * 64) / width);
  return Dense.of((x.values as Uint8Array).slice(0, rows * width), rows, width);
}

type ImageModel = PipelineModel<MatrixLike, ClassifierModel>;

const COMPILERS: [string, string, readonly string[]][] = [
  ["gcc", "gcc", []],
  ["gcc -m32", "gcc", ["-m32"]],
  ["gcc with sanitizers", "gcc", SANITIZED],
  ["clang", "clang", []],
  ["clang -m32", "clang", ["-m32"]],
  ["clang with sanitizers", "clang", SANITIZED],
];

describe.each(COMPILERS)("%s", (name, compiler, flags) => {
  const here = works(compiler, flags);
  it.skipIf(!here)(`gives the labels of predict on all digits (needs ${name})`, async () => {
    for (const params of RECIPES) {
      const model = await new RankSimilarityClassifier(params).fit(x, y);
      expect(exportC(model).isExact).toBe(!params.committee);
      expect(ask(compiler, flags, model, x)).toEqual(await model.predict(x));
    }
  });

  it.skipIf(!here)(`takes images through patches (needs ${name})`, async () => {
    for (const recipe of IMAGES) {
      const { width = 8, height = 8, channels = 1 } = recipe.patches;
      const values = width * height * channels;
      const images = values === 64 ? x : imagesOf(values);
      const labels = y.slice(0, images.rows);
      for (const bytes of [false, true]) {
        const model = (await imageRecipe(recipe, bytes).fit(images, labels)) as ImageModel;
        expect(ask(compiler, flags, model, images)).toEqual(await model.predict(images));
      }
    }
  });

  it.skipIf(!here)(`makes bytes of sums whatever the limits (needs ${name})`, async () => {
    const fitted = (await imageRecipe(IMAGES[1], false).fit(x, y)) as ImageModel;
    for (const limits of LIMITS) {
      const model = withLimits(fitted, limits);
      expect(ask(compiler, flags, model, x)).toEqual(await model.predict(x));
    }
  });

  it.skipIf(!here)(`breaks ties as predict does (needs ${name})`, async () => {
    for (const seed of [1, 2, 3]) {
      const tied = tiedRows(seed, 200, 5);
      const model = await new RankSimilarityClassifier({ filters: 30, seed }).fit(tied.x, tied.y);
      expect(ask(compiler, flags, model, tied.x)).toEqual(await model.predict(tied.x));
    }
  });

  it.skipIf(!here)(`names the most probable class where that decides (needs ${name})`, async () => {
    for (const calibrate of ["none", "temperature"] as const) {
      for (const committee of [1, 3]) {
        const tied = committee === 1 ? tiedRows(4, 240, 6) : { x, y };
        const params = { filters: 30, committee, calibrate, decision: "probability" as const };
        const model = await new RankSimilarityClassifier(params).fit(tied.x, tied.y);
        expect(exportC(model).isExact).toBe(committee === 1);
        expect(ask(compiler, flags, model, tied.x)).toEqual(await model.predict(tied.x));
        const found = predictWhole(model, wholeWeights(model, 16), tied.x.values, tied.x.rows);
        expect(Array.from(found, (c) => model.classes[c])).toEqual(await model.predict(tied.x));
      }
    }
  });

  it.skipIf(!here)(`adds up the largest bytes of many features (needs ${name})`, async () => {
    // 255 · n(n + 1) passes 2^32 between 4,103 and 4,104 features.
    for (const features of [4103, 4104]) {
      const values = new Uint8Array(4 * features).map((_, e) => 255 - ((e * 7919) % 5));
      const wide = Dense.of(values, 4, features);
      const model = await new RankSimilarityClassifier({ filters: 4 }).fit(wide, ["a", "b", "a", "b"]);
      expect(exportC(model).text.includes("uint64_t")).toBe(features === 4104);
      expect(ask(compiler, flags, model, wide)).toEqual(await model.predict(wide));
    }
  });
});

it.skipIf(!works("g++", []))("compiles as C++ (needs g++)", async () => {
  const model = await new RankSimilarityClassifier({ filters: 20 }).fit(x, y);
  writeFileSync(join(folder, "model.h"), exportC(model).text);
  writeFileSync(join(folder, "main.cc"), MAIN);
  const files = [join(folder, "main.cc"), "-o", join(folder, "cc")];
  const made = spawnSync("g++", ["-std=c++11", "-Wall", "-Wextra", "-Werror", ...files], { encoding: "utf8" });
  expect(made.stderr).toBe("");
});

it("refuses classes that isotonic probabilities decide, which whole numbers cannot give", async () => {
  const { x, y } = tiedRows(4, 240, 6);
  const recipe = new RankSimilarityClassifier({ filters: 30, calibrate: "isotonic" });
  expect(exportC(await recipe.fit(x, y)).isExact).toBe(true);
  const model = await recipe.with({ decision: "probability" }).fit(x, y);
  expect(() => exportC(model)).toThrow(
    'c: expected a class that responses decide, found isotonic probabilities that do; train with calibrate "temperature" or decision "vote"',
  );
});

it("keeps a byte for each pooled value that is one, and the sums of one cell", async () => {
  const few = x.slice(0, 200);
  const [sums, bytes] = await Promise.all(
    [false, true].map(async (bytes) => exportC(await imageRecipe(IMAGES[0], bytes).fit(few, y.slice(0, 200)))),
  );
  // 9 cells of 20 filters.
  expect(sums.ramBytes - bytes.ramBytes).toBe(180);
  expect(bytes.text).toContain("uint8_t pooled[180];");
  expect(sums.text).toContain("uint16_t pooled[180];");
  expect(bytes.flashBytes).toBe(sums.flashBytes);
});

describe("weights of 8 bits", () => {
  it("are exact where doubled ranks fit, and rounded where they do not", async () => {
    for (const [features, isExact] of [
      [127, true],
      [128, false],
    ] as const) {
      const { x, y } = tiedRows(3, 60, features, 256);
      const model = await new RankSimilarityClassifier({ filters: 9 }).fit(x, y);
      expect(wholeWeights(model, 8).isExact).toBe(isExact);
      expect(exportC(model).bits).toBe(isExact ? 8 : 16);
      expect(exportC(model).isExact).toBe(true);
    }
  });

  it("are half the flash", async () => {
    const { x, y } = tiedRows(3, 60, 200, 256);
    const model = await new RankSimilarityClassifier({ filters: 9 }).fit(x, y);
    expect(exportC(model, { bits: 8 }).flashBytes).toBe(9 * 200 + 9);
    expect(exportC(model, { bits: 16 }).flashBytes).toBe(9 * 200 * 2 + 9);
  });

  it("are judged by labels, which the plain loop and the compiler agree on", async () => {
    const { x, y } = tiedRows(5, 300, 300, 256);
    const model = await new RankSimilarityClassifier({ filters: 60 }).fit(x, y);
    const plain = Array.from(predictWhole(model, wholeWeights(model, 8), x.values, x.rows), (c) => model.classes[c]);
    if (works("gcc", [])) expect(ask("gcc", [], model, x, { bits: 8 })).toEqual(plain);
    const check = await checkBits(model, x, y);
    const exact = await model.predict(x);
    expect(check.rows).toBe(300);
    expect(check.right).toBe(exact.filter((label, r) => label === y[r]).length);
    expect(check.rightIn8Bits).toBe(plain.filter((label, r) => label === y[r]).length);
    expect(check.changed).toBe(plain.filter((label, r) => label !== exact[r]).length);
    expect(check.bits).toBe(check.rightIn8Bits >= check.right ? 8 : 16);
  });

  it("follow a distribution closely in 16 bits", async () => {
    const model = await new RankSimilarityClassifier({ filters: 100, distribution: "savage" }).fit(x, y);
    const header = exportC(model);
    expect([header.bits, header.isExact]).toEqual([16, false]);
    const found = predictWhole(model, wholeWeights(model, 16), x.values, x.rows);
    const expected = await model.predict(x);
    const same = expected.filter((label, r) => label === model.classes[found[r]]).length;
    expect(same).toBeGreaterThan(0.995 * x.rows);
  });
});

describe("what no header can say", () => {
  it("is refused by name", async () => {
    const model = await new RankSimilarityClassifier({ filters: 20 }).fit(x, y);
    expect(() => exportC(model, { name: "2nd" })).toThrow(/name: expected a name of C .* found "2nd"/);
    const voting = await new RankSimilarityClassifier({ filters: 20, voters: 3 }).fit(x, y);
    expect(() => exportC(voting)).toThrow(/c: expected one voter, found 3/);
    const scaled = await new Pipeline([new StandardScaler(), new RankSimilarityClassifier({ filters: 20 })]).fit(x, y);
    expect(() => exportC(scaled)).toThrow(/c: a scaler cannot be exported/);
  });
});

const fashion = "/usr/share/datasets/fashion-mnist";
describe.skipIf(!existsSync(fashion) || !works("gcc", []))(
  "Fashion-MNIST (needs dataset-fashion-mnist and gcc)",
  () => {
    it("gives the labels of predict on all 10,000 test images", async () => {
      const train = await loadData("fashion-mnist:train");
      const test = await loadData("fashion-mnist:test");
      if (train.form !== "matrix" || test.form !== "matrix") throw new Error("expected images");
      const labels = Array.from(train.y as ArrayLike<number>).slice(0, 6000);
      const model = await new RankSimilarityClassifier({ filters: 300 }).fit(train.x.slice(0, 6000), labels);
      expect(ask("gcc", [], model, test.x as Dense)).toEqual((await model.predict(test.x)).map(String));
    });
  },
);
