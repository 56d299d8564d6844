/** Recipes on the page: which parameters there are, what stands at first, and how a recipe is written as text. */

import {
  CLASSIFIER_PARAMETERS,
  type Json,
  type ParameterInfo,
  PROBABILISTIC_PARAMETERS,
  WHOLE_PARAMETERS,
} from "@ranksim/core";
import type { DataSummary, EstimatorName, Recipe } from "../protocol.ts";

/** What the command's preset for images has other than a classifier alone. */
const PATCH_DEFAULTS: { readonly [name: string]: Json } = {
  refine: true,
  refineWindow: 0.04,
  calibrate: "temperature",
  decision: "probability",
};

/** Parameters of each estimator, in the library's own table. */
export const PARAMETERS: { readonly [name in EstimatorName]: readonly ParameterInfo[] } = {
  classifier: CLASSIFIER_PARAMETERS,
  probabilistic: PROBABILISTIC_PARAMETERS,
  transform: WHOLE_PARAMETERS,
  // Always refined, as the command's preset is.
  patches: CLASSIFIER_PARAMETERS.filter(({ name }) => name !== "refine").map((info) => ({
    ...info,
    default: PATCH_DEFAULTS[info.name] ?? info.default,
  })),
};

/** Estimators by the names that users know from the documentation. */
export const ESTIMATORS: { readonly [name in EstimatorName]: { readonly title: string; readonly about: string } } = {
  classifier: { title: "Classifier", about: "filters for each class; fast" },
  probabilistic: { title: "Probabilistic classifier", about: "filters for all rows; each knows its classes" },
  transform: { title: "Transform", about: "filters only, no labels needed" },
  patches: {
    title: "Classifier on patches",
    about: "for pictures, in two layers: patches first, then filters of classes",
  },
};

/** Parameters by what they are about, those that most people change first at the head of each. The last group takes those that none names. */
const PARAMETER_GROUPS: readonly { readonly title: string; readonly names: readonly string[] }[] = [
  {
    title: "Filters",
    names: [
      ...["filters", "iterations", "seed", "initialize", "spreading", "tolerance", "classWeight"],
      ...["fastFilters", "maxFilters", "initialRows", "keepSums"],
    ],
  },
  {
    title: "Weights",
    names: ["distribution", "filterFunction", "distributionPerClass", "density", "confusionRows"],
  },
  {
    title: "Answers",
    names: [
      ...["refine", "calibrate", "nBest", "voters", "decision", "committee", "combine", "thresholds"],
      ...["refineEpochs", "refineWindow"],
    ],
  },
];

/** The parameters of an estimator, each in one group. */
export function parameterGroups(
  estimator: EstimatorName,
): readonly { readonly title: string; readonly infos: readonly ParameterInfo[] }[] {
  const infos = PARAMETERS[estimator];
  const named = new Set(PARAMETER_GROUPS.flatMap(({ names }) => names));
  const others = infos.filter(({ name }) => !named.has(name));
  return PARAMETER_GROUPS.map(({ title, names }, j) => {
    const own = names.flatMap((wanted) => infos.filter(({ name }) => name === wanted));
    return { title, infos: j === PARAMETER_GROUPS.length - 1 ? [...own, ...others] : own };
  });
}

/** Share held out at first: the library's own default for a split. */
const HELD_OUT = 0.25;

/** So few filters can all be seen at once; refined they still read 97 % of unseen digits, calibrated they say how sure they are. */
const FIRST_PARAMS = { filters: 35, refine: true, calibrate: "temperature", decision: "probability" } as const;

/** The recipe that the page opens with. */
export const FIRST_RECIPE: Recipe = { estimator: "classifier", heldOut: HELD_OUT, params: FIRST_PARAMS };

/** The recipe for a data set that was just dropped: the library's defaults, by the labels there are. */
export function recipeFor(labelled: boolean, multilabel: boolean): Recipe {
  const estimator = !labelled ? "transform" : multilabel ? "probabilistic" : "classifier";
  return { estimator, heldOut: labelled ? HELD_OUT : 0, params: {} };
}

/** Whether patches can be looked for: in pictures of one class each that are not too small for windows. */
export function hasPatches(data: DataSummary | undefined): boolean {
  const size = data?.form === "dense" && !data.multilabel && data.classes.length > 0 ? data.imageSize : undefined;
  return size !== undefined && Math.min(size.width, size.height) >= SMALLEST_SIDE;
}

/** Pictures with shorter sides have no room for windows. */
const SMALLEST_SIDE = 5;

/** A recipe with one parameter changed; a value equal to its default is left out. */
export function withParam(recipe: Recipe, info: ParameterInfo, value: Json | undefined): Recipe {
  const { [info.name]: _, ...others } = recipe.params;
  const same = value === undefined || JSON.stringify(value) === JSON.stringify(info.default);
  return { ...recipe, params: same ? others : { ...others, [info.name]: value } };
}

/** A recipe for another estimator; parameters it does not have are dropped. */
export function withEstimator(recipe: Recipe, estimator: EstimatorName): Recipe {
  const known = new Set(PARAMETERS[estimator].map(({ name }) => name));
  // What a recipe of patches does by itself need not be said, and so few filters of classes as pixels need are too few.
  const turns = (recipe.estimator === "patches") !== (estimator === "patches");
  const isKept = (name: string) => known.has(name) && !(turns && (name in PATCH_DEFAULTS || name === "filters"));
  const params = Object.fromEntries(Object.entries(recipe.params).filter(([name]) => isKept(name)));
  return { ...recipe, estimator, params };
}

/** Whether two recipes make the same model of the same data. */
export function sameRecipe(a: Recipe, b: Recipe): boolean {
  const text = ({ estimator, heldOut, params }: Recipe) =>
    JSON.stringify([estimator, heldOut, Object.entries(params).sort(([p], [q]) => (p < q ? -1 : 1))]);
  return text(a) === text(b);
}
