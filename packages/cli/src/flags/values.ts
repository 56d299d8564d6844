/** Values of parameters as they are written on a command line. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Json, ParameterInfo } from "@ranksim/core";
import { type ImageSize, parseBytes } from "@ranksim/data";
import { InvalidArgumentError } from "commander";

/** The words of a name joined as in flags: nBest becomes n-best. */
export const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** How a parameter that is more than a number or a choice is written. */
interface Special {
  /** The argument in the help, and what it may be where the table does not say. */
  readonly argument: string;
  readonly hint: string;
  /** The value of the text, or undefined if the text cannot be one. */
  readonly parse: (text: string) => unknown;
  /** The value of a file's text, for parameters that take @FILE. */
  readonly fromFile?: (text: string) => unknown;
}

const json = (hint: string): Special => ({
  argument: "json",
  hint: `${hint}, or @FILE with that`,
  parse: (text) => (/^[[{]/.test(text) ? parseJson(text) : undefined),
  fromFile: parseJson,
});

const words = (what: string): Special => ({
  argument: "list",
  hint: `${what} separated by commas, or @FILE with one on each line`,
  parse: (text) => text.split(",").filter((word) => word !== ""),
  fromFile: (text) => text.split(/\r?\n/).filter((word) => word !== ""),
});

const anything = (argument: string): Special => ({ argument, hint: "", parse: (text) => text });

const number = (hint: string, least = Number.NEGATIVE_INFINITY): Special => ({
  argument: "n",
  hint,
  parse: (text) => {
    const value = Number(text);
    return text.trim() !== "" && Number.isFinite(value) && value >= least ? value : undefined;
  },
});

const DELIMITERS: { readonly [name: string]: string } = {
  ...{ tab: "\t", "\\t": "\t", comma: ",", semicolon: ";", space: " " },
};
const PARTS = ["headers", "footers", "quotes"];
const SIZE = "WIDTHxHEIGHT in pixels, each from 1 to 99999, such as 28x28";

/** Parameters of the form "special", by name. */
const SPECIAL: { readonly [name: string]: Special } = {
  distribution: json("JSON: ascending numbers, one per feature"),
  classWeight: json('JSON: weights by class, {"a": 2, "b": 1}'),
  initialRows: json("JSON: row numbers, for the classifier a list of them per class"),
  tokenPattern: anything("pattern"),
  ngramRange: {
    argument: "least-most",
    hint: "1-2 for single tokens and pairs",
    parse: (text) => {
      const found = /^(\d+)(?:[-,](\d+))?$/.exec(text);
      return found ? [Number(found[1]), Number(found[2] ?? found[1])] : undefined;
    },
  },
  stopWords: words("tokens"),
  vocabulary: words("terms"),
  minDf: number("", 0),
  maxDf: number("", 0),
  labels: anything("file"),
  metadata: anything("file"),
  layer: anything("name"),
  under: anything("path"),
  missing: number("a number"),
  memory: { argument: "size", hint: "a size such as 500MB, 2GB or 1.5GiB", parse: parseBytes },
  resize: { argument: "WxH", hint: SIZE, parse: imageSize },
  images: {
    argument: "WxH|square",
    hint: `square or ${SIZE}`,
    parse: (text) => (text === "square" ? text : imageSize(text)),
  },
  delimiter: {
    argument: "character",
    hint: "one character, or tab, comma, semicolon, space",
    parse: (text) => {
      const character = DELIMITERS[text] ?? text;
      return character.length === 1 ? character : undefined;
    },
  },
  arrays: {
    argument: "x[,y]",
    hint: "one name or two, separated by a comma",
    parse: (text) => {
      const [x, y] = text.split(",");
      return { ...(x ? { x } : {}), ...(y ? { y } : {}) };
    },
  },
  firstFeature: { argument: "0|1", hint: "0 or 1", parse: (text) => ({ "0": 0, "1": 1 })[text] },
  remove: {
    argument: "parts",
    hint: `${PARTS.join(", ")}, separated by commas`,
    parse: (text) => (text.split(",").every((part) => PARTS.includes(part)) ? text.split(",") : undefined),
  },
};

/** Width and height in pixels. */
export function imageSize(text: string): ImageSize | undefined {
  const found = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/i.exec(text);
  return found ? { width: Number(found[1]), height: Number(found[2]) } : undefined;
}

/** The table's words, how to write a special value, and the default. */
export function aboutParameter(info: ParameterInfo, defaults: Json = info.default): string {
  const hint = info.choices === undefined ? SPECIAL[info.name]?.hint : "";
  const parts = hint && !info.about.includes("(default") ? [info.about, hint] : [info.about];
  const shown = defaults === null || info.form === "flag" ? undefined : writtenValue(info.name, defaults);
  return parts.join("; ") + (shown === undefined ? "" : ` (default: ${shown})`);
}

/** A value as it is written after "name=". */
export function writtenValue(name: string, value: unknown): string {
  if (name === "ngramRange") return (value as readonly number[]).join("-");
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What may be written, for the help. */
export function argumentOf({ form, choices, name }: ParameterInfo): string {
  switch (form) {
    case "flag":
      return "true|false";
    case "count":
    case "seed":
      return "n";
    case "counts":
      return "n,...";
    case "count-or-auto":
      return "n|auto";
    case "share":
      return "share";
    case "positive":
      return "number";
    case "positive-or-auto":
      return "number|auto";
    case "choice":
    case "special":
      return [...(choices ?? []), ...(SPECIAL[name] ? [SPECIAL[name].argument] : [])].join("|");
  }
}

/** A whole number from `least`, or a usage error. */
export function wholeNumber(text: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  const upTo = most === Number.MAX_SAFE_INTEGER ? "" : ` to ${most}`;
  throw new InvalidArgumentError(`Expected a whole number from ${least}${upTo}.`);
}

/** A number above 0 and below 1. */
export function shareBelowOne(text: string): number {
  const share = Number(text);
  if (text.trim() !== "" && share > 0 && share < 1) return share;
  throw new InvalidArgumentError("Expected a number above 0 and below 1.");
}

/** A number above 0. */
export function positive(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value > 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError("Expected a number above 0.");
}

/** The value of a parameter's text, or a usage error. Files are those of the folder `cwd`. */
export function parseValue(info: ParameterInfo, text: string, cwd: string): unknown {
  const { form, least = 1 } = info;
  switch (form) {
    case "flag":
      if (text === "true" || text === "false") return text === "true";
      throw new InvalidArgumentError("Expected true or false.");
    case "count":
      return wholeNumber(text, least, info.most);
    case "counts": {
      const counts = text.split(",").map((part) => wholeNumber(part, least));
      return counts.length === 1 ? counts[0] : counts;
    }
    case "count-or-auto":
      return text === "auto" ? text : wholeNumber(text, least);
    case "seed":
      return wholeNumber(text, 0);
    case "share": {
      const value = Number(text);
      if (text.trim() !== "" && value >= 0 && value <= 1) return value;
      throw new InvalidArgumentError("Expected a number from 0 to 1.");
    }
    case "positive":
    case "positive-or-auto":
      return form === "positive-or-auto" && text === "auto" ? text : positive(text);
    case "choice":
    case "special":
      return parseChoice(info, text, cwd);
  }
}

function parseChoice({ name, choices = [] }: ParameterInfo, text: string, cwd: string): unknown {
  const choice = [text, text.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())].find((one) =>
    choices.includes(one),
  );
  if (choice !== undefined) return choice;
  const special = SPECIAL[name];
  const value =
    special?.fromFile && text.startsWith("@") ? fromFile(special, text.slice(1), cwd) : special?.parse(text);
  if (value !== undefined) return value;
  const expected = [...choices, ...(special?.hint ? [special.hint] : [])].join(" or ");
  throw new InvalidArgumentError(`Expected ${expected || "a number"}.`);
}

function fromFile({ fromFile }: Special, path: string, cwd: string): unknown {
  return fromFile?.(readFileSync(resolve(cwd, path), "utf8"));
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new InvalidArgumentError(`Expected JSON: ${(error as Error).message}.`);
  }
}
