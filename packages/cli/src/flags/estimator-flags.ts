/** The three estimators by name, and their parameters as flags. */

import {
  CLASSIFIER_PARAMETERS,
  type ParameterInfo,
  PROBABILISTIC_PARAMETERS,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  WHOLE_PARAMETERS,
} from "@ranksim/core";
import { type Command, Option } from "commander";
import { aboutParameter, addFlags, flagOf, settled } from "./parameter-flags.ts";
import { usageError } from "./usage-error.ts";

/** The kinds of estimators by the names that --estimator takes. */
export type EstimatorName = "classifier" | "probabilistic" | "transform";

/** An estimator of any of the three kinds. */
export type FilterEstimator =
  | RankSimilarityClassifier
  | RankSimilarityProbabilisticClassifier
  | RankSimilarityTransform;

const TABLES: { readonly [name in EstimatorName]: readonly ParameterInfo[] } = {
  classifier: CLASSIFIER_PARAMETERS,
  probabilistic: PROBABILISTIC_PARAMETERS,
  transform: WHOLE_PARAMETERS,
};

const NAMES = Object.keys(TABLES) as EstimatorName[];

/** Every parameter once. */
const ALL: readonly ParameterInfo[] = [
  ...CLASSIFIER_PARAMETERS,
  ...PROBABILISTIC_PARAMETERS.filter(({ name }) => !CLASSIFIER_PARAMETERS.some((info) => info.name === name)),
];

/** The tables of all parameters of estimators. */
export const parameterTables = (): readonly ParameterInfo[] => ALL;

/** Adds --estimator (of those given) and a flag for each parameter. */
export function addEstimatorFlags(command: Command, estimators: readonly EstimatorName[]): Command {
  command.addOption(
    new Option("--estimator <name>", "what to train (default: classifier, with --multilabel probabilistic)").choices(
      estimators,
    ),
  );
  const shown = ALL.filter(({ name }) => estimators.some((estimator) => infoOf(estimator, name)));
  addFlags(command, shown, "Parameters of the estimator:", (info) => {
    const classifier = infoOf("classifier", info.name);
    const others = infoOf("transform", info.name);
    const owners = NAMES.filter((name) => infoOf(name, info.name));
    if (!others) return `${aboutParameter(info)}; ${owners.join(" and ")} only`;
    if (!classifier || JSON.stringify(classifier.default) === JSON.stringify(others.default))
      return aboutParameter(info);
    return aboutParameter(info, `${classifier.default} for the classifier, else ${others.default}`);
  });
  return command;
}

/** The estimator by name: rows of several labels are for the probabilistic one. */
export function estimatorName(options: { readonly [name: string]: unknown }): EstimatorName {
  return (
    (options.estimator as EstimatorName | undefined) ?? (options.multilabel === true ? "probabilistic" : "classifier")
  );
}

/** The parameters that flags give, whatever the estimator, and notes for the user. */
export async function givenParams(
  options: { readonly [name: string]: unknown },
  cwd: string,
): Promise<{ readonly params: Record<string, unknown>; readonly notes: readonly string[] }> {
  const params: Record<string, unknown> = {};
  for (const { name } of ALL) {
    if (options[name] !== undefined) params[name] = await settled(name, options[name], cwd);
  }
  if (params.classWeight !== "balanced") return { params, notes: [] };
  const note = '--class-weight balanced is called "proportional", which is what it does; it was taken as that';
  return { params: { ...params, classWeight: "proportional" }, notes: [note] };
}

/** The estimator that the flags describe, and notes for the user. */
export async function estimatorOf(
  options: { readonly [name: string]: unknown },
  cwd: string,
): Promise<{ readonly estimator: FilterEstimator; readonly notes: readonly string[] }> {
  const name = estimatorName(options);
  for (const info of ALL) {
    if (options[info.name] === undefined || infoOf(name, info.name)) continue;
    const owners = NAMES.filter((other) => infoOf(other, info.name)).join(" or ");
    throw usageError(`${flagOf(info.name)} belongs to --estimator ${owners}, found ${name}`);
  }
  const { params, notes } = await givenParams(options, cwd);
  switch (name) {
    case "classifier":
      return { estimator: new RankSimilarityClassifier(params), notes };
    case "probabilistic":
      return { estimator: new RankSimilarityProbabilisticClassifier(params), notes };
    case "transform":
      return { estimator: new RankSimilarityTransform(params), notes };
  }
}

function infoOf(estimator: EstimatorName, name: string): ParameterInfo | undefined {
  return TABLES[estimator].find((info) => info.name === name);
}
