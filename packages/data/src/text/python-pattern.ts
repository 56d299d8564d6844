/**
 * Regular expressions in Python's spelling, so that a token pattern means here what it means in scikit-learn: in Python \w,
 * \d, \s and \b follow Unicode, in JavaScript ASCII (and \s another list).
 */

import { RanksimError } from "@ranksim/core";
import { boundedMatcher, type Matcher } from "./bounded-match.ts";

/** Letters, numbers and the underscore: what Python's `str.isalnum` says, and "_". */
const WORD = "\\p{L}\\p{N}_";
/** Within [...]: what Python counts as blank, which differs from JavaScript's \s and `trim`. */
export const PYTHON_SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const EDGE = `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))`;
const NO_EDGE = `(?:(?<=[${WORD}])(?=[${WORD}])|(?<![${WORD}])(?![${WORD}]))`;

const OUTSIDE: { readonly [letter: string]: string } = {
  w: `[${WORD}]`,
  W: `[^${WORD}]`,
  d: "\\p{Nd}",
  D: "\\P{Nd}",
  s: `[${PYTHON_SPACE}]`,
  S: `[^${PYTHON_SPACE}]`,
  b: EDGE,
  B: NO_EDGE,
};
const INSIDE: { readonly [letter: string]: string } = { w: WORD, d: "\\p{Nd}", D: "\\P{Nd}", s: PYTHON_SPACE };

/** The pattern for `String.matchAll` and `String.match`: Unicode, all matches. Refuses (code "bad-params") what JavaScript cannot read. */
export function pythonPattern(pattern: string): RegExp {
  let source = "";
  let isClass = false;
  const body = pattern.replace(/^\(\?u\)/, "");
  for (let at = 0; at < body.length; at++) {
    const character = body[at];
    if (character === "\\") {
      const letter = body[++at] ?? "";
      const translated = isClass ? INSIDE[letter] : OUTSIDE[letter];
      if (isClass && /[WSB]/.test(letter)) throw refuse(pattern, `\\${letter} within [...] is not supported`);
      if (translated !== undefined) source += translated;
      // JavaScript's Unicode patterns refuse escapes that are not needed; Python allows them before any punctuation.
      else
        source +=
          /^[^\p{L}\p{N}^$\\.*+?()[\]{}|/-]$/u.test(letter) || (letter === "-" && !isClass) ? letter : `\\${letter}`;
      continue;
    }
    if (character === "[" && !isClass) isClass = true;
    else if (character === "]") isClass = false;
    source += character;
  }
  try {
    return new RegExp(source, "gu");
  } catch (error) {
    throw refuse(pattern, (error as Error).message, error);
  }
}

/** Number of groups that capture. */
export function groupCount(pattern: RegExp): number {
  return (new RegExp(`${pattern.source}|`, "u").exec("") as RegExpExecArray).length - 1;
}

/** All matches of a pattern, or of its one group, in bounded time whatever the pattern. Refuses (code "bad-params") what cannot be. */
export function patternMatcher(spelled: string, pattern: RegExp, groups: number): Matcher {
  try {
    const matcher = boundedMatcher(pattern, groups, OUTSIDE.w, OUTSIDE.b);
    return (text) => {
      try {
        return matcher(text);
      } catch (error) {
        throw refuse(spelled, (error as Error).message, error);
      }
    };
  } catch (error) {
    throw refuse(spelled, (error as Error).message, error);
  }
}

function refuse(pattern: string, why: string, cause?: unknown): RanksimError {
  return new RanksimError(
    "bad-params",
    `parameter tokenPattern: expected a regular expression, found ${JSON.stringify(pattern)} (${why})`,
    cause === undefined ? undefined : { cause },
  );
}
