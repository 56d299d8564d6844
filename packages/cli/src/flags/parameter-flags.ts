/**
 * Parameters as flags: made from the tables of the estimators and vectorisers, so that a new parameter there is a new flag
 * here. Flags say what was given and nothing more; defaults and further checks stay with the recipe.
 */

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Json, type ParameterInfo, RanksimError } from "@ranksim/core";
import { type Command, InvalidArgumentError, Option } from "commander";

/** The flag of a parameter: nBest becomes --n-best. */
export const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** How a parameter that is more than a number or a choice is written on a command line. */
interface Special {
  /** The argument in the help, and what it may be where the table does not say. */
  readonly argument: string;
  readonly hint: string;
  /** The value of the flag's text, or undefined if the text cannot be one. */
  readonly parse: (text: string) => unknown;
  /** The value of a file's text, for flags that take @FILE. */
  readonly fromFile?: (text: string) => unknown;
}

const json = (argument: string, hint: string): Special => ({
  argument,
  hint: `${hint}, or @FILE with that`,
  parse: (text) => (/^[[{]/.test(text) ? parseJson(text) : undefined),
  fromFile: parseJson,
});

const words = (hint: string): Special => ({
  argument: "list",
  hint: `${hint} separated by commas, or @FILE with one on each line`,
  parse: (text) => text.split(",").filter((word) => word !== ""),
  fromFile: (text) => text.split(/\r?\n/).filter((word) => word !== ""),
});

const documents: Special = {
  argument: "n",
  hint: "",
  parse: (text) => (text.trim() === "" || !(Number(text) >= 0) ? undefined : Number(text)),
};

/** Parameters of the form "special", by name. */
const SPECIAL: { readonly [name: string]: Special } = {
  distribution: json("json", "JSON: ascending numbers, one per feature"),
  classWeight: json("json", 'JSON: weights by class, {"a": 2, "b": 1}'),
  initialRows: json("json", "JSON: row numbers, for the classifier a list of them per class"),
  tokenPattern: { argument: "pattern", hint: "", parse: (text) => text },
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
  minDf: documents,
  maxDf: documents,
};

/** A value that waits in a file. */
class FileValue {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }
}

/** Adds a flag for each parameter. `about` may say more than the table. */
export function addFlags(
  command: Command,
  infos: readonly ParameterInfo[],
  group: string,
  about: (info: ParameterInfo) => string,
): void {
  for (const info of infos) {
    const isOn = info.form === "flag" && info.default === true;
    const flags = isOn ? `--no-${flagOf(info.name).slice(2)}` : flagOf(info.name) + argumentOf(info);
    const option = new Option(flags, isOn ? `off: ${about(info)}` : about(info)).helpGroup(group);
    if (info.form !== "flag") option.argParser((text: string) => parseParameter(info, text));
    command.addOption(option);
  }
}

/** The table's words, how to write a special value, and the default. */
export function aboutParameter(info: ParameterInfo, defaults: Json = info.default): string {
  const parts = [info.about];
  const special = info.choices === undefined ? SPECIAL[info.name] : undefined;
  if (special && special.hint !== "") parts.push(special.hint);
  const shown = defaults === null || info.form === "flag" ? undefined : defaultText(info.name, defaults);
  return parts.join("; ") + (shown === undefined ? "" : ` (default: ${shown})`);
}

function defaultText(name: string, value: Json): string {
  if (name === "ngramRange") return (value as readonly number[]).join("-");
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The value of a flag after files were read. */
export async function settled(name: string, value: unknown, cwd: string): Promise<unknown> {
  if (!(value instanceof FileValue)) return value;
  const path = resolve(cwd, value.path);
  const text = await readFile(path, "utf8");
  try {
    return SPECIAL[name].fromFile?.(text);
  } catch (error) {
    throw new RanksimError("bad-params", `${flagOf(name)}, ${value.path}: ${(error as Error).message}`);
  }
}

/** A whole number from `least`, or a usage error. */
export function wholeNumber(text: string, least: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value) || value < least) {
    throw new InvalidArgumentError(`Expected a whole number from ${least}.`);
  }
  return value;
}

function argumentOf({ form, choices, name }: ParameterInfo): string {
  switch (form) {
    case "flag":
      return "";
    case "count":
    case "seed":
      return " <n>";
    case "counts":
      return " <n,...>";
    case "count-or-auto":
      return " <n|auto>";
    case "share":
      return " <share>";
    case "positive":
      return " <number>";
    case "choice":
    case "special":
      return ` <${[...(choices ?? []), ...(SPECIAL[name] ? [SPECIAL[name].argument] : [])].join("|")}>`;
  }
}

/** The value of a flag's text, or a usage error. */
export function parseParameter({ form, choices, name, least = 1 }: ParameterInfo, text: string): unknown {
  switch (form) {
    case "count":
      return wholeNumber(text, least);
    case "counts": {
      const counts = text.split(",").map((part) => wholeNumber(part, 1));
      return counts.length === 1 ? counts[0] : counts;
    }
    case "count-or-auto":
      return text === "auto" ? text : wholeNumber(text, 1);
    case "seed":
      return wholeNumber(text, 0);
    case "share": {
      const value = Number(text);
      if (text.trim() !== "" && value >= 0 && value <= 1) return value;
      throw new InvalidArgumentError("Expected a number from 0 to 1.");
    }
    case "positive": {
      const value = Number(text);
      if (value > 0 && value < Number.POSITIVE_INFINITY) return value;
      throw new InvalidArgumentError("Expected a number above 0.");
    }
    case "flag":
    case "choice":
    case "special":
      return parseChoice(name, choices ?? [], text);
  }
}

function parseChoice(name: string, choices: readonly string[], text: string): unknown {
  const choice = text.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  if (choices.includes(choice)) return choice;
  // The reference's name for what is proportional; accepted with a note.
  if (name === "classWeight" && text === "balanced") return text;
  const special = SPECIAL[name];
  if (special?.fromFile && text.startsWith("@")) return new FileValue(text.slice(1));
  const value = special?.parse(text);
  if (value !== undefined) return value;
  throw new InvalidArgumentError(
    `Expected ${[...choices, ...(special?.hint ? [special.hint] : [])].join(" or ") || "a number"}.`,
  );
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new InvalidArgumentError(`Expected JSON: ${(error as Error).message}.`);
  }
}

/** A number above 0 and below 1. */
export function shareBelowOne(text: string): number {
  const share = Number(text);
  if (text.trim() !== "" && share > 0 && share < 1) return share;
  throw new InvalidArgumentError("Expected a number above 0 and below 1.");
}
