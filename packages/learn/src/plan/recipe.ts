/** Recipes for data: which candidates suit it, what each would train, and in which order they stand. */

import { type Estimator, type Label, type Model, RanksimError } from "@ranksim/core";
import { type AnyRows, type DetectedColumn, type MatrixRows, rowCount } from "@ranksim/data";
import { CANDIDATES } from "./candidates/all.ts";
import { type Candidate, type Cost, entriesOf, PURPOSES } from "./candidates/candidate.ts";
import { type DataKind, isImages, isSparse, kindOf, paperKind, takesOf } from "./kind.ts";
import { paper } from "./paper.ts";
import type { Prepared, View } from "./prepare.ts";
import { isUncalibrated, PRESETS, type Preset, type RecipeOptions, type Task } from "./task.ts";

/** A recipe for data. */
export interface Recipe {
  /** The candidate that it comes from: a few words. */
  readonly name: string;
  /** Absent where an estimator was named. */
  readonly preset?: Preset;
  readonly kind: DataKind;
  /** Whether it takes rows of numbers, texts or a table. */
  readonly takes: Task["takes"];
  readonly estimator: Estimator<never, Model>;
  /** One line for people: what was chosen, for what. */
  readonly about: string;
  /** Tables: what the columns were taken for, those that are left out among them. */
  readonly columns?: readonly DetectedColumn[];
}

/** A recipe that may be tried. */
export interface Trial extends Recipe {
  /** The rows as it takes them. */
  readonly data: AnyRows;
  readonly isUsual: boolean;
  /** Whether the rows need not be in memory. */
  readonly streams: boolean;
  /** What fits to so many rows cost, roughly. */
  cost(rows: number): Cost;
}

/**
 * The recipes that suit the data, in the order of the candidates. Refuses (code "bad-params") a preset that does not exist, parameters that no
 * candidate takes, and patches of what is not images.
 */
export function trialsFor(prepared: Prepared, options: RecipeOptions = {}): readonly Trial[] {
  const preset = options.estimator === undefined ? (options.preset ?? "balanced") : "paper";
  if (!PRESETS.includes(preset)) {
    throw new RanksimError("bad-params", `preset: expected ${PRESETS.join(", ")}, found ${JSON.stringify(preset)}`);
  }
  if (options.purpose !== undefined && !PURPOSES.includes(options.purpose)) {
    throw new RanksimError(
      "bad-params",
      `purpose: expected ${PURPOSES.join(", ")}, found ${JSON.stringify(options.purpose)}`,
    );
  }
  const tasks = prepared.views.map((view) => taskOf(view, preset, options));
  refusePatches(tasks[0]);
  if (preset === "paper") return [trialOf(tasks[0], { ...PAPER, make: paper })];
  const isGood = ({ purposes }: Candidate) => options.purpose === undefined || purposes.includes(options.purpose);
  const isHeld = ({ streams }: Candidate) => streams || entriesOf(tasks[0]) * tasks[0].rows <= MOST_HELD;
  const found = CANDIDATES.filter((one) => isGood(one) && isHeld(one)).flatMap((candidate) => {
    const task = tasks.find((one) => candidate.suits(one));
    return task ? [trialOf(task, candidate)] : [];
  });
  if (found.length > 0) return found;
  throw noneFor(tasks[0], options);
}

/** Values of rows that may be held in memory, wherever they come from: the same recipes are tried of rows that are read in blocks. */
const MOST_HELD = 2 ** 24;

const PAPER = { name: "the paper's method", isUsual: true, streams: true, cost: () => ({ once: 0, each: 0 }) };

/** The first recipe for data as it is: what is trained where nothing is tried. `columns` are those that `prepare` found in a table. */
export function recipeFor(data: AnyRows, options: RecipeOptions = {}, columns?: readonly DetectedColumn[]): Recipe {
  return trialsFor({ views: [{ data, ...(columns ? { columns } : {}) }] }, options)[0];
}

function trialOf(
  task: Task,
  { name, isUsual, streams, cost, make }: Pick<Candidate, "name" | "isUsual" | "streams" | "cost" | "make">,
): Trial {
  const { estimator, what } = make(task);
  const { data, kind, takes, preset, columns } = task;
  const title = task.estimator ?? preset;
  const few = isUncalibrated(task, estimator) ? "; too few rows to fit probabilities" : "";
  return {
    name,
    ...(task.estimator === undefined ? { preset } : {}),
    kind,
    takes,
    estimator,
    about: `${title}, for ${describe(task)}: ${what}${few}`,
    ...(columns.length > 0 ? { columns } : {}),
    data,
    isUsual,
    streams,
    cost: (rows) => cost(task, rows),
  };
}

function taskOf(
  { data, columns, characters = USUAL_CHARACTERS }: View,
  preset: Preset,
  { estimator, seed = 0, params = {}, patches = {}, encoding = {}, vectorizer, purpose }: RecipeOptions,
): Task {
  const names = new Set<Label>();
  for (const label of data.y ?? []) {
    if (Array.isArray(label)) for (const one of label) names.add(one as Label);
    else names.add(label as Label);
  }
  const given = purpose === "update" ? { keepSums: true, ...params } : params;
  return {
    data,
    takes: takesOf(data),
    kind: preset === "paper" ? paperKind(data) : kindOf(data),
    labels: data.y === undefined ? "none" : Array.isArray(data.y[0]) ? "several" : "one",
    rows: rowCount(data),
    classes: Math.max(1, names.size),
    columns: columns ?? [],
    characters,
    ...{ preset, estimator, seed, params: given, patches, encoding, vectorizer },
  };
}

/** Of a text whose length was not looked at. */
const USUAL_CHARACTERS = 1000;

/** Why there is no candidate: a parameter that none takes, or a purpose that none serves. */
function noneFor(task: Task, { purpose, params = {} }: RecipeOptions): RanksimError {
  const kind = `a recipe for ${describe(task)}`;
  if (purpose !== undefined) {
    return new RanksimError("unsupported", `${kind} that is good for ${purpose}: there is none`);
  }
  const [name] = Object.keys(params);
  return new RanksimError(
    "bad-params",
    `unknown parameter ${name}, or one that does not go with others; there is no ${kind} with it`,
  );
}

function describe({ data, labels, rows, classes, kind }: Task): string {
  const [one, many] = labels === "several" ? ["label", "labels"] : ["class", "classes"];
  const labelled = labels === "none" ? "" : `, ${counted(classes, one, many)}`;
  if (data.form === "text") return `${counted(rows, "text")}${labelled}`;
  if (data.form === "table") {
    return `a table of ${counted(rows, "row")} and ${counted(data.table.columns.length, "column")}${labelled}`;
  }
  if (isImages(data)) {
    const { width, height } = data.imageSize;
    if (kind === "images") return `${counted(rows, "image")} of ${width} x ${height}${labelled}`;
  }
  const { features } = (data as MatrixRows).x;
  return `${counted(rows, "row")} of ${counted(features, `${isSparse(data) ? "sparse " : ""}feature`)}${labelled}`;
}

const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

function refusePatches({ kind, preset, patches }: Task): void {
  const [windows] = Object.keys(patches);
  if (kind === "images" || windows === undefined) return;
  throw new RanksimError(
    "bad-params",
    `patches.${windows}: expected labelled images and a preset other than paper, found ${preset}, for ${kind}`,
  );
}
