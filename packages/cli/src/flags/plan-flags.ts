/** What to train: `--preset`, `--estimator` and parameters, as options of the library's `train`. */

import { type ColumnKind, CountVectorizer, HashingVectorizer, TfidfVectorizer } from "@ranksim/data";
import {
  type EstimatorName,
  type PlanOptions,
  PRESETS,
  type Preset,
  PURPOSES,
  type Purpose,
  type Recipe,
} from "@ranksim/learn";
import { type Command, Option } from "commander";
import type { Io } from "../io.ts";
import { addColumnFlags, READING_ROLES, type Role } from "./columns.ts";
import { type Group, SETTINGS, type Setting } from "./parameters.ts";
import { DATA } from "./reading-flags.ts";
import { addOwnFlags, addSet } from "./settings.ts";
import { usageError } from "./usage-error.ts";

/** The options as commander gives them. */
export interface PlanFlags {
  readonly preset?: Preset;
  readonly estimator?: EstimatorName;
  readonly for?: Purpose;
  readonly decide?: "probable" | "balanced";
  readonly text?: boolean;
  readonly table?: boolean;
  readonly multilabel?: boolean;
  readonly columns?: { readonly [name: string]: ColumnKind };
  /** Parameters by their names. */
  readonly [name: string]: unknown;
}

const GROUP = "Model:";
const ALL: readonly Group[] = ["estimator", "patches", "text", "table", "reading"];

/** Adds all that says what is trained on what: DATA, --text, --preset, --estimator and parameters. */
export function addPlanFlags(
  command: Command,
  io: Io,
  { estimators, roles }: { readonly estimators: readonly EstimatorName[]; readonly roles: readonly Role[] },
): Command {
  addColumnFlags(command, [...READING_ROLES, ...roles], { kinds: true, group: DATA });
  command.addOption(new Option("--text", "rows are text; the model takes raw text").helpGroup(DATA));
  addOwnFlags(command, "reading", DATA, io)
    .addOption(
      new Option("--preset <name>", "recipe by what the data is, see below (default: balanced)")
        .choices(PRESETS)
        .helpGroup(GROUP),
    )
    .addOption(
      new Option("--for <purpose>", "only try what makes models that are good for this")
        .choices(PURPOSES)
        .helpGroup(GROUP),
    )
    .addOption(
      new Option(
        "--decide <how>",
        "which class is named: the most probable one, or the one that gains most over its share",
      )
        .choices(["probable", "balanced"])
        .helpGroup(GROUP),
    )
    .addOption(
      new Option("--estimator <name>", "what to train in the place of a preset").choices(estimators).helpGroup(GROUP),
    );
  addOwnFlags(command, "estimator", GROUP, io);
  return addSet(command, ALL, GROUP, io);
}

/** What presets mean, for the help. */
export const PRESET_NOTES = `
Presets:
  paper     the paper's plain method
  fast      the first recipe for data of this kind; nothing is tried
  balanced  tries a few recipes on some of the rows, and trains the one that does best on rows held out (default)
  best      tries all recipes on more rows, and blends those that do best together
  A parameter given by hand takes the place of its part.
`;

/** The preset that holds: the one given; none where the estimator or the vectoriser was chosen by hand; else balanced. */
export function presetOf(options: PlanFlags): Preset | undefined {
  const { preset, estimator, vectorizer } = options;
  if (preset !== undefined && estimator !== undefined)
    throw usageError(`--estimator chooses by hand what --preset ${preset} would choose`);
  if (preset !== undefined) return preset;
  if (estimator === undefined && vectorizer === undefined) return "balanced";
  const [stray] = given("patches", options);
  if (!stray) return undefined;
  const other = estimator === undefined ? "--set vectorizer" : "--estimator";
  throw usageError(`${stray.name} belongs to a preset, which ${other} takes the place of`);
}

/** The estimator by name: rows of several labels are for the probabilistic one. */
export function estimatorName({ estimator, multilabel }: PlanFlags): EstimatorName {
  return estimator ?? (multilabel === true ? "probabilistic" : "classifier");
}

/** The parameters of a group that were given. */
export const given = (group: Group, options: PlanFlags): Setting[] =>
  SETTINGS.filter((setting) => setting.group === group && options[setting.name] !== undefined);

const valuesOf = (settings: readonly Setting[], options: PlanFlags): Record<string, unknown> =>
  Object.fromEntries(settings.map(({ name }) => [name.replace(/^patches\./, ""), options[name]]));

/** The options of `train` that the flags stand for. */
export function planOf(options: PlanFlags): PlanOptions {
  refuseStray(options);
  const preset = presetOf(options);
  const estimator = estimatorName(options);
  const ofEstimator = given("estimator", options);
  refuseOthers(ofEstimator, estimator, "--estimator");
  const { seed, ...params } = valuesOf(ofEstimator, options);
  const patches = valuesOf(given("patches", options), options);
  const ofText = given("text", options);
  const { columns, table, for: purpose, decide } = options;
  return {
    ...(preset ? { preset } : { estimator }),
    ...(purpose === undefined ? {} : { purpose }),
    ...(decide === undefined ? {} : { decide }),
    ...(typeof seed === "number" ? { seed } : {}),
    params,
    ...(Object.keys(patches).length > 0 ? { patches } : {}),
    ...(ofText.length > 0 ? { vectorizer: vectorizerOf(ofText, options, preset) } : {}),
    encoding: valuesOf(encodingOf(options), options),
    ...(table === undefined ? {} : { table }),
    ...(columns && Object.keys(columns).length > 0 ? { columns } : {}),
  };
}

/** The parameters of the encoder that were given. */
export const encodingOf = (options: PlanFlags): Setting[] =>
  given("table", options).filter(({ name }) => name !== "table");

const VECTORIZERS = { count: CountVectorizer, tfidf: TfidfVectorizer, hashing: HashingVectorizer } as const;

/** The vectoriser that was named, that of the preset, or the first that has the parameters given. */
function vectorizerOf(settings: readonly Setting[], options: PlanFlags, preset: Preset | undefined) {
  const own = settings.filter(({ name }) => name !== "vectorizer");
  const named = (options.vectorizer ?? (preset ? "tfidf" : undefined)) as keyof typeof VECTORIZERS | undefined;
  const names = Object.keys(VECTORIZERS) as (keyof typeof VECTORIZERS)[];
  const name = named ?? names.find((one) => own.every(({ owners }) => owners.includes(one))) ?? "count";
  refuseOthers(own, name, "--set vectorizer=");
  return new VECTORIZERS[name](valuesOf(own, options));
}

/** Refuses parameters of others. */
function refuseOthers(settings: readonly Setting[], owner: string, flag: string): void {
  const stray = settings.find(({ owners }) => !owners.includes(owner));
  if (!stray) return;
  const how = flag.endsWith("=") ? flag : `${flag} `;
  throw usageError(`${stray.name} belongs to ${how}${stray.owners.join(" or ")}, found ${owner}`);
}

/** Refuses parameters that belong to data of another kind than --text says. */
function refuseStray(options: PlanFlags): void {
  const [ofTable] = given("table", options);
  if (options.text === true && ofTable) throw usageError(`${ofTable.name} is about tables, --text about text`);
  const [ofText] = given("text", options);
  if (options.text !== true && ofText) throw usageError(`${ofText.name} is about text; add --text to train on text`);
}

/** Refuses parameters of tables where the rows turned out to be none. */
export function refuseTableFlags({ takes }: Recipe, options: PlanFlags): void {
  const [stray] = takes === "table" ? [] : encodingOf(options);
  if (stray) throw usageError(`${stray.name} is about tables; add --set table=true if columns have units of their own`);
}
