import { RanksimError } from "@ranksim/core";
import { expect, test } from "vitest";
import { groupCount, pythonPattern } from "../../src/text/python-pattern.ts";
import { pythonHas, runPython, scratch } from "../python.ts";

const patterns = [
  "(?u)\\b\\w\\w+\\b",
  "\\b\\w\\w+\\b",
  "[a-zA-Z\\-]+",
  "\\d+|\\s",
  "[^\\W\\d_]+".replace("\\W", "\\s"),
  "(?:\\w+)'\\w",
  "\\S+",
  "\\Bx",
  "[\\w\\-']+",
  "\\#\\w+",
];
const text = "Ünïcode_1 ½ x² don't well-known ٣٤ #tag e\u0301t ab\u00a0c\x1cd naïve 中文 a b1";

test.skipIf(!pythonHas("re"))("patterns find what Python finds", () => {
  const expected = runPython(
    scratch(),
    `
import json, re
patterns, text = json.loads(${JSON.stringify(JSON.stringify([patterns, text]))})
print(json.dumps([re.findall(p, text) for p in patterns]))
`,
  );
  expect(patterns.map((pattern) => text.match(pythonPattern(pattern)) ?? [])).toEqual(expected);
});

test("the default pattern finds words of two characters and more, by Unicode", () => {
  expect("a bc Dé_1 x² 中文 -".match(pythonPattern("\\b\\w\\w+\\b"))).toEqual(["bc", "Dé_1", "x²", "中文"]);
});

test("groups are counted", () => {
  expect(groupCount(pythonPattern("(a)(?:b)([c)])"))).toBe(2);
});

test("what cannot be read is refused", () => {
  for (const pattern of ["(", "[\\W]", "a{2", "(?P<x>a)"]) {
    expect(() => pythonPattern(pattern)).toThrow(RanksimError);
    expect(() => pythonPattern(pattern)).toThrow("tokenPattern");
  }
});
