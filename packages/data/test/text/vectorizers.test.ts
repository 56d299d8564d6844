import { type Csr, loadModel, RanksimError, saveModel, type TransformingModel, toDense } from "@ranksim/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CountModel, CountVectorizer, HashingVectorizer, TfidfVectorizer, textReaders } from "../../src/index.ts";
import { murmurHash } from "../../src/text/murmur.ts";
import { pythonHas, runPython, scratch } from "../python.ts";

const texts = ["The cat sat on the mat.", "The dog; the DOG!", "A cat, a dog", ""];

const rows = (x: Csr) => {
  const { values, features } = toDense(x);
  return Array.from({ length: x.rows }, (_, r) => Array.from(values.subarray(r * features, (r + 1) * features)));
};

describe("counts", () => {
  test("of words of two letters, in lower case, in alphabetic order", async () => {
    const model = await new CountVectorizer().fit(texts);
    expect(model.featureNames).toEqual(["cat", "dog", "mat", "on", "sat", "the"]);
    expect(rows(await model.transform(texts))).toEqual([
      [1, 0, 1, 1, 1, 2],
      [0, 2, 0, 0, 0, 2],
      [1, 1, 0, 0, 0, 0],
      [0, 0, 0, 0, 0, 0],
    ]);
    expect(rows(await model.transform(["dog unknown dog"]))).toEqual([[0, 2, 0, 0, 0, 0]]);
  });

  test("fitTransform is fit, then transform", async () => {
    const vectorizer = new CountVectorizer({ ngramRange: [1, 2], minDf: 2 });
    expect(await vectorizer.fitTransform(texts)).toEqual(await (await vectorizer.fit(texts)).transform(texts));
  });

  test("of sequences, with stop words out first", async () => {
    const model = await new CountVectorizer({ ngramRange: [2, 3], stopWords: ["the"] }).fit(["the cat the dog ran"]);
    expect(model.featureNames).toEqual(["cat dog", "cat dog ran", "dog ran"]);
  });

  test("of characters: of the text with its runs of blanks as one, or of words with a blank at each end", async () => {
    const char = await new CountVectorizer({ analyzer: "char", ngramRange: [1, 2] }).fit(["Ab  b"]);
    expect(char.featureNames).toEqual([" ", " b", "a", "ab", "b", "b "]);
    expect(rows(await char.transform(["Ab  b"]))).toEqual([[1, 1, 1, 1, 2, 1]]);
    const within = await new CountVectorizer({ analyzer: "char_wb", ngramRange: [2, 4] }).fit(["a, bc"]);
    // " a, " and " bc " are terms of four characters; none goes over a blank.
    expect(within.featureNames).toEqual([
      " a",
      " a,",
      " a, ",
      " b",
      " bc",
      " bc ",
      ", ",
      "a,",
      "a, ",
      "bc",
      "bc ",
      "c ",
    ]);
    // A word shorter than a term is one term.
    expect((await new CountVectorizer({ analyzer: "char_wb", ngramRange: [5, 9] }).fit(["a b"])).featureNames).toEqual([
      " a ",
      " b ",
    ]);
  });

  test("of characters beyond 16 bits as one, and of halves of them as unknown", async () => {
    const model = await new CountVectorizer({ analyzer: "char", ngramRange: [1, 2] }).fit([
      "a\u{1f600}b",
      "\ud83d\ude00",
    ]);
    expect(model.featureNames).toEqual(["a", "a\u{1f600}", "b", "\u{1f600}", "\u{1f600}b"]);
    const halves = await new CountVectorizer({ tokenPattern: "\\S+" }).fit(["a\ud83d b", "a\ude00"]);
    expect(halves.featureNames).toEqual(["a\ufffd", "b"]);
    const loaded = loadModel(saveModel(halves), { readers: textReaders }) as CountModel;
    expect(rows(await loaded.transform(["a\ud83d"]))).toEqual([[1, 0]]);
  });

  test("by document frequency: numbers of documents, or shares of them", async () => {
    const names = async (params: object) => (await new CountVectorizer(params).fit(texts)).featureNames;
    expect(await names({ minDf: 2 })).toEqual(["cat", "dog", "the"]);
    expect(await names({ minDf: 0.5 })).toEqual(["cat", "dog", "the"]);
    expect(await names({ maxDf: 0.25 })).toEqual(["mat", "on", "sat"]);
    expect(await names({ maxDf: 2, minDf: 2 })).toEqual(["cat", "dog", "the"]);
    expect(await names({ maxFeatures: 2 })).toEqual(["dog", "the"]);
  });

  test("by a given vocabulary, in its order, once each when binary, by another pattern", async () => {
    const model = await new CountVectorizer({ vocabulary: ["the", "cat"], binary: true }).fit(texts);
    expect(rows(await model.transform(texts))).toEqual([
      [1, 1],
      [1, 0],
      [0, 1],
      [0, 0],
    ]);
    const marked = await new CountVectorizer({ tokenPattern: "\\wat|[.!]", lowercase: false }).fit(texts);
    expect(marked.featureNames).toEqual(["!", ".", "cat", "mat", "sat"]);
  });

  test("of the most frequent words, and of equally frequent ones of those that are first in order", async () => {
    const text = ["zz yy xx ww zz zz", "yy ww vv 𐐀𐐀 ｚｚ", "ww yy"];
    const few = (maxFeatures: number) => new CountVectorizer({ maxFeatures }).fit(text);
    // ww, yy and zz occur three times each, all others once.
    expect((await few(2)).featureNames).toEqual(["ww", "yy"]);
    expect((await few(4)).featureNames).toEqual(["vv", "ww", "yy", "zz"]);
    expect((await few(6)).featureNames).toEqual(["vv", "ww", "xx", "yy", "zz", "ｚｚ"]);
    const loaded = loadModel(saveModel(await few(4)), { readers: textReaders }) as CountModel;
    expect(loaded.featureNames).toEqual(["vv", "ww", "yy", "zz"]);
  });

  test("order is by code points, also beyond 16 bits", async () => {
    const model = await new CountVectorizer().fit(["𐐀𐐀 ｚｚ ab"], undefined);
    expect(model.featureNames).toEqual(["ab", "ｚｚ", "𐐨𐐨"]);
  });

  test("refusals", async () => {
    const refused = (params: object) => () => new CountVectorizer(params);
    expect(refused({ minDF: 2 })).toThrow("unknown parameter minDF");
    for (const params of [
      { minDf: -1 },
      { maxDf: 1.5 },
      { ngramRange: [2, 1] },
      { maxFeatures: 0 },
      { vocabulary: ["a", "a"] },
      { tokenPattern: "(a)(b)" },
      { lowercase: 1 },
      { stopWords: "the" },
      { analyzer: "chars" },
      { analyzer: "char", stopWords: ["the"] },
      { analyzer: "char_wb", tokenPattern: "\\w+" },
    ]) {
      expect(refused(params), JSON.stringify(params)).toThrow(RanksimError);
    }
    await expect(new CountVectorizer().fit(["a", "?"])).rejects.toMatchObject({ code: "empty-input" });
    await expect(new CountVectorizer({ minDf: 4 }).fit(texts)).rejects.toMatchObject({ code: "empty-input" });
    await expect(new CountVectorizer({ minDf: 3, maxDf: 2 }).fit(texts)).rejects.toMatchObject({ code: "bad-params" });
    await expect(new CountVectorizer().fit([1] as never)).rejects.toThrow("row 0: expected a text");
    await expect(new CountVectorizer().fit("text" as never)).rejects.toThrow("array of texts");
  });

  test("a signal stops the work, progress rises to 1", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(new CountVectorizer().fit(texts, undefined, { signal })).rejects.toThrow("enough");
    const shares: number[] = [];
    const onProgress = ({ share }: { share: number }) => {
      shares.push(share);
    };
    await new CountVectorizer().fit(texts, undefined, { onProgress });
    expect(shares).toEqual([0, 1]);
  });
});

test("tf-idf of two texts, by hand", async () => {
  const x = await new TfidfVectorizer({ norm: "none" }).fitTransform(["aa bb bb", "aa"]);
  // Smoothed: idf(aa) = ln(3/3) + 1, idf(bb) = ln(3/2) + 1.
  expect(rows(x)).toEqual([
    [1, 2 * (Math.log(3 / 2) + 1)],
    [1, 0],
  ]);
  const unit = rows(await new TfidfVectorizer().fitTransform(["aa bb bb", "aa"]));
  const length = Math.hypot(1, 2 * (Math.log(1.5) + 1));
  expect(unit[0][0]).toBeCloseTo(1 / length, 14);
  expect(unit[1]).toEqual([1, 0]);
});

test("logarithms of counts and powers of rarity, by hand", async () => {
  const x = await new TfidfVectorizer({ norm: "none", logTf: true, idfPower: 3 }).fitTransform(["aa bb bb", "aa"]);
  const rarity = Math.log(3 / 2) + 1;
  expect(rows(x)).toEqual([
    [Math.log(2), Math.log(3) * (rarity * rarity * rarity)],
    [Math.log(2), 0],
  ]);
  for (const params of [{ idfPower: 0 }, { idfPower: 10 }, { idfPower: 1.5 }, { logTf: true, sublinearTf: true }]) {
    expect(() => new TfidfVectorizer(params), JSON.stringify(params)).toThrow(RanksimError);
  }
});

test("hashes are MurmurHash3's published test values", () => {
  expect(murmurHash("", 0) >>> 0).toBe(0);
  expect(murmurHash("", 1) >>> 0).toBe(0x514e28b7);
  expect(murmurHash("abcd", 0x9747b28c) >>> 0).toBe(0xf0478627);
  expect(murmurHash("abc", 0x9747b28c) >>> 0).toBe(0xc84a62dd);
  expect(murmurHash("The quick brown fox jumps over the lazy dog", 0x9747b28c) >>> 0).toBe(0x2fa826cd);
});

describe("saved", () => {
  const models: [string, () => Promise<TransformingModel<readonly string[]>>][] = [
    ["count", () => new CountVectorizer({ ngramRange: [1, 2], stopWords: ["on"] }).fit(texts)],
    ["count with a given vocabulary", () => new CountVectorizer({ vocabulary: ["dog", "Ünï", ""] }).fit(texts)],
    ["tf-idf", () => new TfidfVectorizer({ sublinearTf: true }).fit(texts)],
    ["tf-idf with a power", () => new TfidfVectorizer({ logTf: true, idfPower: 2 }).fit(texts)],
    ["characters", () => new TfidfVectorizer({ analyzer: "char", ngramRange: [1, 4], minDf: 2 }).fit(texts)],
    ["characters, hashed", () => new HashingVectorizer({ analyzer: "char_wb", nFeatures: 50 }).fit(texts)],
    ["tf-idf without idf", () => new TfidfVectorizer({ useIdf: false, norm: "l1" }).fit(texts)],
    ["hashing", () => new HashingVectorizer({ nFeatures: 50 }).fit(texts)],
  ];

  test.each(models)("%s: a loaded model does what the trained one does", async (_, fit) => {
    const model = await fit();
    const bytes = saveModel(model);
    const loaded = loadModel(bytes, { readers: textReaders }) as TransformingModel<readonly string[]>;
    expect(await loaded.transform(texts)).toEqual(await model.transform(texts));
    expect(saveModel(loaded)).toEqual(bytes);
  });

  test("data that no model can have is refused", async () => {
    const saved = (await new TfidfVectorizer().fit(texts)).save();
    const load = (other: Partial<typeof saved>) => () => {
      const stored = saveModel({ kind: saved.kind, save: () => ({ ...saved, ...other }) });
      return loadModel(stored, { readers: textReaders });
    };
    expect(load({})).not.toThrow();
    const { idf, term_bytes, term_offsets } = saved.arrays;
    for (const arrays of [
      { term_bytes, term_offsets },
      { idf, term_bytes },
      { idf: { shape: [1], values: Float64Array.of(1) }, term_bytes, term_offsets },
      { idf: { ...idf, values: idf.values.map(() => -1) as Float64Array }, term_bytes, term_offsets },
      { idf, term_bytes, term_offsets: { ...term_offsets, values: Uint32Array.from(term_offsets.values).fill(0) } },
      { idf, term_bytes: { ...term_bytes, values: Uint8Array.from(term_bytes.values).fill(255) }, term_offsets },
    ]) {
      expect(load({ arrays })).toThrow(expect.objectContaining({ code: "bad-file" }));
    }
    expect(load({ arrays: { ...saved.arrays, more: idf } })).toThrow("unknown array more");
    expect(load({ meta: { params: { norm: "l3" } } })).toThrow("norm");
    expect(load({ meta: {} })).toThrow("parameters");
  });
});

describe.skipIf(!pythonHas("sklearn"))("as scikit-learn", () => {
  const words = fc.array(
    fc.constantFrom(
      "a",
      "bb",
      "cat",
      "Dog",
      "éa",
      "x1",
      "foo_bar",
      "the",
      ",",
      "-",
      "ﬁn",
      "ΑΣ",
      "zz9",
      "\u{1f600}b",
      "\t\n",
      "\x1c",
      "\xa0",
    ),
    { maxLength: 30 },
  );
  const corpora = fc.sample(
    fc.array(
      words.map((list) => list.join(" ")),
      { minLength: 3, maxLength: 25 },
    ),
    {
      seed: 11,
      numRuns: 12,
    },
  );
  const cases: [class_: string, python: string, params: object][] = [
    ["CountVectorizer", "", {}],
    ["CountVectorizer", "ngram_range=(1, 3), min_df=2", { ngramRange: [1, 3], minDf: 2 }],
    ["CountVectorizer", "max_df=0.6, binary=True, lowercase=False", { maxDf: 0.6, binary: true, lowercase: false }],
    ["CountVectorizer", "vocabulary=['the', 'cat', 'x1']", { vocabulary: ["the", "cat", "x1"] }],
    ["CountVectorizer", "analyzer='char', ngram_range=(1, 4)", { analyzer: "char", ngramRange: [1, 4] }],
    ["CountVectorizer", "analyzer='char_wb', ngram_range=(2, 6)", { analyzer: "char_wb", ngramRange: [2, 6] }],
    ["CountVectorizer", "token_pattern=r'\\S+'", { tokenPattern: "\\S+" }],
    ["TfidfVectorizer", "", {}],
    [
      "TfidfVectorizer",
      "analyzer='char_wb', ngram_range=(1, 4), min_df=2, lowercase=False",
      { analyzer: "char_wb", ngramRange: [1, 4], minDf: 2, lowercase: false },
    ],
    ["HashingVectorizer", "analyzer='char', ngram_range=(3, 3)", { analyzer: "char", ngramRange: [3, 3] }],
    ["TfidfVectorizer", "sublinear_tf=True, norm='l1'", { sublinearTf: true, norm: "l1" }],
    [
      "TfidfVectorizer",
      "smooth_idf=False, norm=None, stop_words=['the']",
      { smoothIdf: false, norm: "none", stopWords: ["the"] },
    ],
    [
      "TfidfVectorizer",
      "use_idf=False, token_pattern=r'(?u)\\b\\w+\\b'",
      { useIdf: false, tokenPattern: "(?u)\\b\\w+\\b" },
    ],
    ["HashingVectorizer", "", {}],
    ["HashingVectorizer", "n_features=16, norm=None", { nFeatures: 16, norm: "none" }],
    [
      "HashingVectorizer",
      "n_features=7, alternate_sign=False, norm='l1', ngram_range=(1, 2)",
      { nFeatures: 7, alternateSign: false, norm: "l1", ngramRange: [1, 2] },
    ],
    ["HashingVectorizer", "n_features=8, binary=True", { nFeatures: 8, binary: true }],
  ];
  const classes = { CountVectorizer, TfidfVectorizer, HashingVectorizer };

  test("the same terms and values, or a refusal where it refuses", async () => {
    const expected = runPython(
      scratch(),
      `
import json
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer, HashingVectorizer
corpora = json.loads(${JSON.stringify(JSON.stringify(corpora))})
out = []
for make in [${cases.map(([name, args]) => `lambda: ${name}(${args})`).join(", ")}]:
    for texts in corpora:
        v = make()
        try:
            x = v.fit_transform(texts)
            x.eliminate_zeros(); x.sort_indices()
            names = list(v.get_feature_names_out()) if hasattr(v, "vocabulary_") else None
            out.append([names, x.shape, x.indptr.tolist(), x.indices.tolist(), x.data.astype(float).tolist()])
        except ValueError as e: out.append(None)
print(json.dumps(out))
`,
    ) as ([string[] | null, number[], number[], number[], number[]] | null)[];
    let i = 0;
    for (const [name, args, params] of cases) {
      for (const corpus of corpora) {
        const what = `${name}(${args}) on ${JSON.stringify(corpus)}`;
        const vectorizer = new classes[name as keyof typeof classes](params);
        const answer = expected[i++];
        if (answer === null) {
          await expect(vectorizer.fit(corpus), what).rejects.toBeInstanceOf(RanksimError);
          continue;
        }
        const [names, shape, offsets, indices, values] = answer;
        const x = await vectorizer.fitTransform(corpus);
        const model = await vectorizer.fit(corpus);
        if (names !== null && "featureNames" in model) expect(model.featureNames, what).toEqual(names);
        expect([x.rows, x.features], what).toEqual(shape);
        expect([...x.offsets], what).toEqual(offsets);
        expect([...x.indices], what).toEqual(indices);
        values.forEach((value, e) => {
          expect(Math.abs(x.values[e] - value), what).toBeLessThanOrEqual(1e-12 * Math.abs(value));
        });
      }
    }
  });
});
