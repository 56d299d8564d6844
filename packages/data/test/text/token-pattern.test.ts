/** Token patterns: those of the linear form find what Python finds, all others are refused with the form. */

import { type Json, loadModel, RanksimError, saveModel, type TransformingModel } from "@ranksim/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CountVectorizer, HashingVectorizer, TfidfVectorizer, textReaders } from "../../src/index.ts";
import { tokenizerOf } from "../../src/text/token-pattern.ts";
import { pythonHas, runPython, scratch } from "../python.ts";

const accepted = [
  "(?u)\\b\\w\\w+\\b",
  "\\b\\w\\w+\\b",
  "\\w+",
  "\\w{2,}\\b",
  "\\w{2,4}\\b",
  "[a-zA-Z\\-]+",
  "[a-z]{1,3}\\b",
  "\\b[A-Za-zÜ]{3,}\\b",
  "\\b[a-z]\\w*\\b",
  "\\d+|\\s",
  "\\d{2}",
  "[^\\s\\d_]+",
  "\\S+",
  "[\\w\\-']+",
  "\\#\\w+",
  "\\b\\w+\\b|[^\\w\\s]",
  "-|x\\d?|.",
  "\\x41|\\u00e9\\w*",
  "[\\]^]+|\\\\",
];
const refused: readonly (readonly [pattern: string, why: string])[] = [
  ["(a+)+$", '"(a+)+$" at character 0'],
  ["(?:a|a)*c", "at character 0"],
  ["(?:a*)*b", "at character 0"],
  ["(?:\\w+\\s?)*!", "at character 0"],
  ["(\\w+)", "at character 0"],
  ["a|(b)", "at character 2"],
  ["^a", "at character 0"],
  ["a$", "at character 1"],
  ["\\Ba", "at character 0"],
  ["(?=a)a", "at character 0"],
  ["(a)\\1", "at character 0"],
  ["a\\1", "at character 1"],
  ["a+?", '"?" at character 2'],
  ["a++", '"+" at character 2'],
  ["a{2", "at character 1"],
  ["(?P<x>a)", "at character 0"],
  ["[\\W]", "at character 0"],
  ["[^]", "at character 0"],
  ["[]a]", "at character 0"],
  ["a)", "at character 1"],
  ["\\", "at character 0"],
  ["a*a*a*a*a*a*a*a*b", "a* before the last"],
  ["a.*c|a", ".* before the last"],
  ["x?y", "x? before the last"],
  ["x{1,2}y", "x{1,2} before the last"],
  ["[a-z]+\\b", "[a-z]+ before \\b"],
  [".+\\b", ".+ before \\b"],
  ["\\b[A-z]+\\b", "[A-z]+ before \\b"],
  ["\\b[\\w-]+\\b", "[\\w-]+ before \\b"],
  ["\\b-[a-z]+\\b", "[a-z]+ before \\b"],
  ["a\\bb", "\\b between characters"],
  ["", "without any character"],
  ["\\b", "without any character"],
  ["a||b", "without any character"],
  ["[z-a]", "out of order"],
  ["\\p{Nonsense}", "roperty name"],
  ["\\w{101}", "counts written out, of 101 characters"],
  ["\\w{60}|\\d{41}", "of 101 characters"],
  ["a".repeat(1001), "of 1001 characters, which are 1000 at most"],
];
const text = "Ünïcode_1 ½ x² don't well-known ٣٤ #tag e\u0301t ab\u00a0c\x1cd naïve 中文 a b1 \\ [x]^ A é1\n-😀 12 345";

test.skipIf(!pythonHas("re"))("patterns find what Python finds", () => {
  const expected = runPython(
    scratch(),
    `
import json, re
patterns, text = json.loads(${JSON.stringify(JSON.stringify([accepted, text]))})
print(json.dumps([re.findall(p, text) for p in patterns]))
`,
  );
  expect(accepted.map((pattern) => tokenizerOf(pattern)(text))).toEqual(expected);
});

test("the default pattern finds words of two characters and more, by Unicode", () => {
  expect(tokenizerOf("\\b\\w\\w+\\b")("a bc Dé_1 x² 中文 -")).toEqual(["bc", "Dé_1", "x²", "中文"]);
  expect(tokenizerOf("\\p{Lu}\\p{Ll}*")("Bee cat Dé_1")).toEqual(["Bee", "Dé"]);
});

describe("other forms", () => {
  test.each(refused)("%s is refused", (pattern, why) => {
    expect(() => tokenizerOf(pattern)).toThrow(RanksimError);
    expect(() => tokenizerOf(pattern)).toThrow(why);
    expect(() => tokenizerOf(pattern)).toThrow(/^parameter tokenPattern: expected single characters .* Examples: /s);
    expect(() => new TfidfVectorizer({ tokenPattern: pattern })).toThrow("parameter tokenPattern");
    expect(() => new HashingVectorizer({ tokenPattern: pattern })).toThrow("parameter tokenPattern");
  });

  test("the examples of the message are taken", () => {
    for (const pattern of ["\\b\\w\\w+\\b", "[a-z]+", "\\b[A-Za-z]{3,}\\b"]) {
      expect(() => tokenizerOf("(")).toThrow(pattern);
      expect(tokenizerOf(pattern)("a word")).toContain("word");
    }
  });

  test.each([
    ["count", () => new CountVectorizer().fit(["aa bb"])],
    ["hashing", () => new HashingVectorizer({ nFeatures: 8 }).fit(["aa bb"])],
  ])("a stored %s model with one is refused with the cure", async (_, fit) => {
    const model = (await fit()) as TransformingModel<readonly string[]>;
    const saved = model.save();
    const evil = { ...saved, meta: { params: { ...(saved.meta.params as object), tokenPattern: "(a+)+$" } as Json } };
    const bytes = saveModel({ ...model, save: () => evil } as unknown as TransformingModel<readonly string[]>);
    const load = () => loadModel(bytes, { readers: textReaders });
    expect(load).toThrow(expect.objectContaining({ code: "bad-file" }));
    expect(load).toThrow(/tokenPattern: expected single characters .*\(a\+\)\+\$.* 0\.2 .* train the model again/s);
  });
});

describe("time", () => {
  // The longest runs that a pattern takes and then has to give up.
  const long = 1 << 20;
  const hard = [
    `${"a".repeat(long)}_`,
    "a_".repeat(long / 2),
    "ab ".repeat(long / 4),
    "-".repeat(long),
    `${"1".repeat(long)}é`,
  ];
  test.each([...accepted, "\\w{97}x|\\w{0}y"])("of %s is in proportion to the text", (pattern) => {
    const tokens = tokenizerOf(pattern);
    const began = process.cpuUsage();
    for (const subject of hard) tokens(subject);
    // A quadratic number of steps would take hours. Processor time: the machine may have other work.
    expect(process.cpuUsage(began).user / 1e6).toBeLessThan(20);
  });

  test("nothing that is taken is slow, whatever it is made of", () => {
    const character = fc.constantFrom("a", "\\w", "\\d", "\\S", ".", "[a-z]", "[^a]", "[\\w-]", "_", "é");
    const row = fc
      .tuple(
        fc.constantFrom("", "\\b"),
        fc.array(
          fc.tuple(character, fc.constantFrom("", "{2}", "+")).map((pair) => pair.join("")),
          { maxLength: 3 },
        ),
        character,
        fc.constantFrom("", "+", "*", "?", "{2,}", "{2,9}"),
        fc.constantFrom("", "\\b"),
      )
      .map(([begin, before, last, count, end]) => begin + before.join("") + last + count + end);
    const pattern = fc.array(row, { minLength: 1, maxLength: 3 }).map((rows) => rows.join("|"));
    const subjects = ["a".repeat(100_000), "a_".repeat(50_000), "-a".repeat(50_000)].map((start) => `${start}_é`);
    fc.assert(
      fc.property(pattern, (spelled) => {
        let tokens: ReturnType<typeof tokenizerOf>;
        try {
          tokens = tokenizerOf(spelled);
        } catch (error) {
          expect(error).toBeInstanceOf(RanksimError);
          return;
        }
        const began = process.cpuUsage();
        for (const subject of subjects) tokens(subject);
        expect(process.cpuUsage(began).user / 1e6).toBeLessThan(5);
      }),
      { numRuns: 200 },
    );
  });
});

test.skipIf(!pythonHas("numpy"))("the Python module takes the same patterns", () => {
  // Classes that only JavaScript knows cannot be matched there.
  const asked = [...accepted, ...refused.map(([pattern]) => pattern).filter((pattern) => !pattern.includes("\\p"))];
  const taken = runPython(
    scratch(),
    `
import json, re, sys
sys.path.insert(0, ${JSON.stringify(new URL("../../../../python", import.meta.url).pathname)})
sys.dont_write_bytecode = True
from ranksim_model import compiled_pattern

def is_taken(pattern):
    try:
        compiled_pattern(pattern)
        return True
    except ValueError as error:
        return "tokenPattern" not in str(error)

print(json.dumps([is_taken(p) for p in json.loads(${JSON.stringify(JSON.stringify(asked))})]))
`,
  );
  expect(taken).toEqual(asked.map((pattern) => accepted.includes(pattern)));
});
