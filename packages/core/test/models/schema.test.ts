import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadModel } from "../../src/model-file/load.ts";
import { saveModel } from "../../src/model-file/save.ts";
import { RankSimilarityClassifier } from "../../src/models/classifier.ts";
import { Pipeline } from "../../src/models/pipeline.ts";
import { RankSimilarityProbabilisticClassifier } from "../../src/models/probabilistic.ts";
import { MinMaxScaler } from "../../src/models/scalers.ts";
import { type Schema, schemaOf, withSchema } from "../../src/models/schema.ts";
import { RankSimilarityTransform } from "../../src/models/transform.ts";
import { dataStart, forgeHeader, headerOf } from "../model-file/fake-models.ts";

const x = [
  [9, 5, 1],
  [8, 5, 2],
  [1, 5, 9],
  [3, 3, 7],
];
const y = ["falling", "falling", "rising", "rising"];
const fit = () => new RankSimilarityClassifier({ filters: 2, seed: 1 }).fit(x, y);

const full: Schema = {
  form: "numbers",
  width: 3,
  columns: [
    { name: "low", type: "number" },
    { name: "__proto__", type: "number", decimal: "," },
    { name: "", type: "date", order: "dmy" },
  ],
  label: "kind",
  multilabel: false,
  ignored: ["id", 7],
  classNames: ["falling", "rising"],
  image: { width: 1, height: 1, channels: 3 },
  fill: [0, 1.5, -2],
  reading: {
    header: true,
    delimiter: ";",
    arrays: { x: "a" },
    firstFeature: 1,
    encoding: "latin1",
    remove: ["quotes"],
  },
  training: { rows: 4, digest: "0".repeat(64), seen: "00000001ffffffff" },
  heldOut: { rows: 10, scores: { accuracy: 0.5 } },
};

describe("a schema", () => {
  it("is stored with the model and comes back with it", async () => {
    const model = withSchema(await fit(), full);
    const bytes = saveModel(model);
    const loaded = loadModel(bytes);
    expect(schemaOf(loaded)).toEqual(full);
    expect(saveModel(loaded)).toEqual(bytes);
    expect(loaded.kind).toBe("classifier");
  });

  it("goes over to models that are made of this one, without what no longer holds", async () => {
    const recipe = new RankSimilarityClassifier({ filters: 2, seed: 1, keepSums: true });
    const model = withSchema(await recipe.fit(x, y), full);
    const { heldOut: _, training, ...rest } = full;
    expect(schemaOf(model.withNBest(3))).toEqual({ ...rest, training });
    const fitted = await model.calibrate(x, y);
    expect(schemaOf(fitted)).toEqual({ ...rest, training });
    expect(schemaOf(fitted.uncalibrated())).toEqual({ ...rest, training });
    const grown = await model.partialFit([[2, 2, 8]], ["rising"]);
    expect(schemaOf(grown)).toEqual(rest);
    expect(schemaOf(loadModel(saveModel(grown)))).toEqual(rest);
    // What is known of all rows can be said then, once.
    expect(schemaOf(withSchema(grown, full))).toEqual(full);
    expect(() => withSchema(grown, full)).toThrow(/has a schema already/);
    const pipeline = new Pipeline([new MinMaxScaler(), recipe]);
    const whole = withSchema(await pipeline.fit(x, y), full);
    expect(schemaOf(await whole.partialFit([[2, 2, 8]], ["rising"]))).toEqual(rest);
    const several = await new RankSimilarityProbabilisticClassifier({ filters: 2, keepSums: true }).fit(x, y);
    expect(schemaOf(await withSchema(several, full).partialFit([[2, 2, 8]], ["rising"]))).toEqual(rest);
    const transform = await new RankSimilarityTransform({ filters: 2, keepSums: true }).fit(x);
    expect(schemaOf(await withSchema(transform, full).partialFit([[2, 2, 8]]))).toEqual(rest);
    expect(schemaOf(transform.withNBest(1))).toEqual({ ...rest, training });
    expect(schemaOf(several.withNBest(1))).toEqual({ ...rest, training });
    expect(schemaOf(model)).toEqual(full);
  });

  it("changes nothing but its own field of the file", async () => {
    const plain = JSON.parse(JSON.parse(headerOf(saveModel(await fit()))).__metadata__.model);
    const described = JSON.parse(JSON.parse(headerOf(saveModel(withSchema(await fit(), full)))).__metadata__.model);
    expect(described).toEqual({ ...plain, schema: JSON.parse(JSON.stringify(full)) });
  });

  it("is absent from a model that was given none, whose file is as before", async () => {
    const model = await fit();
    expect(schemaOf(model)).toBeUndefined();
    expect(headerOf(saveModel(model))).not.toContain("schema");
    // The example of FORMAT.md was written before there were schemas.
    const page = readFileSync(new URL("../../../../FORMAT.md", import.meta.url), "utf8");
    expect(page).toContain(headerOf(saveModel(model)).trimEnd());
  });

  it("belongs to a pipeline as a whole and is checked against its first step", async () => {
    const make = () => new Pipeline([new MinMaxScaler(), new RankSimilarityClassifier({ filters: 2 })]).fit(x, y);
    const bytes = saveModel(withSchema(await make(), { form: "numbers", width: 3 }));
    expect(schemaOf(loadModel(bytes))).toEqual({ form: "numbers", width: 3 });
    const other = await make();
    expect(() => withSchema(other, { form: "numbers", width: 4 })).toThrow(/takes 3 columns, found 4/);
  });

  it("is given once", async () => {
    const model = withSchema(await fit(), { form: "numbers", width: 3 });
    expect(() => withSchema(model, full)).toThrow(/has a schema already/);
  });

  const wrong: [string, object][] = [
    ["form", {}],
    ["form", { form: "words", width: 3 }],
    ["unknown field", { form: "numbers", width: 3, version: 2 }],
    ["width", { form: "numbers" }],
    ["width", { form: "text", width: 3 }],
    ["width", { form: "numbers", width: 0.5 }],
    ["takes 3 columns", { form: "numbers", width: 2 }],
    ["columns", { form: "numbers", width: 3, columns: [{ name: "a", type: "number" }] }],
    ["written", { form: "table", columns: [{ name: "a", type: "category", written: false }] }],
    ["columns", { form: "numbers", width: 3, columns: ["a", "b", "c"] }],
    [
      "different names",
      { form: "numbers", width: 3, columns: ["a", "b", "a"].map((name) => ({ name, type: "number" })) },
    ],
    ["columns", { form: "numbers", width: 3, columns: ["a", "b", "c"].map((name) => ({ name, type: "colour" })) }],
    ["fill", { form: "numbers", width: 3, fill: [1, 2, "3"] }],
    ["fill", { form: "numbers", width: 3, fill: [1, 2] }],
    ["image", { form: "numbers", width: 3, image: { width: 3, height: 1 } }],
    ["2 × 2 × 1", { form: "numbers", width: 3, image: { width: 2, height: 2, channels: 1 } }],
    ["label", { form: "numbers", width: 3, label: 1.5 }],
    ["reading", { form: "numbers", width: 3, reading: { clock: 1 } }],
    ["training", { form: "numbers", width: 3, training: { rows: 4, digest: "abc" } }],
    ["heldOut", { form: "numbers", width: 3, heldOut: { rows: 4, scores: { accuracy: "good" } } }],
  ];

  it.each(wrong)("of another form is refused when given and when loaded: %s %#", async (message, schema) => {
    const model = await fit();
    expect(() => withSchema(model, schema as Schema)).toThrow(message);
    const forged = forge(saveModel(withSchema(await fit(), { form: "numbers", width: 3 })), schema);
    expect(() => loadModel(forged)).toThrow(expect.objectContaining({ code: "bad-file" }));
  });

  it("of any JSON is taken or refused, and never stumbled over", async () => {
    const bytes = saveModel(withSchema(await fit(), { form: "numbers", width: 3 }));
    fc.assert(
      fc.property(fc.jsonValue(), (schema) => {
        try {
          loadModel(forge(bytes, schema));
        } catch (error) {
          expect(error).toMatchObject({ code: "bad-file" });
          expect((error as Error).message).not.toMatch(/Cannot read|is not a function/);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("is refused in a part of a model", async () => {
    const model = await new Pipeline([new MinMaxScaler(), new RankSimilarityClassifier({ filters: 2 })]).fit(x, y);
    const saved = model.save();
    const inStep = { ...saved, steps: (saved.steps ?? []).map((step) => ({ ...step, schema: { form: "text" } })) };
    const bytes = saveModel({ kind: "pipeline", save: () => inStep });
    expect(() => loadModel(bytes)).toThrow(/no schema but that of the whole model/);
  });
});

/** The file with another schema and the digest that goes with it. */
function forge(bytes: Uint8Array, schema: unknown): Uint8Array {
  const header = JSON.parse(headerOf(bytes));
  const model = JSON.parse(header.__metadata__.model);
  const __metadata__ = { ...header.__metadata__, model: canonical({ ...model, schema }) };
  return forgeHeader(JSON.stringify({ ...header, __metadata__ }), bytes.subarray(dataStart(bytes)));
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical((value as Record<string, unknown>)[key])}`).join(",")}}`;
}
