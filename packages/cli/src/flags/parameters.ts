/**
 * Every parameter that `--set name=value` takes, by the tables that check them: of the estimator, of the patches of images, of
 * text, of tables, and of reading DATA. Few have a flag of their own as well.
 */

import {
  CLASSIFIER_PARAMETERS,
  PATCH_PARAMETERS,
  type ParameterInfo,
  PROBABILISTIC_PARAMETERS,
  WHOLE_PARAMETERS,
} from "@ranksim/core";
import {
  COUNT_PARAMETERS,
  didYouMean,
  FORMATS,
  HASHING_PARAMETERS,
  TABLE_PARAMETERS,
  TFIDF_PARAMETERS,
} from "@ranksim/data";
import { InvalidArgumentError } from "commander";
import { quoted } from "../provenance.ts";
import { kebab, parseValue } from "./values.ts";

/** What a parameter is about; commands take those of the groups that they have a use for. */
export type Group = "estimator" | "patches" | "text" | "table" | "reading";

/** A parameter, and where it belongs. */
export interface Setting extends ParameterInfo {
  readonly group: Group;
  /** The estimators or the vectorisers that have it. */
  readonly owners: readonly string[];
}

/** What each group is called in the help. */
export const GROUPS: { readonly [group in Group]: string } = {
  estimator: "of the estimator",
  patches: "of patches of images, in presets other than paper",
  text: "of text",
  table: "of tables",
  reading: "of reading DATA",
};

type Tables = { readonly [owner: string]: readonly ParameterInfo[] };

const ESTIMATORS: Tables = {
  classifier: CLASSIFIER_PARAMETERS,
  probabilistic: PROBABILISTIC_PARAMETERS,
  transform: WHOLE_PARAMETERS,
};
const VECTORIZERS: Tables = { count: COUNT_PARAMETERS, tfidf: TFIDF_PARAMETERS, hashing: HASHING_PARAMETERS };

/** The parameters of patches that a recipe leaves open. */
const PATCHES = ["patch", "filters", "nBest", "grid", "bytes", "shiftedCopies", "sample"];

const named = (name: string, form: ParameterInfo["form"], about: string, more: Partial<ParameterInfo> = {}) => ({
  ...{ name, form, about, default: null },
  ...more,
});

const READING: readonly ParameterInfo[] = [
  named("labels", "special", "labels in a file of their own, one for each row"),
  named("metadata", "special", "counts of cells: a table with their types and more, found by the barcode"),
  named(
    "layer",
    "special",
    "AnnData: X, raw or a layer (default: the first of X, counts and raw that has whole numbers)",
  ),
  named("format", "choice", "format (default: detected from name and content)", { choices: FORMATS }),
  named("multilabel", "flag", "rows have several labels, separated by commas"),
  named("images", "special", "rows of numbers are images of this size"),
  named("memory", "special", "memory for reading, as 2GB (default: half of what is free, shared by all processes)"),
  named("header", "flag", "the first line names the columns (default: detected)"),
  named("delimiter", "special", "what separates columns (default: detected)"),
  named("missing", "special", "missing values: refuse them, or fill them with the mean or a number", {
    choices: ["refuse", "mean"],
  }),
  named("encoding", "choice", "how text is stored (default: utf-8)", { choices: ["utf-8", "latin1"] }),
  named("colour", "flag", "image folders: keep red, green and blue (default: grey)"),
  named("resize", "special", "image folders: make all images this size"),
  named("arrays", "special", "NPZ: names of the arrays with rows and labels"),
  named("features", "count", "svmlight: number of features (default: the largest that occurs)"),
  named("firstFeature", "special", "svmlight: number of the first feature (default: detected)"),
  named("remove", "special", "newsgroup posts: parts to remove"),
  named("under", "special", "folders and archives: only files below this path"),
];

const ofTables = (group: Group, tables: Tables): Setting[] => {
  const infos = Object.values(tables).flat();
  const all = infos.filter((info, i) => infos.findIndex(({ name }) => name === info.name) === i);
  const ownersOf = (name: string) =>
    Object.keys(tables).filter((owner) => tables[owner].some((info) => info.name === name));
  return all.map((info) => ({ ...info, group, owners: ownersOf(info.name) }));
};

/** All of them. */
export const SETTINGS: readonly Setting[] = [
  ...ofTables("estimator", ESTIMATORS),
  ...PATCH_PARAMETERS.filter(({ name }) => PATCHES.includes(name)).map(
    (info): Setting => ({ ...info, name: `patches.${info.name}`, group: "patches", owners: [] }),
  ),
  {
    ...named("vectorizer", "choice", "how words become numbers (default: the first that has the parameters given)"),
    ...{ choices: Object.keys(VECTORIZERS), group: "text", owners: Object.keys(VECTORIZERS) },
  },
  ...ofTables("text", VECTORIZERS),
  {
    ...named("table", "flag", "treat the data as a table: encode each column (default: detected from names and cells)"),
    ...{ group: "table", owners: [] },
  },
  ...TABLE_PARAMETERS.map((info): Setting => ({ ...info, group: "table", owners: [] })),
  ...READING.map((info): Setting => ({ ...info, group: "reading", owners: [] })),
];

/** Parameters that have a flag of their own, because most people need them. */
const WITH_FLAG = ["filters", "seed", "keepSums", "labels", "metadata", "format", "multilabel", "images", "memory"];

/** The flag of a parameter, where it has one. */
export const flagOf = (name: string): string | undefined => (WITH_FLAG.includes(name) ? `--${kebab(name)}` : undefined);

/** Options of the library that are no parameters, as this command names them. */
const OPTIONS: { readonly [option: string]: string } = {
  labelColumn: "--label",
  textColumn: "--columns NAME:text",
  ignoreColumns: "--columns NAME:ignore",
  groupColumn: "--columns NAME:group",
  timeColumn: "--columns NAME:time",
  weightColumn: "--columns NAME:weight",
  columns: "--columns",
  keep: "--keep",
  testShare: "--test-share",
};

/** What the command line calls a parameter or an option of the library, with a value where one is to be named. */
export function called(name: string, value?: string | number): string {
  const option = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : flagOf(name);
  const word = value === undefined ? undefined : quoted(String(value));
  if (option?.includes("NAME")) return word === undefined ? option : option.replace("NAME", word);
  if (option !== undefined) return word === undefined ? option : `${option} ${word}`;
  if (!SETTINGS.some((setting) => setting.name === name)) return name;
  return word === undefined ? `--set ${name}` : `--set ${name}=${word}`;
}

/** The parameter of that name among those of the groups, however its words are joined; refused with the closest ones. */
export function settingNamed(given: string, groups: readonly Group[]): Setting {
  const known = SETTINGS.filter(({ group }) => groups.includes(group));
  const found = known.find(({ name }) => name === given || kebab(name) === given);
  if (found) return found;
  const names = known.map(({ name }) => name);
  const hint = didYouMean(given, names) || "; --help all lists them.";
  throw new InvalidArgumentError(`There is no parameter ${JSON.stringify(given)} here${hint}`);
}

/** The parameter and the value of "name=value". */
export function settingOf(
  text: string,
  groups: readonly Group[],
  cwd: string,
): readonly [name: string, value: unknown] {
  const [, given, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (given === undefined) throw new InvalidArgumentError("Expected name=value, such as refine=true.");
  const setting = settingNamed(given.trim(), groups);
  return [setting.name, parseValue(setting, value, cwd)];
}
