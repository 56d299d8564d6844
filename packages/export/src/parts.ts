/** Models taken apart for export: a patch stage or none, scalers, then one part with filters. All else is refused by name. */

import {
  ClassifierModel,
  ConformalModel,
  expandFilter,
  type FilterBank,
  type Model,
  PatchModel,
  PipelineModel,
  ProbabilisticModel,
  RanksimError,
  ScalerModel,
  TransformModel,
  type Weights,
} from "@ranksim/core";

/** A model with filters of its own. */
export type FilterModel = ClassifierModel | ProbabilisticModel | TransformModel;

/** (x − shift) / scale for each feature; where the scale is 0 the feature becomes 0. */
export interface Scaling {
  readonly shift: Float64Array;
  readonly scale: Float64Array;
}

/** A model as an export sees it. */
export interface Parts {
  /** What comes before all else where rows are images. */
  readonly patches: PatchModel | undefined;
  readonly scalings: readonly Scaling[];
  readonly filters: FilterModel;
}

/** Steps that take words and cells, which none of the formats can say. */
const TAKES_CELLS = new Set(["table-encoder", "count-vectorizer", "tfidf-vectorizer", "hashing-vectorizer"]);
const CELLS_ELSEWHERE =
  "it takes texts or cells of tables, the format only numbers. The server (ranksim serve) and python/ranksim_model.py take the model as it is. Columns that are all numbers: train --set table=false --for onnx";

/** What makes a model that can be exported. */
const CURE = "train makes one where it is told what for (--for onnx, --for c, --for spikes)";

/** The parts of a model, without what a model of `--sets` knows beside them; refused (code "unsupported") where a step is none of them. */
export function partsOf(model: Model, format: string): Parts {
  const inner: Model = model instanceof ConformalModel ? model.model : model;
  const steps = inner instanceof PipelineModel ? inner.steps : [inner];
  const patches = steps.length > 1 && steps[0] instanceof PatchModel ? steps[0] : undefined;
  const scalings = steps.slice(patches ? 1 : 0, -1).map((step) => {
    if (step instanceof ScalerModel) return scalingOf(step);
    if (TAKES_CELLS.has(step.kind)) throw refuse(format, step.kind, CELLS_ELSEWHERE);
    throw refuse(format, step.kind, `expected patches, scalers, then one part with filters; ${CURE}`);
  });
  const filters = steps[steps.length - 1];
  if (
    filters instanceof ClassifierModel ||
    filters instanceof ProbabilisticModel ||
    filters instanceof TransformModel
  ) {
    return { patches, scalings, filters };
  }
  throw refuse(
    format,
    filters.kind,
    `expected filters: a classifier, a probabilistic classifier or a transform; ${CURE}`,
  );
}

/** What takes a model that a format cannot say. */
const ONNX_TAKES_IT = "ONNX (--to onnx) takes it as it is";

/** A classifier that takes raw rows and in which filters alone decide. */
export function classifierOf(model: Model, format: string): ClassifierModel {
  const { classifier, patches } = imageClassifierOf(model, format);
  if (!patches) return classifier;
  const why = "no node stands for the strongest filters of a window";
  throw refuse(format, `model with ${patches.kind}`, `${why}; ONNX and C take it; a classifier of raw rows can be`);
}

/** The same, or one of images with a stage of patches before it. */
export function imageClassifierOf(
  model: Model,
  format: string,
): { readonly classifier: ClassifierModel; readonly patches: PatchModel | undefined } {
  const { patches, scalings, filters } = partsOf(model, format);
  if (scalings.length > 0)
    throw refuse(format, "scaler", `expected a model that takes whole rows as they are; ${ONNX_TAKES_IT}`);
  if (!(filters instanceof ClassifierModel)) {
    const why = filters instanceof ProbabilisticModel ? "shares of labels are no whole numbers" : "it names no class";
    throw refuse(format, filters.kind, `${why}; expected a classifier; ${ONNX_TAKES_IT}`);
  }
  if (filters.voters > 1) {
    throw new RanksimError(
      "unsupported",
      `${format}: expected one voter, found ${filters.voters}; train with voters 1. ${ONNX_TAKES_IT}`,
    );
  }
  if (filters.decision === "probability" && filters.params.calibrate === "isotonic") {
    throw new RanksimError(
      "unsupported",
      `${format}: expected a class that responses decide, found isotonic probabilities that do; train with calibrate "temperature" or decision "vote". ${ONNX_TAKES_IT}`,
    );
  }
  return { classifier: filters, patches };
}

/**
 * Whether the class with the largest score wins, the lowest of equals: a committee's, or that of the strongest response where fitted
 * probabilities decide. Else it is the class with most of the strongest filters.
 */
export function isScored({ committee, decision, params }: ClassifierModel): boolean {
  return committee > 1 || (decision === "probability" && params.calibrate !== "none");
}

/** The weights of all filters, filters x features. */
export function denseWeights(bank: FilterBank): Weights {
  const { filters, features: n } = bank;
  if (bank.form === "dense") return bank.weights;
  const out = new (bank.weights.constructor as new (length: number) => Weights)(filters * n);
  const one = new Float64Array(n);
  for (let f = 0; f < filters; f++) {
    expandFilter(bank, f, one);
    out.set(one, f * n);
  }
  return out;
}

/** Whether weights are whole doubled ranks, which all have one norm. */
export function isRanked(bank: FilterBank): boolean {
  return !(bank.weights instanceof Float64Array) && bank.norm.every((norm) => norm === bank.norm[0]);
}

/** Filters by class: the numbers of the filters of each class, ascending. */
export function filtersByClass(filterClass: Uint32Array, classes: number): number[][] {
  const groups: number[][] = Array.from({ length: classes }, () => []);
  for (const [f, c] of filterClass.entries()) groups[c].push(f);
  return groups;
}

/** Refuses a model that would be larger than its format or its reader can take. */
export function refuseLarge(bank: FilterBank, format: string, bytesEach: number, most: number): void {
  const bytes = bank.filters * bank.features * bytesEach;
  if (bytes <= most) return;
  throw new RanksimError(
    "unsupported",
    `${format}: ${bank.filters} filters of ${bank.features} features take ${bytes} bytes, at most ${most} are possible; ` +
      "train with fewer filters",
  );
}

function scalingOf(step: ScalerModel): Scaling {
  const { shift, scale } = step.save().arrays;
  return { shift: shift.values as Float64Array, scale: scale.values as Float64Array };
}

function refuse(format: string, kind: string, expected: string): RanksimError {
  return new RanksimError("unsupported", `${format}: a ${kind} cannot be exported; ${expected}`);
}
