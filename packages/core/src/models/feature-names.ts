/** What the features of a part of a model are called: columns, words of a vocabulary, pairs of them, patches, filters. */

import type { Model } from "./estimator.ts";
import type { LoadedModel } from "./loaded.ts";
import type { PairModel } from "./pairs.ts";
import type { PatchModel } from "./patches.ts";

/** What is known of the features of a part. */
export interface FeatureNames {
  readonly count: number;
  nameOf(feature: number): string;
  /** The feature of the encoder of columns that it is; undefined where it is made of several, or of none. */
  encodedOf(feature: number): number | undefined;
}

/** The features that a part of `width` features is given, by the steps before it and the columns of the data; undefined where they have no names. */
export function namesAfter(
  steps: readonly Model[],
  columns: readonly string[] | undefined,
  width: number,
): FeatureNames | undefined {
  const found = madeBySteps(steps, columns && listed(columns));
  return found?.count === width ? found : undefined;
}

const NONE = () => undefined;

const listed = (names: readonly string[]): FeatureNames => ({
  count: names.length,
  nameOf: (feature) => names[feature],
  encodedOf: NONE,
});

const madeBySteps = (steps: readonly Model[], given: FeatureNames | undefined) =>
  steps.reduce((found, step) => madeBy(step, found), given);

/** What a step makes of features. */
function madeBy(step: Model, given: FeatureNames | undefined): FeatureNames | undefined {
  // Encoders of columns and vectorisers are of other packages, and name what they make.
  const { featureNames, featureColumns } = step as { featureNames?: readonly string[]; featureColumns?: unknown };
  if (featureNames) return { ...listed(featureNames), ...(featureColumns ? { encodedOf: (feature) => feature } : {}) };
  const known = step as LoadedModel;
  switch (known.kind) {
    case "standard-scaler":
    case "min-max-scaler":
    case "max-abs-scaler":
    case "row-scaler":
      return given;
    case "pipeline":
      return madeBySteps(known.steps, given);
    case "patches":
      return listed(patchNames(known));
    case "pairs":
      return given && pairsOf(known, given);
    case "union": {
      const parts = known.steps.map((one) => madeBy(one, given));
      return sideBySide(known.hasRows ? [given, ...parts] : parts);
    }
    case "transform":
    case "classifier":
    case "probabilistic":
      return { count: known.bank.filters, nameOf: (filter) => `likeness to filter ${filter}`, encodedOf: NONE };
    default:
      return undefined;
  }
}

/** What a pooled feature is: a patch filter, and the cell of the grid it was found in, from the top left. */
function patchNames({ layers }: PatchModel): string[] {
  return layers.flatMap(({ bank, windows: { cellsAcross, cellsDown, patchWidth, patchHeight } }) => {
    const size = layers.length > 1 ? `${patchWidth}x${patchHeight} ` : "";
    return Array.from({ length: cellsAcross * cellsDown * bank.filters }, (_, feature) => {
      const cell = Math.floor(feature / bank.filters);
      return `${size}patch ${feature % bank.filters} in cell ${cell % cellsAcross}, ${Math.floor(cell / cellsAcross)}`;
    });
  });
}

function pairsOf({ features: n, pairs }: PairModel, { nameOf, encodedOf }: FeatureNames): FeatureNames {
  return {
    count: n + pairs.length,
    nameOf: (feature) => {
      if (feature < n) return nameOf(feature);
      const pair = pairs[feature - n];
      return `${nameOf(Math.floor(pair / n))} and ${nameOf(pair % n)}`;
    },
    encodedOf: (feature) => (feature < n ? encodedOf(feature) : undefined),
  };
}

function sideBySide(parts: readonly (FeatureNames | undefined)[]): FeatureNames | undefined {
  const known = parts.filter((part) => part !== undefined);
  if (known.length < parts.length) return undefined;
  const of = <T>(feature: number, ask: (part: FeatureNames, own: number) => T): T => {
    let own = feature;
    const part = known.find(({ count }) => {
      if (own < count) return true;
      own -= count;
      return false;
    });
    return ask(part as FeatureNames, own);
  };
  return {
    count: known.reduce((sum, { count }) => sum + count, 0),
    nameOf: (feature) => of(feature, (part, own) => part.nameOf(own)),
    encodedOf: (feature) => of(feature, (part, own) => part.encodedOf(own)),
  };
}
