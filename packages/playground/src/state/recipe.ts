/** Recipes on the page: which parameters there are, what stands at first, and how a recipe is written as text. */

import {
  CLASSIFIER_PARAMETERS,
  type Json,
  type ParameterInfo,
  PROBABILISTIC_PARAMETERS,
  WHOLE_PARAMETERS,
} from "@ranksim/core";
import type { EstimatorName, Recipe } from "../protocol.ts";

/** Parameters of each estimator, in the library's own table; what is chosen by the data has those of the choice. */
export const PARAMETERS: { readonly [name in EstimatorName]: readonly ParameterInfo[] } = {
  chosen: [
    {
      name: "preset",
      form: "choice",
      choices: ["fast", "balanced", "best"],
      default: "balanced",
      about: "how much is tried: fast trains the first recipe that suits, best tries all and blends them",
    },
    ...CLASSIFIER_PARAMETERS.filter(({ name }) => name === "seed"),
  ],
  classifier: CLASSIFIER_PARAMETERS,
  probabilistic: PROBABILISTIC_PARAMETERS,
  transform: WHOLE_PARAMETERS,
};

/** Estimators by the names that users know from the documentation. */
export const ESTIMATORS: { readonly [name in EstimatorName]: { readonly title: string; readonly about: string } } = {
  chosen: { title: "Chosen by the data", about: "as ranksim train does: the same file, byte for byte" },
  classifier: { title: "The paper's classifier", about: "filters for each class; fast" },
  probabilistic: {
    title: "The paper's probabilistic classifier",
    about: "filters for all rows; each knows its classes",
  },
  transform: { title: "The paper's transform", about: "filters only, no labels needed" },
};

/** Parameters by what they are about, those that most people change first at the head of each. The last group takes those that none names. */
const PARAMETER_GROUPS: readonly { readonly title: string; readonly names: readonly string[] }[] = [
  {
    title: "Filters",
    names: [
      ...["preset", "filters", "iterations", "seed", "initialize", "spreading", "tolerance", "classWeight"],
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

/** Trained at each example that is taught: the first recipe that suits, on all there is. */
export const TAUGHT_RECIPE: Recipe = { estimator: "chosen", heldOut: 0, params: { preset: "fast" } };

/** The recipe for a data set that was just dropped: what suits it, or without labels filters alone. */
export function recipeFor(labelled: boolean): Recipe {
  return { estimator: labelled ? "chosen" : "transform", heldOut: labelled ? HELD_OUT : 0, params: {} };
}

/** A recipe with one parameter changed; a value equal to its default is left out. */
export function withParam(recipe: Recipe, info: ParameterInfo, value: Json | undefined): Recipe {
  const { [info.name]: _, ...others } = recipe.params;
  const same = value === undefined || JSON.stringify(value) === JSON.stringify(info.default);
  return { ...recipe, params: same ? others : { ...others, [info.name]: value } };
}

/** A recipe for another estimator; parameters it does not have are dropped. */
export function withEstimator(recipe: Recipe, estimator: EstimatorName): Recipe {
  const known = new Set(PARAMETERS[estimator].map(({ name }) => name));
  const params = Object.fromEntries(Object.entries(recipe.params).filter(([name]) => known.has(name)));
  return { ...recipe, estimator, params };
}

/** Whether two recipes make the same model of the same data. */
export function sameRecipe(a: Recipe, b: Recipe): boolean {
  const text = ({ estimator, heldOut, params }: Recipe) =>
    JSON.stringify([estimator, heldOut, Object.entries(params).sort(([p], [q]) => (p < q ? -1 : 1))]);
  return text(a) === text(b);
}
