/** What a measuring process is asked to do. Jobs are JSON, so that Node and Python take them alike. */

import type { BackendName } from "@ranksim/core";
import type { PhaseName } from "./results.ts";

/** Fit one of this project's estimators and apply it. */
export interface EstimateJob {
  readonly task: "estimate";
  readonly estimator: "classifier" | "probabilistic" | "transform";
  readonly backend: BackendName;
  readonly threads: number;
  readonly data: string;
  readonly phases: readonly PhaseName[];
  readonly seed: number;
  /** The classifier's parameters, where they are not the defaults. */
  readonly params?: { readonly filters: number; readonly refine: boolean };
  /** Where to leave the model, if anywhere. */
  readonly saveTo?: string;
}

/** The same with an npm package that others would pick. */
export interface PeerJob {
  readonly task: "npm-peer";
  readonly peer: string;
  readonly data: string;
  readonly seed: number;
}

/** Search with a saved classifier's filters by one kernel. */
export interface KernelJob {
  readonly task: "kernel";
  readonly kernel: string;
  readonly model: string;
  readonly data: string;
  readonly rows: number;
  readonly k: number;
  readonly runs: number;
}

/** Fit a classifier on synthetic bytes. */
export interface GrowthJob {
  readonly task: "growth";
  readonly rows: number;
  readonly features: number;
  readonly filters: number;
  readonly backend: BackendName;
}

/** The same for a system of the Python side (python/measure.py). */
export interface PythonJob {
  readonly task: "python";
  readonly system: string;
  /** Folder of the authors' package. */
  readonly package: string | undefined;
  /** Element type of the rows, by numpy's name. */
  readonly dtype: string;
  readonly data: string;
  readonly phases: readonly PhaseName[];
  readonly seed: number;
}

export type NodeJob = EstimateJob | PeerJob | KernelJob | GrowthJob;
