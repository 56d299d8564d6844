/**
 * FORMAT.md against the code. The example's file is kept in golden/, so that a change of the format cannot go unnoticed. To
 * renew it and the header on the page after an intended change: RANKSIM_WRITE_GOLDEN=1 npx vitest run format-page
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CountVectorizer, HashingVectorizer, TfidfVectorizer, textReaders } from "@ranksim/data";
import { ConformalClassifier } from "@ranksim/learn";
import { beforeAll, describe, expect, it } from "vitest";
import { loadModel } from "../../src/model-file/load.ts";
import { builtInReaders } from "../../src/model-file/readers.ts";
import { saveModel } from "../../src/model-file/save.ts";
import type { Saved } from "../../src/model-file/saved.ts";
import { Blend } from "../../src/models/blend.ts";
import { RankSimilarityClassifier } from "../../src/models/classifier.ts";
import type { Model } from "../../src/models/estimator.ts";
import { LinearClassifier } from "../../src/models/linear.ts";
import { PairTransform } from "../../src/models/pairs.ts";
import { PatchTransform } from "../../src/models/patches.ts";
import { Pipeline } from "../../src/models/pipeline.ts";
import { RankSimilarityProbabilisticClassifier } from "../../src/models/probabilistic.ts";
import { RowScaler } from "../../src/models/row-scaler.ts";
import { MaxAbsScaler, MinMaxScaler, StandardScaler } from "../../src/models/scalers.ts";
import { RankSimilarityTransform } from "../../src/models/transform.ts";
import { Union } from "../../src/models/union.ts";
import { dataStart, digestAt, headerOf } from "./fake-models.ts";

const pagePath = new URL("../../../../FORMAT.md", import.meta.url);
const goldenPath = new URL("golden/classifier.safetensors", import.meta.url);
const renew = process.env.RANKSIM_WRITE_GOLDEN === "1";
let page = readFileSync(pagePath, "utf8");

/** The text of a section, up to the next heading of the same or a higher level. */
function section(heading: string): string {
  const from = page.indexOf(`\n${heading}\n`);
  if (from < 0) throw new Error(`FORMAT.md has no section ${heading}`);
  const level = heading.indexOf(" ");
  const rest = page.slice(from + heading.length + 2);
  const next = rest.search(new RegExp(`^#{1,${level}} `, "m"));
  return next < 0 ? rest : rest.slice(0, next);
}

/** The rows of all tables in `text` whose first column is headed `first`. */
function tableRows(text: string, first: string): string[][] {
  const rows: string[][] = [];
  let inside = false;
  for (const line of text.split("\n")) {
    const cells = line.startsWith("|")
      ? line
          .slice(1, -1)
          .split(" | ")
          .map((cell) => cell.trim().replace(/^`(.*)`$/, "$1"))
      : undefined;
    if (!cells) inside = false;
    else if (!inside) inside = cells[0] === first;
    else if (!cells[0].startsWith("---")) rows.push(cells);
  }
  return rows;
}

/** The contents of the fenced block of a language in `text`. */
function block(text: string, language: string): string {
  const found = new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)\`\`\`$`, "m").exec(text);
  if (!found) throw new Error(`FORMAT.md has no ${language} block here`);
  return found[1];
}

/** Runs the example on the page; gives what it calls `bytes`. */
async function runExample(): Promise<Uint8Array> {
  const body = `return (async () => { ${block(section("## Example"), "ts")} return bytes; })()`;
  return new Function("RankSimilarityClassifier", "saveModel", body)(RankSimilarityClassifier, saveModel);
}

describe("the example in FORMAT.md", () => {
  let golden: Uint8Array;
  beforeAll(async () => {
    if (renew) {
      const bytes = await runExample();
      writeFileSync(goldenPath, bytes);
      page = page.replace(/(```header\n)[\s\S]*?```/, (_, fence) => `${fence}${headerOf(bytes).trimEnd()}\n\`\`\``);
      writeFileSync(pagePath, page);
    }
    golden = readFileSync(goldenPath);
  });

  it("makes the golden file, byte for byte", async () => {
    expect(Buffer.compare(await runExample(), golden)).toBe(0);
  });

  it("shows its header", () => {
    expect(block(section("## Example"), "header")).toBe(`${headerOf(golden).trimEnd()}\n`);
  });

  it("lists its arrays as they stand in the header and in the bytes", () => {
    const { __metadata__: _, ...entries } = JSON.parse(headerOf(golden));
    const read = { F64: "getFloat64", U32: "getUint32", U16: "getUint16" } as const;
    const size = { F64: 8, U32: 4, U16: 2 };
    const view = new DataView(golden.buffer, golden.byteOffset + dataStart(golden));
    const rows = tableRows(section("## Example"), "array");
    expect(rows.map(([name]) => name)).toEqual(Object.keys(entries));
    for (const [name, type, shape, begin, end, values] of rows) {
      expect(entries[name]).toEqual({
        dtype: type,
        shape: shape.split(" × ").map(Number),
        data_offsets: [Number(begin), Number(end)],
      });
      const dtype = type as keyof typeof read;
      const found = values.split(", ").map((_, i) => view[read[dtype]](Number(begin) + i * size[dtype], true));
      expect(found).toEqual(values.split(", ").map(Number));
    }
  });

  it("dumps the bytes of its arrays", () => {
    const bytes = Buffer.from(block(section("## Example"), "hex").replace(/\s/g, ""), "hex");
    expect(Buffer.compare(bytes, golden.subarray(dataStart(golden)))).toBe(0);
  });

  it("loads and predicts by the rule on the page", async () => {
    const model = loadModel(golden) as Awaited<ReturnType<RankSimilarityClassifier["fit"]>>;
    expect(
      await model.predict([
        [5, 4, 3],
        [1, 2, 3],
        [0, 0, 0],
      ]),
    ).toEqual(["falling", "rising", "falling"]);
  });
});

const headings = page.split("\n").filter((line) => line.startsWith("### "));

describe("the text of FORMAT.md", () => {
  it("says where the digest and the version stand", () => {
    expect(section("## Header")).toMatch(new RegExp(`bytes ${digestAt}\\s+to ${digestAt + 63} of every file`));
    expect(block(section("## Digest"), "python")).toContain(`data[${digestAt}:${digestAt + 64}]`);
    expect(section("## Versions")).toContain(
      `first ${'{"__metadata__":{"format":"ranksim","version":"'.length} characters`,
    );
  });

  it.skipIf(spawnSync("python3", ["--version"]).status !== 0)("verifies the digest in Python (python3)", () => {
    const folder = mkdtempSync(join(tmpdir(), "ranksim-format-"));
    const verify = (bytes: Uint8Array) => {
      writeFileSync(join(folder, "model.safetensors"), bytes);
      return spawnSync("python3", ["-c", block(section("## Digest"), "python")], { cwd: folder }).status;
    };
    const golden = Uint8Array.from(readFileSync(goldenPath));
    expect(verify(golden)).toBe(0);
    golden[golden.length - 1] ^= 1;
    expect(verify(golden)).toBe(1);
    rmSync(folder, { recursive: true });
  });

  const x = Array.from({ length: 12 }, (_, r) =>
    Array.from({ length: 50 }, (_, i) => ((i * 7 + r * 5) % 11 === 0 ? 1 + (r % 3) : 0)),
  );
  const full = x.map((row, r) => row.map((value, i) => value + ((i * 31 + r * 17) % 23)));
  const y = x.map((_, r) => r % 3);
  const many = Array.from({ length: 1100 }, (_, r) => Array.from({ length: 9 }, (_, i) => (r * (i + 3)) % (97 + i)));
  // Sparse rows of which the short ones say nothing about their class.
  const words = Array.from({ length: 120 }, (_, r) =>
    Array.from({ length: 300 }, (_, i) =>
      Number(r % 2 === 0 ? i === (r * 7) % 300 : i % 3 === r % 3 && (i * r) % 11 === 0),
    ),
  );
  const of = words.map((_, r) => r % 3);
  const texts = ["one two", "two three", "three one"];
  const perClass = { filters: 6, distribution: "confusion", distributionPerClass: true } as const;
  const models: [string, () => Promise<Model>][] = [
    ["transform", () => new RankSimilarityTransform({ filters: 3 }).fit(full)],
    ["transform", () => new RankSimilarityTransform({ filters: 3, distribution: "confusion" }).fit(full)],
    ["transform", () => new RankSimilarityTransform({ filters: 12 }).fit(x)],
    ["classifier", () => new RankSimilarityClassifier({ filters: 6 }).fit(full, y)],
    ["classifier", () => new RankSimilarityClassifier(perClass).fit(full, y)],
    ["probabilistic", () => new RankSimilarityProbabilisticClassifier({ filters: 6 }).fit(full, y)],
    ["classifier", () => new RankSimilarityClassifier({ filters: 6 }).fit(full, y).then((m) => m.calibrate(x, y))],
    [
      "classifier",
      () => new RankSimilarityClassifier({ filters: 6 }).fit(words, of).then((m) => m.calibrate(words, of)),
    ],
    [
      "probabilistic",
      () =>
        new RankSimilarityProbabilisticClassifier({ filters: 6, calibrate: "isotonic" }).fit(
          [...full, ...full],
          [...y, ...y],
        ),
    ],
    [
      "probabilistic",
      () =>
        new RankSimilarityProbabilisticClassifier({ filters: 6, calibrate: "temperature", thresholds: "common" }).fit(
          full,
          y.map((name) => [name]),
        ),
    ],
    ["transform", () => new RankSimilarityTransform({ filters: 12, keepSums: true }).fit(x)],
    ["classifier", () => new RankSimilarityClassifier({ ...perClass, keepSums: true }).fit(full, y)],
    ["probabilistic", () => new RankSimilarityProbabilisticClassifier({ filters: 6, keepSums: true }).fit(full, y)],
    ["probabilistic", () => new RankSimilarityProbabilisticClassifier().fit(many, [...many.keys()])],
    ["patches", () => new PatchTransform({ height: 1, patch: [5, 9], filters: 3, nBest: 2, bytes: true }).fit(full)],
    [
      "patches",
      () => new PatchTransform({ height: 1, patch: 4, filters: 3 }).fit(full.map((row) => row.map((v) => v / 9))),
    ],
    ["pipeline", () => new Pipeline([new MaxAbsScaler(), new LinearClassifier()]).fit(full, y)],
    ["conformal", () => new ConformalClassifier(new RankSimilarityClassifier({ filters: 6 })).fit(full, y)],
    ["linear", () => new LinearClassifier().fit(full, y)],
    ["linear", () => new LinearClassifier({ calibrate: "isotonic" }).fit([...full, ...full], [...y, ...y])],
    [
      "linear",
      () =>
        new LinearClassifier({ thresholds: "common" }).fit(
          full,
          y.map((name) => [name]),
        ),
    ],
    ["union", () => new Union([["most", new MaxAbsScaler()]], { rows: true }).fit(full)],
    ["pairs", () => new PairTransform().fit(full)],
    [
      "blend",
      () => {
        const parts = [
          ["a", new LinearClassifier()] as const,
          ["b", new RankSimilarityClassifier({ filters: 6 })] as const,
        ];
        return new Blend(parts, { weights: [1, 3], decide: "balanced" }).fit(full, y);
      },
    ],
    ["standard-scaler", () => new StandardScaler().fit(full)],
    ["min-max-scaler", () => new MinMaxScaler().fit(full)],
    ["max-abs-scaler", () => new MaxAbsScaler().fit(full)],
    ["row-scaler", () => new RowScaler().fit(full)],
    ["count-vectorizer", () => new CountVectorizer().fit(texts)],
    ["tfidf-vectorizer", () => new TfidfVectorizer().fit(texts)],
    ["hashing-vectorizer", () => new HashingVectorizer().fit(texts)],
  ];

  const fitted = section("### Fitted probabilities");

  it.each(models)("describes the arrays and fields of a %s", async (kind, train) => {
    const saved = (await train()).save();
    expect(saved.kind).toBe(kind);
    const own = section(headings.find((heading) => heading.includes(`\`${kind}\``)) ?? kind);
    const text = (saved.arrays.norm ? section("### Filters") : "") + own + ("classes" in saved.meta ? fitted : "");
    const arrays = new Map(tableRows(text, "array").map(([name, type, shape]) => [name, { type, shape }]));
    for (const [name, { shape, values }] of Object.entries(saved.arrays)) {
      const described = arrays.get(name) ?? { type: "", shape: "" };
      expect(described.type.split(/, | or /), `type of ${name}`).toContain(typeName(values));
      const expected = shapesOf(described.shape, saved);
      if (expected !== "any") expect(expected, `shape of ${name}`).toContainEqual(shape);
    }
    const mayLack = new Set(["distribution", "idf", ...(saved.arrays.base ? ["filters"] : SPARSE_ARRAYS)]);
    for (const name of saved.arrays.sums ? SPARSE_SUMS : ["sums"]) mayLack.add(name);
    if (!saved.arrays.seen_rows) for (const name of ["seen_rows", "label_rows", ...SPARSE_SUMS]) mayLack.add(name);
    for (const name of saved.arrays.filter_labels ? LABEL_COUNTS : ["filter_labels"]) mayLack.add(name);
    if (kind !== "probabilistic") mayLack.add("label_rows");
    for (const name of FITTED) mayLack.add(name);
    if (kind === "hashing-vectorizer") mayLack.add("term_bytes").add("term_offsets");
    if (kind === "classifier") mayLack.add("filter_bank");
    if (kind === "patches") mayLack.add("filters_1");
    const lacking = [...arrays.keys()].filter((name) => !(name in saved.arrays) && !mayLack.has(name));
    expect(lacking).toEqual([]);
    const fields = tableRows(text, "meta").map(([name]) => name);
    const optional = kind === "patches" && !(saved.meta.params as { bytes?: boolean }).bytes ? ["limits"] : [];
    expect([...Object.keys(saved.meta), ...optional].sort()).toEqual(fields.sort());
  });

  it("describes every kind there is", () => {
    const kinds = [...builtInReaders, ...textReaders].map((reader) => reader.kind);
    const kept = kinds.filter((kind) => kind !== "linear-svm"); // read, no longer written
    expect(new Set(models.map(([kind]) => kind))).toEqual(new Set(kept));
    expect(headings.some((heading) => heading.includes("`linear-svm`"))).toBe(true);
  });
});

const SPARSE_ARRAYS = ["base", "filter_offsets", "filter_indices", "filter_weights"];
const FITTED = [
  "calibration_factor",
  "calibration_halfway",
  "calibration_spread",
  "calibration_curves",
  "calibration_points",
  "calibration_offsets",
  "thresholds",
];
const LABEL_COUNTS = ["label_offsets", "label_indices", "label_counts"];
const SPARSE_SUMS = ["sum_offsets", "sum_indices", "sum_values"];

function typeName(values: object): string {
  return values.constructor.name.replace("Float", "F").replace("Uint", "U").replace("Int", "I").replace("Array", "");
}

/** The shapes that a description like "1 × n or c × n" allows for a model. */
function shapesOf(description: string, { meta, arrays, steps }: Saved): number[][] | "any" {
  if (description === "any") return "any";
  const classes = ((meta.classes ?? steps?.[0]?.meta.classes) as unknown[] | undefined)?.length ?? 0;
  const names = (meta.names as unknown[] | undefined)?.length ?? 0;
  const extents: Record<string, number> = {
    1: 1,
    2: 2,
    m: arrays.norm?.shape[0],
    c: classes,
    parts: names + Number(meta.rows === true),
    steps: names,
    p: classes === 2 ? 1 : classes,
    n: Number(meta.features ?? arrays.weights?.shape[1] ?? arrays.shift?.shape[0] ?? arrays.idf?.shape[0] ?? 3),
  };
  return description
    .split(" or ")
    .map((shape) =>
      shape.split(" × ").map((extent) => extent.split(" + ").reduce((sum, term) => sum + extents[term], 0)),
    );
}
