/** What the worker finds out about a model: its filters, why it decides, what it gets wrong, as plain data for the page to show. */

import type { ImageSize, RowView } from "./protocol.ts";

/** A picture with a size of its own. */
export interface Pictured {
  readonly pixels: Uint8Array;
  readonly size: ImageSize;
}

/** A filter to look at. Weights are scaled so that the largest possible is 1 (255 in a picture). */
export interface FilterView {
  readonly filter: number;
  /** Its class, or for a probabilistic model the classes of its rows by share; empty for a transform. */
  readonly shares: readonly { readonly label: string; readonly share: number }[];
  /** Training rows it stands for. */
  readonly rows: number;
  /** One byte a feature; absent for wide data. */
  readonly picture?: Uint8Array;
  /** How it is drawn where its features are no pixels but patches: those it weighs most, in their places. */
  readonly drawn?: Pictured;
  /** The features that weigh most. */
  readonly top: readonly { readonly feature: number; readonly weight: number; readonly name?: string }[];
}

/** Why a sample is decided as it is. */
export interface Explanation {
  /** What the model answers; empty for a transform. */
  readonly labels: readonly string[];
  /** In the order of the model's classes; absent for a transform. */
  readonly probabilities?: Float64Array;
  /** Empty where planes decide, and where no filter responds. */
  readonly strongest: readonly StrongFilter[];
  /** What the rows most like the sample make of the answer, where rows are pictures of one class each. */
  readonly trust?: {
    /** What the model's own probability was before it was weighed by them. */
    readonly alone: number;
    readonly share: number;
    readonly isUnlike: boolean;
    /** Rows of the data set, the most alike first. */
    readonly nearest: readonly number[];
  };
  /** Whether there is nothing in the sample that a filter responds to. */
  readonly isEmpty: boolean;
  /** The strongest filter of another class. */
  readonly rival?: FilterView;
  /** The classes that the parts speak for and against; the strongest filter may be of another one where several vote. */
  readonly between?: readonly [given: string, rival: string];
  /** Features by the size of their part in the decision; of a model of patches pixels, which share the parts of their windows. */
  readonly features: Uint32Array;
  /** Their parts: positive speaks for the decision, negative for the rival. */
  readonly parts: Float64Array;
  /** Their values in the sample. */
  readonly values: Float64Array;
  /** Their names, where features have names: columns of a table, or words. */
  readonly names?: readonly string[];
  /** Responses of the filters on the wall, in their order; absent where they are too wide to be reckoned at each stroke. */
  readonly responses?: Float64Array;
  /** What the filters see of an image where patches come first: how much of each was found in each cell, and that as a picture. */
  readonly seen?: { readonly values: Float64Array; readonly drawn: Pictured };
  readonly milliseconds: number;
}

/** A patch filter that was found in a part of the image, and what that contributed to the decision. */
export interface FoundPatch {
  readonly drawn: Pictured;
  /** Pixels of the image in which it was looked for. */
  readonly cell: { readonly x: number; readonly y: number } & ImageSize;
  readonly part: number;
}

/** What spoke for a class: where in the image, and the patches that contributed most. */
export interface PatchSide {
  readonly label: string;
  readonly where: Uint8Array;
  readonly found: readonly FoundPatch[];
}

/** The patches behind a decision. */
export interface PatchView {
  readonly size: ImageSize;
  readonly given: PatchSide;
  /** Absent where there is no other class. */
  readonly rival?: PatchSide;
  /** All patch filters of each size. */
  readonly banks: readonly { readonly patch: ImageSize; readonly filters: readonly Uint8Array[] }[];
}

/** A sample as spikes: what arrives when, and how the strongest filter of each class fares. */
export interface SpikeView {
  /** Whether spikes are those of a second layer, of patches found and not of the sample's numbers. */
  readonly isPooled: boolean;
  /** Features in the order of their spikes, with the times. */
  readonly features: Uint32Array;
  readonly times: Float64Array;
  readonly end: number;
  /** When the class was certain, and after how many spikes. */
  readonly settledAt: number;
  readonly settledAfter: number;
  /** The class that wins first. */
  readonly racers: readonly { readonly label: string; readonly filter: number; readonly potentials: Float64Array }[];
  readonly moments: Float64Array;
}

/** How soon classes are certain on many rows. */
export interface SpikeSavings {
  readonly rows: number;
  /** Whether the rows were held out of training. */
  readonly heldOut: boolean;
  /** Share of spikes that had arrived when the class was certain. */
  readonly needed: number;
  /** Mean share of spikes seen, and the share of right classes then. */
  readonly curve: readonly { readonly spikeShare: number; readonly accuracy: number }[];
}

export interface StrongFilter extends FilterView {
  readonly similarity: number;
  readonly response: number;
}

/** A wrong answer and the filters behind it. */
export interface Mistake {
  readonly row: RowView;
  /** Absent where no filter responds, as to a row of zeros. */
  readonly strongest?: StrongFilter;
  /** The strongest filter of the true class among the similar ones, if there is one. */
  readonly missed?: StrongFilter;
}

/** What the paper's figure 1 shows, for a choice of features. */
export interface FeatureStudy {
  /** Rows looked at. */
  readonly rows: number;
  readonly density: "histogram" | "kde";
  /** The features shown, ascending by their mean, and their positions in that order. */
  readonly features: Uint32Array;
  readonly positions: Uint32Array;
  readonly names?: readonly string[];
  readonly means: Float64Array;
  /** Where the densities are taken. */
  readonly grid: Float64Array;
  /** features x grid, each row's largest value 1. */
  readonly densities: Float32Array;
  /** features x features, 0.5 (alike) to 1 (never mistaken). */
  readonly discriminability: Float64Array;
  /** The running sum of the gaps at each position of the order, scaled to 0..1. */
  readonly cumulated: Float64Array;
}
