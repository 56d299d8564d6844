/** Files whose digest is right and whose content no training could have made: refused when read, not when used. */

import {
  type Json,
  loadModel,
  MOST_FEATURES,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RanksimError,
  type Saved,
  saveModel,
} from "@ranksim/core";
import { describe, expect, it } from "vitest";
import { decodeSaved } from "../../src/model-file/container/decode.ts";
import { encodeSaved } from "../../src/model-file/container/encode.ts";
import { drawBelow, generatorOf } from "../../src/random.ts";

const generator = generatorOf(5);
const rows = Array.from({ length: 40 }, () => Array.from({ length: 9 }, () => drawBelow(generator, 20)));
const labels = rows.map((row) => (row[0] > row[1] ? "up" : "down"));
const classifier = saveModel(await new RankSimilarityClassifier({ filters: 8 }).fit(rows, labels));
const probabilistic = saveModel(await new RankSimilarityProbabilisticClassifier({ filters: 8 }).fit(rows, labels));

type Changing = { -readonly [K in keyof Saved]: Saved[K] };

/** The file with something changed, and its digest right again. */
function forged(file: Uint8Array, change: (saved: Changing) => void): Uint8Array {
  const saved = structuredClone(decodeSaved(file)) as Changing;
  change(saved);
  return encodeSaved(saved);
}

const refusal = (file: Uint8Array): string => {
  try {
    loadModel(file);
  } catch (error) {
    expect(error).toBeInstanceOf(RanksimError);
    expect((error as RanksimError).code).toBe("bad-file");
    expect((error as Error).message).not.toMatch(/^not a model/);
    return (error as Error).message;
  }
  return expect.fail("the file was read");
};

describe.each([
  ["classifier", classifier],
  ["probabilistic classifier", probabilistic],
])("a %s", (_, file) => {
  it("is read as it is", () => {
    expect(loadModel(forged(file, () => {})).kind).toBeTypeOf("string");
  });

  it.each([5e-324, 1e-300, 1e-5, 89])(
    "with a norm of %d for one filter, less than its weights have, is refused",
    (norm) => {
      const small = forged(file, ({ arrays }) => {
        arrays.norm.values[3] = norm;
        if (norm === 89) (arrays.filters.values as Uint16Array)[3 * 9] = 90;
      });
      expect(refusal(small)).toMatch(/filter 3: expected weights up to its norm/);
    },
  );

  it("wider than any matrix is refused", () => {
    for (const features of [MOST_FEATURES + 1, 2 ** 32 - 2, 2 ** 53 - 1]) {
      const wide = forged(file, (saved) => {
        saved.meta = { ...saved.meta, features };
      });
      expect(refusal(wide)).toMatch(/expected 2 to 67108864 features, found \d+/);
    }
  });

  it.each(["trainings.0", "trainings.0.steps.0", ""])("with an unknown field in its report.%s is refused", (place) => {
    const file2 = forged(file, (saved) => {
      let at = (saved.meta as { report: Record<string, unknown> }).report;
      for (const key of place.split(".").filter(Boolean)) at = at[key] as Record<string, unknown>;
      at.mood = "good";
    });
    expect(refusal(file2)).toMatch(/report.*: unknown field "mood"/);
  });

  const bad: [place: string, value: Json][] = [
    ["rows", "many"],
    ["rows", -1],
    ["features", null],
    ["filters", 1.5],
    ["converged", 1],
    ["notes", [7]],
    ["notes", "\u001b[2J"],
    ["trainings", {}],
    ["trainings", [null]],
    ["trainings.0.rows", {}],
    ["trainings.0.steps", 3],
    ["trainings.0.steps.0.moved", "\u001b]0;title\u0007"],
    ["trainings.0.steps.0.iteration", []],
    ["trainings.0.label", {}],
    ["trainings.0.converged", "no"],
    ["refinement", 5],
    ["refinement", { refined: true, heldOutRows: 5, before: 2, after: 1 }],
    ["refinement", { refined: true, heldOutRows: 5, before: 0.5, after: 1, window: "x" }],
  ];
  it.each(bad)("with %s = %j in its report is refused", (place, value) => {
    const keys = place.split(".");
    const file2 = forged(file, (saved) => {
      let at = (saved.meta as { report: Record<string, unknown> }).report;
      for (const key of keys.slice(0, -1)) at = at[key] as Record<string, unknown>;
      at[keys.at(-1) as string] = value;
    });
    expect(refusal(file2)).toMatch(new RegExp(`report\\.${keys[0]}.*: expected `));
  });
});

it("bytes that were detached, or can be resized, harm nothing", async () => {
  const gone = Uint8Array.from(classifier);
  structuredClone(gone.buffer, { transfer: [gone.buffer] });
  expect(refusal(gone)).toMatch(/cut short: 0 bytes/);
  const Resizable = ArrayBuffer as unknown as new (
    length: number,
    options: object,
  ) => ArrayBuffer & { resize(n: number): void };
  const buffer = new Resizable(classifier.length, { maxByteLength: 2 * classifier.length });
  const bytes = new Uint8Array(buffer);
  bytes.set(classifier);
  const model = loadModel(bytes) as Awaited<ReturnType<RankSimilarityClassifier["fit"]>>;
  buffer.resize(0);
  expect(await model.predict(rows)).toEqual(await (loadModel(classifier) as typeof model).predict(rows));
});
