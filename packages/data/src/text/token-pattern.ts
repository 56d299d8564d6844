/**
 * Token patterns: regular expressions in Python's spelling, so that one means here what it means in scikit-learn. In Python \w, \d, \s
 * and \b follow Unicode, in JavaScript ASCII (and \s another list). A pattern may come from a model's file, so only forms are taken that
 * every engine matches in time proportional to the text: what is given up is at most a few characters, or a word that is not begun again.
 */

import { RanksimError } from "@ranksim/core";

/** Letters, numbers and the underscore: what Python's `str.isalnum` says, and "_". Neither end can be that of a range. */
const WORD = "\\p{L}_\\p{N}";
/** Within [...]: what Python counts as blank, which differs from JavaScript's \s and `trim`. */
export const PYTHON_SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const EDGE = `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))`;

const OUTSIDE: { readonly [letter: string]: string } = {
  w: `[${WORD}]`,
  W: `[^${WORD}]`,
  d: "\\p{Nd}",
  D: "\\P{Nd}",
  s: `[${PYTHON_SPACE}]`,
  S: `[^${PYTHON_SPACE}]`,
};
const INSIDE: { readonly [letter: string]: string } = { w: WORD, d: "\\p{Nd}", D: "\\P{Nd}", s: PYTHON_SPACE };

const FORM =
  "single characters one after the other (a letter, \\w, \\d, \\s, a dot, a class such as [a-z]), of which only the last has a count " +
  "that is not fixed (+, *, ?, {2,}), with \\b at the ends or without, or several such patterns with | between them";
const EXAMPLES = "\\b\\w\\w+\\b (the default), [a-z]+, \\b[A-Za-z]{3,}\\b";

/** Characters of all rows, counts written out: no more are looked at in vain, but for words. */
const MOST_CHARACTERS = 100;
const LONGEST_PATTERN = 1000;

const ESCAPE = String.raw`\\(?:[wWdDsSfnrtv]|x[\da-fA-F]{2}|u[\da-fA-F]{4}|u\{[\da-fA-F]+\}|[pP]\{[^{}]*\}|[^\p{L}\p{N}])`;
const CLASS = String.raw`\[(?!\^?\])(?:(?!\\[WS])${ESCAPE}|[^\]\\])+\]`;
const CHARACTER = String.raw`${ESCAPE}|${CLASS}|[^\\[\](){}|*+?^$]`;
const COUNT = String.raw`[*+?]|\{\d{1,4}(?:,\d{0,4})?\}`;
const PART = new RegExp(String.raw`(?<or>\|)|(?<edge>\\b)|(?<character>${CHARACTER})(?<count>${COUNT})?`, "uy");
/** A character that is one of a word's: \b holds nowhere between two of them. */
const IN_WORD = /^(?:\\[wd]|[\p{L}\p{N}_]|\[(?:\\[wd]|[a-z]-[a-z]|[A-Z]-[A-Z]|\d-\d|[\p{L}\p{N}_])+\])$/u;

/** A character that occurs `least` to `most` times. */
interface Counted {
  readonly spelled: string;
  readonly character: string;
  readonly least: number;
  readonly most: number;
}

/** What stands in a row: \b, or a character. */
type Part = "edge" | Counted;

/** Gives the tokens of a text by a pattern. Refuses (code "bad-params") patterns of another form, with the form that is taken. */
export function tokenizerOf(tokenPattern: string): (text: string) => readonly string[] {
  const pattern = compiled(tokenPattern);
  return (text) => text.match(pattern) ?? [];
}

function compiled(tokenPattern: string): RegExp {
  if (tokenPattern.length > LONGEST_PATTERN) {
    throw refuse(tokenPattern, `of ${tokenPattern.length} characters, which are ${LONGEST_PATTERN} at most`);
  }
  const rows = rowsOf(tokenPattern);
  for (const row of rows) checkLinear(tokenPattern, row);
  const counted = rows.flat().filter((part) => part !== "edge");
  const characters = counted.reduce(
    (sum, { least, most }) => sum + Math.max(1, most < Number.POSITIVE_INFINITY ? most : least),
    0,
  );
  if (characters > MOST_CHARACTERS) {
    throw refuse(tokenPattern, `counts written out, of ${characters} characters, which are ${MOST_CHARACTERS} at most`);
  }
  const source = rows.map((row) => row.map((part) => (part === "edge" ? EDGE : translated(part))).join(""));
  try {
    return new RegExp(source.join("|"), "gu");
  } catch (error) {
    throw refuse(tokenPattern, (error as Error).message, error);
  }
}

/** The rows of parts between |. */
function rowsOf(tokenPattern: string): Part[][] {
  const rows: Part[][] = [[]];
  PART.lastIndex = tokenPattern.startsWith("(?u)") ? 4 : 0;
  while (PART.lastIndex < tokenPattern.length) {
    const at = PART.lastIndex;
    const groups = PART.exec(tokenPattern)?.groups;
    if (groups === undefined) {
      throw refuse(tokenPattern, `with "${tokenPattern.slice(at, at + 10)}" at character ${at}`);
    }
    if (groups.or !== undefined) rows.push([]);
    else rows[rows.length - 1].push(groups.edge ? "edge" : countedOf(groups.character, groups.count ?? ""));
  }
  return rows;
}

function countedOf(character: string, count: string): Counted {
  const [, least = "1", comma = "", most = ""] = /^\{(\d+)(,?)(\d*)\}$/.exec(count) ?? [];
  const spelled = character + count;
  if (count === "*") return { spelled, character, least: 0, most: Number.POSITIVE_INFINITY };
  if (count === "?") return { spelled, character, least: 0, most: 1 };
  const isOpen = count === "+" || (comma !== "" && most === "");
  return { spelled, character, least: +least, most: isOpen ? Number.POSITIVE_INFINITY : +(most || least) };
}

function checkLinear(tokenPattern: string, row: readonly Part[]): void {
  const begins = row[0] === "edge";
  const ends = row.length > 1 && row.at(-1) === "edge";
  const characters: Counted[] = [];
  for (const part of row.slice(begins ? 1 : 0, ends ? -1 : undefined)) {
    if (part === "edge") throw refuse(tokenPattern, "with \\b between characters");
    characters.push(part);
  }
  const last = characters.pop();
  if (last === undefined) throw refuse(tokenPattern, "without any character");
  const open = characters.find(({ least, most }) => least !== most);
  if (open) throw refuse(tokenPattern, `with ${open.spelled} before the last`);
  // A run of characters that may end within a word is given up there, and would be begun again at each of them.
  if (!ends || last.most < Number.POSITIVE_INFINITY || last.character === "\\w") return;
  if (begins && [...characters, last].every(({ character }) => IN_WORD.test(character))) return;
  throw refuse(tokenPattern, `with ${last.spelled} before \\b, which has to be \\w or in a word that begins with \\b`);
}

/** A part as JavaScript spells it. */
function translated({ spelled, character }: Counted): string {
  const isClass = character.startsWith("[");
  const source = character.replace(/\\(.)/gsu, (spelling, letter: string) => {
    const known = (isClass ? INSIDE : OUTSIDE)[letter];
    if (known !== undefined) return known;
    // JavaScript's Unicode patterns refuse escapes that are not needed; Python allows them before any punctuation.
    const isNeeded = /[\p{L}\p{N}^$\\.*+?()[\]{}|/]/u.test(letter) || (letter === "-" && isClass);
    return isNeeded ? spelling : letter;
  });
  return source + spelled.slice(character.length);
}

function refuse(pattern: string, why: string, cause?: unknown): RanksimError {
  return new RanksimError(
    "bad-params",
    `parameter tokenPattern: expected ${FORM}; found "${pattern.slice(0, 80)}" (${why}). Examples: ${EXAMPLES}`,
    cause === undefined ? undefined : { cause },
  );
}
