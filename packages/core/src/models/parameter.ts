/**
 * What a parameter is and how it is checked: given parameters become complete, checked and frozen ones here and nowhere else. Those that
 * models take as well are here too; `params.ts` has the others.
 */

import { RanksimError } from "../errors.ts";
import type { Json, Saved } from "../model-file/saved.ts";
import { bad, readParams } from "../model-file/stored/arrays.ts";

/** A parameter as data, for a command line, a page or a search. */
export interface ParameterInfo {
  readonly name: string;
  readonly about: string;
  readonly form:
    | "count"
    | "counts"
    | "count-or-auto"
    | "share"
    | "positive"
    | "positive-or-auto"
    | "seed"
    | "flag"
    | "choice"
    | "special";
  readonly choices?: readonly string[];
  /** The least value of a count, or of each of several: 1 where it is absent. */
  readonly least?: number;
  /** The largest value of a count. */
  readonly most?: number;
  readonly default: Json;
  /** What other parameters have to be where this one is not what it is by default. */
  readonly needs?: readonly Need[];
  /** Whether models keep it only where it is not what it is by default, so that files of other models do not change. */
  readonly isRare?: boolean;
}

/** What one parameter has to be for another one's sake. */
export interface Need {
  readonly why: string;
  readonly of: string;
  /** null: not given. */
  readonly among: readonly Json[];
  /** Only where other parameters are these as well. */
  readonly where?: { readonly [name: string]: Json };
}

/** Parameters that are gone, and what does their work. Models that were made with them load and answer. */
const GONE: { readonly [name: string]: string } = {
  shiftImages:
    "add copies of the images, shifted by a pixel, to the rows, and say how often each comes: fit(x, y, { copies })",
};

/** Checked, complete, frozen parameters. Unknown names are refused with the known ones, and values that do not go together. */
export function checkParams<P extends object>(given: Partial<P>, infos: readonly ParameterInfo[]): P {
  const known = new Map(infos.map((info) => [info.name, info]));
  const complete: Record<string, unknown> = {};
  for (const info of infos) complete[info.name] = info.default ?? undefined;
  for (const [name, value] of Object.entries(given)) {
    const info = known.get(name);
    if (Object.hasOwn(GONE, name)) throw new RanksimError("bad-params", `parameter ${name} is gone: ${GONE[name]}`);
    if (!info) {
      throw new RanksimError("bad-params", `unknown parameter ${name}; there are ${[...known.keys()].join(", ")}`);
    }
    if (value === undefined) continue;
    const [expected, isRight] = FORMS[info.form];
    if (!isRight(value, info)) throw refuse(name, expected(info), value);
    complete[name] = value;
  }
  for (const info of infos) if (complete[info.name] !== (info.default ?? undefined)) checkNeeds(info, complete);
  return Object.freeze(complete) as P;
}

/** What recipes share: their parameters, checked once, and copies with others. */
export abstract class Parametrized<P extends object> {
  readonly params: Readonly<P> & { readonly [name: string]: unknown };

  constructor(given: Partial<P>, infos: readonly ParameterInfo[]) {
    this.params = checkParams<Parametrized<P>["params"]>(given as Partial<Parametrized<P>["params"]>, infos);
  }

  /** A copy with some parameters changed. */
  with(changes: Partial<P>): this {
    const Kind = this.constructor as new (params: Partial<P>) => this;
    return new Kind({ ...this.params, ...changes });
  }
}

function checkNeeds({ name, needs = [] }: ParameterInfo, params: { readonly [name: string]: unknown }): void {
  const is = (of: string, value: Json) => (params[of] ?? null) === value;
  for (const { why, of, among, where = {} } of needs) {
    if (!Object.entries(where).every(([other, value]) => is(other, value))) continue;
    if (among.some((value) => is(of, value))) continue;
    const asked = among[0] === null ? `no ${of}` : `${of} ${among.map((value) => JSON.stringify(value)).join(" or ")}`;
    throw new RanksimError("bad-params", `${name}: ${why}: expected ${asked}, found ${shown(params[of])}`);
  }
}

/** The stored parameters of a model; refuses (code "bad-file") what the recipe would refuse. */
export function storedParams(saved: Saved, infos: readonly ParameterInfo[]): { readonly [name: string]: Json } {
  const params = readParams(saved);
  try {
    checkParams(params, infos);
  } catch (cause) {
    throw bad(saved, (cause as Error).message);
  }
  return params;
}

/** The parameters that a fit of the same kind as the model's would take; a distribution of the caller's own is not among them. */
export function recipeOf(params: { readonly [name: string]: Json }): { readonly [name: string]: Json | undefined } {
  return params.distribution === "custom" ? { ...params, distribution: undefined } : params;
}

/** Parameters as JSON: functions and vectors of the caller's are named "custom". */
export function paramsAsJson(params: object, infos: readonly ParameterInfo[] = []): { readonly [name: string]: Json } {
  const out: Record<string, Json> = {};
  for (const [name, value] of Object.entries(params)) {
    const info = infos.find((each) => each.name === name);
    if (value === undefined || (info?.isRare && value === info.default)) continue;
    const foreign = typeof value === "function" || (name === "distribution" && typeof value !== "string");
    out[name] = foreign ? "custom" : asJson(value);
  }
  return out;
}

/** A parameter's value as JSON; typed arrays of rows become lists. */
function asJson(value: unknown): Json {
  if (isArrayLike(value)) return Array.from(value, asJson);
  return JSON.parse(JSON.stringify(value)) as Json;
}

const count = ({ least = 1, most }: ParameterInfo): string =>
  `a whole number from ${least}${most === undefined ? "" : ` to ${most}`}`;
const isCount = (value: unknown, { least = 1, most = Number.MAX_SAFE_INTEGER }: Partial<ParameterInfo>): boolean =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
const isPositive = (value: unknown): boolean => typeof value === "number" && value > 0 && Number.isFinite(value);
const choicesOf = ({ choices = [] }: ParameterInfo): string => choices.map((choice) => `"${choice}"`).join(" or ");
const isChoice = (value: unknown, { choices = [] }: ParameterInfo): boolean => choices.includes(value as string);
const isArrayLike = (value: unknown): value is ArrayLike<unknown> =>
  Array.isArray(value) || (ArrayBuffer.isView(value) && "length" in value);
const areRows = (rows: unknown): boolean =>
  isArrayLike(rows) && rows.length > 0 && Array.from(rows).every((row) => isCount(row, { least: 0 }));

/** What values have to be, in words, and whether one is. */
type Form = readonly [
  expected: (info: ParameterInfo) => string,
  isRight: (value: unknown, info: ParameterInfo) => boolean,
];

/** Parameters that may also be something of their own kind. */
const SPECIAL: { readonly [name: string]: Form } = {
  filterFunction: [choicesOf, (value) => typeof value === "function"],
  distribution: [
    (info) => `${choicesOf(info)}, ascending values or a function`,
    (value) => typeof value === "function" || isArrayLike(value),
  ],
  initialRows: [
    () => "row numbers (for the classifier a list of them for each class)",
    (value) => areRows(value) || (Array.isArray(value) && value.length > 0 && value.every(areRows)),
  ],
  classWeight: [
    (info) => `${choicesOf(info)} or positive weights by class`,
    (value) =>
      typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(isPositive),
  ],
};

const FORMS: { readonly [form in ParameterInfo["form"]]: Form } = {
  count: [count, isCount],
  counts: [
    (info) => `${count(info)} or a list of them`,
    (value, info) =>
      isCount(value, info) || (Array.isArray(value) && value.length > 0 && value.every((one) => isCount(one, info))),
  ],
  "count-or-auto": [(info) => `${count(info)} or "auto"`, (value, info) => value === "auto" || isCount(value, info)],
  share: [() => "a number from 0 to 1", (value) => typeof value === "number" && value >= 0 && value <= 1],
  positive: [() => "a number above 0", isPositive],
  "positive-or-auto": [() => 'a number above 0 or "auto"', (value) => value === "auto" || isPositive(value)],
  seed: [() => "a whole number from 0", (value) => isCount(value, { least: 0 })],
  flag: [() => "true or false", (value) => typeof value === "boolean"],
  choice: [choicesOf, isChoice],
  special: [
    (info) => SPECIAL[info.name][0](info),
    (value, info) => isChoice(value, info) || SPECIAL[info.name][1](value, info),
  ],
};

/** The error about a parameter's value. */
export function refuse(name: string, expected: string, found: unknown): RanksimError {
  return new RanksimError("bad-params", { parameter: name, expected, found: shown(found) });
}

const shown = (value: unknown): string =>
  (typeof value === "function" ? "a function" : (JSON.stringify(value) ?? String(value))).slice(0, 80);

/** Of each row, the strongest filters whose similarity counts. */
export const N_BEST: ParameterInfo = {
  name: "nBest",
  form: "count",
  default: 25,
  about: "strongest filters of a row that are kept",
};

/** How probabilities are fitted. */
export const CALIBRATE: ParameterInfo = {
  name: "calibrate",
  form: "choice",
  choices: ["none", "temperature", "isotonic"],
  default: "none",
  about: "calibrate probabilities on held-out rows",
};

/** The same where probabilities are fitted to a model that is there. */
export const CALIBRATION_METHOD: ParameterInfo = { ...CALIBRATE, choices: ["temperature", "isotonic"] };

/** How thresholds of labels are chosen. */
export const THRESHOLDS: ParameterInfo = {
  name: "thresholds",
  form: "choice",
  choices: ["none", "common", "perLabel"],
  default: "none",
  about: "multilabel decision thresholds, chosen on held-out rows",
};

/** The same where they are chosen for a model that is there. */
export const THRESHOLD_RULE: ParameterInfo = { ...THRESHOLDS, choices: ["common", "perLabel"] };
