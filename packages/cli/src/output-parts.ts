/** What several of the results have in them that --json prints (output.ts). */

import type { Label } from "@ranksim/core";
import type { Baseline, Interval } from "@ranksim/learn";

/**
 * @asType integer
 * @minimum 0
 */
export type Count = number;

/**
 * @minimum 0
 * @maximum 1
 */
export type Share = number;

/** @pattern ^[0-9a-f]{64}$ */
export type Digest = string;

export interface PrecisionRecall {
  readonly precision: Share;
  readonly recall: Share;
  readonly f1: Share;
}

export interface Bin {
  readonly from: Share;
  readonly to: Share;
  readonly count: Count;
  readonly probability: Share;
  readonly right: Share;
}

export interface Reliability {
  readonly calibrationError: Share;
  readonly bins: readonly Bin[];
  readonly logLoss?: number;
  readonly before?: Reliability;
}

export interface Refinement {
  readonly refined: boolean;
  readonly heldOutRows: Count;
  readonly before: Share;
  readonly after: Share;
  readonly epochs?: Count;
  readonly window?: number;
}

export interface TrainingReport {
  readonly rows: Count;
  readonly features: Count;
  readonly filters: Count;
  readonly converged: boolean;
  readonly notes: readonly string[];
  readonly iterations?: Count;
  readonly trainings?: readonly {
    readonly rows: Count;
    readonly filters: Count;
    readonly converged: boolean;
    readonly steps: readonly {
      readonly iteration: Count;
      readonly moved: Count;
      readonly empty: Count;
      readonly seconds?: number;
    }[];
    readonly label?: Label;
  }[];
  readonly refinement?: Refinement;
  readonly seconds?: number;
  readonly backend?: string;
  readonly pruned?: number;
  readonly fallbacks?: readonly string[];
}

export interface Intervals {
  readonly accuracy: Interval;
  readonly macroF1: Interval;
}

/** Of rows that `--test-share` held out of training. */
/** The most frequent class, and what always answering it would reach. */
export interface Majority {
  readonly label: Label;
  readonly accuracy: Share;
}

export interface HeldOutScores {
  readonly rows: Count;
  readonly accuracy: Share;
  readonly macroF1: Share;
  readonly majority?: Majority;
  readonly recall?: readonly { readonly label: Label; readonly recall: Share }[];
  readonly intervals?: Intervals;
  readonly baselines?: readonly Baseline[];
}
