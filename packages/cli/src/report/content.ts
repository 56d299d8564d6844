/** What a report says, as plain values: gathered from a model and data by `gather.ts`, drawn by `page.ts` and `figures.ts`. */

import type { Json } from "@ranksim/core";
import type { Judgement, Word } from "@ranksim/learn";
import type { PatchSheet } from "../model/patch-view.ts";
import type { Picture } from "../pictures/picture.ts";

/** A filter or a row as people can see it: a picture where features are pixels, else words. */
export type Look =
  | { readonly form: "picture"; readonly picture: Picture }
  | { readonly form: "words"; readonly words: readonly Word[] }
  | { readonly form: "text"; readonly text: string };

/** One filter. */
export interface FilterView {
  readonly filter: number;
  /** The class, or the label most of its rows have. */
  readonly label: string | undefined;
  /** Training rows it was made from. */
  readonly rows: number;
  readonly look: Look;
}

/** The filters of one class, those of most rows first. */
export interface ClassFilters {
  readonly label: string | undefined;
  readonly filters: number;
  readonly shown: readonly FilterView[];
  /** What sets the class apart, where features have names. */
  readonly words: readonly Word[];
}

/** What weighs most for a class of a linear model, and against it. */
export interface ClassWeights {
  readonly label: string;
  readonly words: readonly Word[];
}

/** A filter that responds to a row. */
export interface StrongView extends FilterView {
  readonly similarity: number;
  readonly response: number;
  /** Whether the filter's class is one of the row's own. */
  readonly fits: boolean | undefined;
}

/** A row that the model keeps and that is like another. */
export interface NeighbourView {
  readonly row: number;
  readonly label: string | undefined;
  readonly similarity: number;
  readonly look: Look;
}

/** A row of the data as a dot in a plane. */
export interface Dot {
  readonly row: number;
  readonly x: number;
  readonly y: number;
  /** Its true label, and the one that the model gives it. */
  readonly label: string | undefined;
  readonly given: string | undefined;
  /** The largest probability. */
  readonly sureness?: number;
  /** Where it comes from. */
  readonly name?: string;
}

/** A row with its strongest filters. */
export interface RowView {
  readonly row: number;
  readonly name: string | undefined;
  readonly look: Look;
  readonly truth: string | undefined;
  readonly predicted: string | undefined;
  readonly right: boolean | undefined;
  /** Probability of the predicted class, and of the true one. */
  readonly probability: number | undefined;
  readonly probabilityOfTruth: number | undefined;
  readonly strongest: readonly StrongView[];
  /** The rows most like it of those that the model keeps, the number and label of each, as pictures where they are such. */
  readonly neighbours?: readonly NeighbourView[];
  /** Features that spoke most for and against the decision, where features have names. */
  readonly contributions: readonly Word[];
  /** Where in the image the class it was given and the strongest rival were found, of a model with patches. */
  readonly where?: readonly { readonly label: string; readonly picture: Picture }[];
}

/** One curve of training: a class, or all rows. */
export interface Curve {
  readonly label: string | undefined;
  readonly rows: number;
  readonly filters: number;
  readonly converged: boolean;
  readonly steps: readonly { readonly iteration: number; readonly moved: number; readonly empty: number }[];
}

/** A line of a table of facts. */
export type Fact = readonly [name: string, value: string];

/** A figure at the head of a page. */
export interface Tile {
  readonly name: string;
  readonly value: string;
  readonly about?: string;
}

/** The whole report. */
export interface ReportContent {
  readonly title: string;
  readonly subtitle: string;
  readonly judgement: Judgement | undefined;
  readonly headline: readonly Tile[];
  readonly curves: readonly Curve[];
  readonly filters: readonly ClassFilters[];
  /** The strongest weights of each class, of a linear model. */
  readonly weights: readonly ClassWeights[];
  /** The patch filters of each size, of a model with patches. */
  readonly patches: readonly PatchSheet[];
  /** Filters per class by name, for the table of classes. */
  readonly filtersOf: ReadonlyMap<string, number>;
  readonly samples: readonly RowView[];
  readonly mistakes: readonly RowView[];
  /** Some of the rows laid out, rows that are alike together; none where nothing lays them out. */
  readonly map: readonly Dot[];
  readonly work: readonly Fact[];
  readonly params: { readonly [name: string]: Json };
  readonly digest: string;
  /** What one feature is called: word, column or feature. */
  readonly featuresAre: string;
  /** Where the page comes from: date, version, command, digests. */
  readonly origin: readonly Fact[];
  readonly notes: readonly string[];
}
