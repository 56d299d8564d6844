/**
 * A point: one measurement of a table or figure, as plain data. A point is named by everything that decides its result, so a
 * result that is already there is found again by its specification and a changed specification is measured again.
 */

import type { DataName } from "../runner/data.ts";
import type { Row } from "../runner/results.ts";
import type { RowChoice } from "../runner/rows.ts";

/** Parameters of an estimator, ours or scikit-learn's. */
export interface Params {
  readonly [name: string]: number | string | boolean | readonly number[];
}

/** How rows are scaled before a scikit-learn estimator or a linear SVM sees them. */
export type Scale = "none" | "unit" | "standard";

/** Fit and apply an estimator of this project. */
export interface FitTask {
  readonly task: "fit";
  readonly system: "rsc" | "rspc" | "svm" | "rst-svm";
  readonly params: Params;
  /** Parameters of the linear SVM behind the transform. */
  readonly svm?: Params;
  readonly scale?: Scale;
}

/** Fit a classifier once and judge its probabilities for several nBest. */
export interface LogLossTask {
  readonly task: "log-loss";
  readonly nBest: readonly number[];
  readonly params: Params;
}

/** The distribution D of a data set by confusion, by means and by ranks. */
export interface DistributionTask {
  readonly task: "distributions";
  readonly params: Params;
}

/** Fit a transform and find the strongest filters of one test image of each class. */
export interface StrongestTask {
  readonly task: "strongest-filters";
  readonly params: Params;
  readonly filtersShown: number;
}

/** Fit and apply an estimator of scikit-learn, by its name there, one against the rest where labels are several. */
export interface PeerTask {
  readonly task: "sklearn";
  readonly system: string;
  readonly params: Params;
  readonly scale: Scale;
  /** A dimensionality reduction before it. */
  readonly before?: { readonly system: string; readonly params: Params };
}

/** Everything that decides a result. */
export type Spec = {
  readonly data: DataName;
  readonly rows: RowChoice;
} & (FitTask | LogLossTask | DistributionTask | StrongestTask | PeerTask);

/** A specification and how it is dealt with. */
export interface Point {
  readonly name: string;
  readonly spec: Spec;
  /** Whether it takes so long that all others go first. */
  readonly late?: boolean;
}

/** Processor seconds of training and of applying, everything between raw rows and labels included. */
export interface Seconds {
  readonly train: number;
  readonly apply: number;
}

/** What a measuring process found. */
export interface Measured {
  readonly macroF1?: number;
  readonly microF1?: number;
  readonly seconds?: Seconds;
  readonly facts?: { readonly [name: string]: number | string | boolean };
  /** Curves by name. */
  readonly curves?: { readonly [name: string]: readonly number[] };
  /** Images and the filters that answer to them. */
  readonly pictures?: readonly FilterPictures[];
  /** Processor seconds of the whole process. */
  readonly cpu: number;
}

/** A test image and its strongest filters, as grey values 0..255 in base64. */
export interface FilterPictures {
  readonly label: string;
  readonly row: number;
  readonly image: string;
  readonly filters: readonly { readonly weights: string; readonly activation: number }[];
}

/** What was found, from the row that was kept. */
export function measuredOf({ figures, facts, curves, pictures }: Row): Measured {
  const { macroF1, microF1, fit, predict, cpu } = figures as { readonly [name: string]: number };
  return {
    ...(macroF1 === undefined ? {} : { macroF1, microF1 }),
    ...(fit === undefined ? {} : { seconds: { train: fit, apply: predict } }),
    ...(facts ? { facts } : {}),
    ...(curves ? { curves } : {}),
    ...(pictures ? { pictures: pictures as readonly FilterPictures[] } : {}),
    cpu,
  };
}
