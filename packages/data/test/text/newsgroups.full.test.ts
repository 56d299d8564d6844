import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Csr } from "@ranksim/core";
import { describe, expect, test } from "vitest";
import { CountVectorizer, HashingVectorizer, loadDataSet, type TextData, TfidfVectorizer } from "../../src/node.ts";

// Data beside the project, see the catalogue; the figures were computed by scikit-learn 1.2.1 with newsgroups.py:
// python3 packages/data/test/text/newsgroups.py 20news-bydate.tar.gz
const shared = fileURLToPath(new URL("../../../../../shared/data", import.meta.url));
const env = { RANKSIM_DATA: process.env.RANKSIM_DATA ?? shared };
const archive = `${env.RANKSIM_DATA}/20newsgroups/20news-bydate.tar.gz`;

const digest = (content: string | Uint8Array) => createHash("sha256").update(content).digest("hex").slice(0, 16);
const numbers = (values: ArrayLike<number>) => new Uint8Array(Float64Array.from(values).buffer);
const outline = (x: Csr) => [
  x.rows,
  x.features,
  x.entries,
  ...[x.offsets, x.indices, x.values].map((array) => digest(numbers(array))),
];

describe.skipIf(!existsSync(archive))("20 Newsgroups, headers, footers and quotes removed", () => {
  const parts = new Map<string, Promise<TextData>>();
  const read = (part: string): Promise<TextData> => {
    if (!parts.has(part)) parts.set(part, loadDataSet(`20newsgroups:${part}`, { env }) as Promise<TextData>);
    return parts.get(part) as Promise<TextData>;
  };

  test("the same texts, the same 101,631 words, the same counts as scikit-learn", async () => {
    const train = await read("train");
    expect([train.text.length, new Set(train.y as string[]).size, digest(train.text.join("\0"))]).toEqual([
      11314,
      20,
      "0b4b819b197e3a51",
    ]);
    const vectorizer = new CountVectorizer();
    const model = await vectorizer.fit(train.text);
    expect(model.featureNames).toHaveLength(101631);
    expect(digest(model.featureNames.join("\n"))).toBe("9a7ef273d35af1bb");
    const counts = await model.transform(train.text);
    expect(outline(counts)).toEqual(outline(await vectorizer.fitTransform(train.text)));
    expect(outline(counts)).toEqual([
      11314,
      101631,
      1103627,
      "5f6916cf427593ff",
      "d2ba5a194e7faed7",
      "887359c2d26cf4ee",
    ]);
    const test = await read("test");
    const unseen = await model.transform(test.text);
    expect(outline(unseen)).toEqual([7532, 101631, 665738, "a34e36bd12e3126b", "5a74f4f39aac94b2", "90775d0652251d77"]);
  });

  test("the 10,000 most frequent words, and words and pairs, of equally frequent ones the first", async () => {
    const { text } = await read("train");
    const few = await new CountVectorizer({ maxFeatures: 10000 }).fit(text);
    expect(digest(few.featureNames.join("\n"))).toBe("e4fa9de7ffce62d7");
    const pairs = await new CountVectorizer({
      ngramRange: [1, 2],
      minDf: 3,
      maxDf: 0.5,
      stopWords: ["the", "of", "and"],
      maxFeatures: 5000,
    }).fitTransform(text.slice(0, 2000));
    expect(outline(pairs)).toEqual([2000, 5000, 152299, "00ea82928a3182a8", "aacc5f919dabb7c0", "42d200328df3d59d"]);
  });

  test("the same tf-idf and hashed features", async () => {
    const { text } = await read("train");
    const weights = await new TfidfVectorizer().fitTransform(text);
    expect(weights.entries).toBe(1103627);
    const sum = Float64Array.from(weights.values).reduce((total, value) => total + value, 0);
    expect(Math.abs(sum / 78871.47340585529 - 1)).toBeLessThan(1e-12);
    const hashed = await new HashingVectorizer().fitTransform(text.slice(0, 1000));
    expect(outline(hashed).slice(0, 5)).toEqual([1000, 2 ** 20, 86960, "f75d7cc560e6cecb", "1d31290dc6842cb6"]);
  });
});
