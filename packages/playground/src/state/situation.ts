/**
 * What is open on the page, as one value: nothing, data, a model, or both. In "both" the model takes the rows of the data;
 * data and a model that do not fit each other are never held together. Data and models are numbered, and every answer is
 * kept with the numbers of what it was asked about, so that none is ever shown beside something else.
 */

import type { DataSummary, Evaluation, ImageSize, ModelSummary, NamedFile, ReadChoices, Recipe } from "../protocol.ts";

/** A data set and how it was read. */
export interface OpenData {
  readonly id: number;
  readonly summary: DataSummary;
  /** How rows are drawn: as pictures of this size, or not. */
  readonly imageSize: ImageSize | undefined;
  readonly choices: ReadChoices;
  /** The files it was read from; none for the embedded digits. */
  readonly files: readonly NamedFile[];
}

/** How a model does, as far as that is known. */
export type Judged =
  | { readonly is: "judging" }
  | { readonly is: "judged"; readonly evaluation: Evaluation | undefined };

export interface OpenModel {
  readonly id: number;
  readonly summary: ModelSummary;
  readonly imageSize: ImageSize | undefined;
  /** The recipe that made it; absent for a model from a file. */
  readonly recipe: Recipe | undefined;
}

export type Situation =
  | { readonly is: "nothing" }
  | { readonly is: "data"; readonly data: OpenData; readonly browsed: Uint32Array }
  | { readonly is: "model"; readonly model: OpenModel }
  | {
      readonly is: "both";
      readonly data: OpenData;
      readonly model: OpenModel;
      /** Rows to browse: those the model has not seen, where there are any. */
      readonly browsed: Uint32Array;
      readonly judged: Judged;
    };

export const NOTHING: Situation = { is: "nothing" };

export const dataOf = (now: Situation): OpenData | undefined => ("data" in now ? now.data : undefined);

export const modelOf = (now: Situation): OpenModel | undefined => ("model" in now ? now.model : undefined);

/** Data has arrived. A model that takes its rows stays if it came from a file; one that was trained belonged to other data. */
export function withData(now: Situation, data: OpenData, fits: boolean): Situation {
  const model = modelOf(now);
  const browsed = allRows(data);
  if (!model || model.recipe || !fits) return { is: "data", data, browsed };
  return { is: "both", data, model, browsed, judged: { is: "judging" } };
}

/** A model has arrived. Data whose rows it does not take is set aside. */
export function withModel(now: Situation, model: OpenModel, fits: boolean): Situation {
  const data = dataOf(now);
  if (!data || !fits) return { is: "model", model };
  return { is: "both", data, model, browsed: allRows(data), judged: { is: "judging" } };
}

/** The same situation with something newly known of its model; unchanged where that model is no longer the one at hand. */
export function withFindings(
  now: Situation,
  model: number,
  found: Partial<Pick<Extract<Situation, { is: "both" }>, "browsed" | "judged">>,
): Situation {
  return now.is === "both" && now.model.id === model ? { ...now, ...found } : now;
}

/** The same situation with rows drawn in another size. */
export function withImageSize(now: Situation, imageSize: ImageSize | undefined): Situation {
  if (now.is === "model") return { ...now, model: { ...now.model, imageSize } };
  return now.is === "nothing" ? now : { ...now, data: { ...now.data, imageSize } };
}

function allRows({ summary }: OpenData): Uint32Array {
  return Uint32Array.from({ length: summary.rows }, (_, row) => row);
}
