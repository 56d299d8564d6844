/** Token patterns in bounded time: the matches of the engine, without its worst cases. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CountVectorizer } from "../../src/index.ts";
import { boundedMatcher } from "../../src/text/bounded-match.ts";
import { groupCount, patternMatcher, pythonPattern } from "../../src/text/python-pattern.ts";

const matches = (pattern: string, text: string) => {
  const compiled = pythonPattern(pattern);
  return patternMatcher(pattern, compiled, groupCount(compiled))(text);
};
const native = (pattern: string, text: string): string[] => text.match(pythonPattern(pattern)) ?? [];

/** Patterns over few letters, nested, in which no part that repeats can be empty: there engines differ. */
const atom = fc.constantFrom("a", "b", "[ab]", "[^a]", ".", "\\w", "\\d", "\\b", "^", "$", "\\S", "é");
const solid = fc.constantFrom("a", "b", "[ab]", "[^a]", ".", "\\w", "c");
const { pattern } = fc.letrec<{ pattern: string; part: string; full: string }>((tie) => ({
  pattern: fc.array(tie("part"), { minLength: 1, maxLength: 4 }).map((parts) => parts.join("")),
  part: fc.oneof(
    { maxDepth: 3 },
    atom,
    fc
      .tuple(tie("full"), fc.constantFrom("*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?", "??", "{1,2}?"))
      .map(([full, count]) => `${full}${count}`),
    fc.tuple(tie("pattern"), tie("pattern")).map(([a, b]) => `(?:${a}|${b})`),
  ),
  full: fc.oneof(
    { maxDepth: 2 },
    solid,
    fc.tuple(solid, tie("pattern")).map(([a, b]) => `(?:${a}${b})`),
    fc.tuple(solid, solid).map(([a, b]) => `(?:${a}|${b})`),
  ),
}));

describe("matches", () => {
  test("are those of the engine, for patterns of any kind", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "c", " ", "1", "é", "\n"), { maxLength: 12 })
      .map((letters) => letters.join(""));
    fc.assert(
      fc.property(pattern, text, (source, subject) => {
        const compiled = pythonPattern(source);
        // Not the quick way: the names of \\w and \\b are withheld.
        expect(boundedMatcher(compiled, 1, "", "")(subject).length).toBe(native(source, subject).length);
        expect(matches(source, subject)).toEqual(native(source, subject));
      }),
      { numRuns: 300 },
    );
  });

  test("of a group are the group's, as in Python", () => {
    expect(matches("(\\w)at", "the cat sat on a mat")).toEqual(["c", "s", "m"]);
    expect(matches("x(a)?", "xa x")).toEqual(["a", ""]);
    expect(matches("(?:(a)|b)+", "ab ba")).toEqual(["a", "a"]);
    expect(matches("a|(b)", "ab")).toEqual(["", "b"]);
  });

  test("go by characters, not by halves of them", () => {
    expect(matches("(?:.)", "a😀b")).toEqual(["a", "😀", "b"]);
    expect(matches("\\w*", "a b")).toEqual(native("\\w*", "a b"));
  });
});

describe("time", () => {
  test.each(["(a+)+$", "(?:a|a)*c", "(?:a*)*b", "(?:\\w+\\s?)*!", "a*a*a*a*a*a*a*a*b", "(?:a|ab|b)*c"])(
    "%s is matched or refused within seconds",
    async (tokenPattern) => {
      const began = performance.now();
      const texts = Array.from({ length: 20 }, () => "ab".repeat(5000) + "a".repeat(10_000));
      const counted = new CountVectorizer({ tokenPattern }).fitTransform(texts);
      await counted.catch((error: unknown) => {
        expect(error).toMatchObject({ name: "RanksimError" });
      });
      expect(performance.now() - began).toBeLessThan(20_000);
    },
  );

  test("refusals name the pattern and the cure", () => {
    // Each match begins with a look at all that follows, in vain.
    expect(() => matches("a.*c|a", "a".repeat(100_000))).toThrow(/tokenPattern: .*"a\.\*c\|a" \(takes too many steps/);
    expect(() => matches("(a)\\1", "aa")).toThrow(/tokenPattern: .*\\1 is not supported/);
    expect(() => matches("a(?=bc)", "abc")).toThrow(/looks at more than one character/);
    expect(() => matches("(?:a{1000}){1000}", "a")).toThrow(/at most 2000 steps/);
  });
});
