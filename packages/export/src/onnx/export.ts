/** A model as an ONNX file (opset 17, no operators but ONNX's own): rows in; labels and probabilities, or similarities, out. */

import { ClassifierModel, type Label, type Model, ProbabilisticModel, RanksimError, type Saved } from "@ranksim/core";
import { type FilterModel, partsOf, refuseLarge } from "../parts.ts";
import { calibrated, isCalibrated } from "./calibration.ts";
import { Graph, type Value } from "./graph.ts";
import { labelScores } from "./label-shares.ts";
import { imageBytes, imageRowType, pooled, pooledType } from "./patches.ts";
import { byteResponses, doubleResponses, fitsBytes, type RowType, scaled } from "./responses.ts";
import { similarities } from "./similarity.ts";
import {
  byClass,
  classScores,
  committeeScores,
  first,
  inOrder,
  scoreProbabilities,
  similarityProbabilities,
  similarityVote,
  strongestVote,
  voteShares,
} from "./votes.ts";

/** How a model is written. */
export interface OnnxOptions {
  /**
   * Element type of the rows that the file takes. "uint8" multiplies bytes and is the smallest and fastest; "float64", the
   * default, takes any numbers. Images of bytes before patches are always "uint8".
   */
  readonly rows?: RowType;
  /** Whether probabilities are an output beside labels; true where absent. */
  readonly probabilities?: boolean;
}

/** Protocol buffers end at 2 GiB; readers keep whole weights four times as wide. */
const MOST_BYTES = 2 ** 30;

const NAME = "ranksim";
const VERSION = "1";

/**
 * The model as the bytes of an ONNX file. The input `rows` is any number of rows; the outputs are `label` (int64 where all
 * classes are whole numbers, else strings) and `probabilities` (float64, in the order of the metadata entry `classes`); for
 * several labels per row `present` (truth values) in place of `label`; for a transform `similarities`. Labels are those of
 * `predict` wherever `areResponsesExact` says so and rows are whole numbers. Refuses (code "unsupported") models with steps
 * that are no filters or scalers.
 */
export function exportOnnx(model: Model, options: OnnxOptions = {}): Uint8Array {
  const { probabilities = true } = options;
  const { patches, scalings, filters: part } = partsOf(model, "onnx");
  const rowType = options.rows ?? (patches ? imageRowType(patches) : "float64");
  if (patches && !patches.scale && rowType !== "uint8") {
    throw new RanksimError(
      "unsupported",
      `onnx: images of this model are bytes: expected rows of uint8, found ${rowType}`,
    );
  }
  const { bank } = part;
  refuseLarge(bank, "onnx", bank.weights instanceof Float64Array ? 8 : 2, MOST_BYTES);
  const g = new Graph();
  const type = rowType === "uint8" ? "uint8" : rowType === "float32" ? "float" : "double";
  const rows = g.input("rows", type, ["rows", patches?.features ?? bank.features]);
  const taken = patches ? pooled(g, imageBytes(g, rows, patches, rowType), patches) : rows;
  const takenType = patches ? pooledType(patches) : rowType;
  let responses: Value;
  let seen: () => Value; // the rows that filters see, as doubles
  if (takenType === "uint8" && scalings.length === 0 && fitsBytes(bank)) {
    responses = byteResponses(g, taken, bank);
    seen = () => g.cast(taken, "double");
  } else {
    let wide = takenType === "float64" ? taken : g.cast(taken, "double");
    for (const scaling of scalings) wide = scaled(g, wide, scaling);
    responses = doubleResponses(g, wide, bank);
    seen = () => wide;
  }
  addAnswers(g, responses, part, probabilities, seen);
  const classes = "classes" in part ? part.classes : undefined;
  return g.encode({
    name: NAME,
    version: VERSION,
    about: `A ${part.kind} of ${bank.filters} rank similarity filters over ${bank.features} features.`,
    metadata: { kind: part.kind, ...(classes ? { classes: JSON.stringify(classes) } : {}) },
  });
}

/**
 * Whether a model's responses to rows of whole numbers are sums of whole numbers, which come out the same in any order. Of a
 * model with scalers, or with weights from a distribution other than ranks, the reader of the file chooses the order of
 * additions: labels can differ from those of `predict` where two filters have equal responses up to rounding.
 */
export function areResponsesExact(model: Model): boolean {
  const { scalings, filters } = partsOf(model, "onnx");
  return scalings.length === 0 && !(filters.bank.weights instanceof Float64Array);
}

function addAnswers(g: Graph, responses: Value, part: FilterModel, probabilities: boolean, seen: () => Value): void {
  if (part instanceof ClassifierModel) addClasses(g, responses, part, probabilities, seen);
  else if (part instanceof ProbabilisticModel) addShares(g, responses, part, probabilities, seen);
  else {
    const { similarity } = similarities(g, responses, part.bank.filters, part.nBest);
    g.output("similarities", similarity, "double", ["rows", part.bank.filters]);
  }
}

function addClasses(
  g: Graph,
  responses: Value,
  model: ClassifierModel,
  probabilities: boolean,
  seen: () => Value,
): void {
  const c = model.classes.length;
  const saved = model.save();
  if (model.decision === "probability") {
    const { found, label } = mostProbable(g, responses, model, saved, seen);
    addLabel(g, label, model.classes);
    if (probabilities) g.output("probabilities", found, "double", ["rows", c]);
    return;
  }
  if (model.committee > 1) {
    const scores = committeeScores(g, responses, model);
    addLabel(g, first(g, scores), model.classes);
    if (!probabilities) return;
    const found = isCalibrated(saved)
      ? calibrated(g, scores, "responses", saved, c, seen)
      : scoreProbabilities(g, scores, c);
    g.output("probabilities", found, "double", ["rows", c]);
    return;
  }
  const classes = byClass(g, model.filterClass, c);
  const voted = model.voters > 1 ? similarityVote(g, responses, model, classes) : strongestVote(g, responses, classes);
  addLabel(g, voted, model.classes);
  if (!probabilities) return;
  const found = isCalibrated(saved)
    ? calibrated(g, classScores(g, responses, model, classes), "responses", saved, c, seen)
    : similarityProbabilities(g, responses, model, classes);
  g.output("probabilities", found, "double", ["rows", c]);
}

/** Probabilities, and the most probable class of each row: that of the largest score, unless a function of each class changes the order. */
function mostProbable(
  g: Graph,
  responses: Value,
  model: ClassifierModel,
  saved: Saved,
  seen: () => Value,
): { readonly found: Value; readonly label: Value } {
  const c = model.classes.length;
  const classes = byClass(g, model.filterClass, c);
  const votes = model.voters > 1;
  const fitted = isCalibrated(saved);
  if (!fitted && model.committee === 1) {
    const found = (votes ? voteShares : similarityProbabilities)(g, responses, model, classes);
    return { found, label: first(g, found) };
  }
  const scores = votes
    ? voteShares(g, responses, model, classes)
    : model.committee > 1
      ? committeeScores(g, responses, model)
      : classScores(g, responses, model, classes);
  const found = fitted
    ? calibrated(g, scores, votes ? "shares" : "responses", saved, c, seen)
    : scoreProbabilities(g, scores, c);
  if (saved.arrays.calibration_points) return { found, label: first(g, found) };
  return { found: inOrder(g, found, scores), label: first(g, scores) };
}

function addShares(
  g: Graph,
  responses: Value,
  model: ProbabilisticModel,
  probabilities: boolean,
  seen: () => Value,
): void {
  const c = model.classes.length;
  const saved = model.save();
  const scores = labelScores(g, responses, model);
  if (model.multilabel) {
    const thresholds = model.thresholds ?? new Float64Array(c).fill(0.5);
    g.output("present", g.op("Greater", [scores, g.doubles(thresholds, [1, c])]), "bool", ["rows", c]);
  } else addLabel(g, first(g, scores), model.classes);
  if (!probabilities) return;
  const found = isCalibrated(saved) ? calibrated(g, scores, "shares", saved, c, seen) : scores;
  g.output("probabilities", found, "double", ["rows", c]);
}

/** Class numbers by their names. */
function addLabel(g: Graph, voted: Value, classes: readonly Label[]): void {
  const isWhole = classes.every((name) => Number.isSafeInteger(name));
  const names = classes.map(String);
  if (!isWhole && new Set(names).size < names.length) {
    const twice = names.find((name, j) => names.indexOf(name) !== j);
    throw new RanksimError(
      "unsupported",
      `onnx: labels of an ONNX file are all numbers or all strings, and the classes have ${twice} as both; rename one`,
    );
  }
  const table = isWhole ? g.integers(classes as number[], [classes.length]) : g.strings(names);
  g.output("label", g.op("Gather", [table, voted], { axis: 0 }), isWhole ? "int64" : "string", ["rows"]);
}
