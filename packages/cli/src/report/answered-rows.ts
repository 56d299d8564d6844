/** Rows and what a model answered them, in a form that can be seen: what a report shows of every model. */

import {
  compareLabels,
  type Label,
  type LinearModel,
  type Matrix,
  type PatchModel,
  type Run,
  toDense,
} from "@ranksim/core";
import type { DataSet, ImageSize } from "@ranksim/data";
import { labelNamer, type Passage } from "@ranksim/learn";
import { greyOf } from "../model/patch-view.ts";
import { pictureOf, shrink } from "../pictures/picture.ts";
import type { Look, RowView } from "./content.ts";

/** Longest side of a picture in pixels; larger ones are averaged down. */
export const LARGEST_PICTURE = 64;
/** Features named for a decision. */
export const DECISION_WORDS = 12;
/** Characters of a text that are shown. */
const TEXT_SHOWN = 360;

/** What is known of a row's answer. */
export interface RowAnswer {
  readonly truth: Label | readonly Label[] | undefined;
  readonly predicted: Label | readonly Label[] | undefined;
  readonly probabilities: ArrayLike<number> | undefined;
  readonly classes: readonly Label[];
}

/** The rows of one data set, as pictures, texts or cells, with their answers. */
export class AnsweredRows {
  readonly #data: DataSet;
  readonly #size: ImageSize | undefined;
  readonly #patches: PatchModel | undefined;
  readonly #labelName: (label: Label) => string;

  constructor(data: DataSet, size: ImageSize | undefined, patches?: PatchModel) {
    this.#data = data;
    this.#size = size;
    this.#patches = patches;
    this.#labelName = labelNamer(data);
  }

  /** One row and its answer. */
  row(row: number, answer: RowAnswer): Omit<RowView, "strongest" | "contributions" | "where"> {
    const { truth, predicted, probabilities, classes } = answer;
    const probabilityOf = (label: Label | readonly Label[] | undefined) => {
      const c = label === undefined || typeof label === "object" ? -1 : classes.indexOf(label);
      return c < 0 ? undefined : probabilities?.[c];
    };
    return {
      row,
      name: this.#data.rowNames?.[row],
      look: this.#look(row),
      truth: this.#shown(truth),
      predicted: this.#shown(predicted),
      right: truth === undefined || predicted === undefined ? undefined : this.#shown(truth) === this.#shown(predicted),
      probability: probabilityOf(predicted),
      probabilityOfTruth: probabilityOf(truth),
    };
  }

  #look(row: number): Look {
    const data = this.#data;
    if (data.form === "text") {
      const text = data.text[row].replace(/\s+/g, " ").trim();
      if (text === "") return { form: "text", text: "(no text)" };
      return { form: "text", text: text.length > TEXT_SHOWN ? `${text.slice(0, TEXT_SHOWN)}…` : text };
    }
    if (data.form === "table") {
      const cells = data.table.columns.map(({ name }, c) => `${name} ${data.table.cell(c, row) ?? "missing"}`);
      return { form: "text", text: cells.join(", ") };
    }
    const { values } = toDense(data.x.slice(row, row + 1));
    if (this.#patches) return pictureLook(greyOf(values, this.#patches.shape.channels), this.#patches.shape);
    return this.#size ? pictureLook(values, this.#size) : { form: "words", words: [] };
  }

  /** A label, or a set of them in order. */
  #shown(label: Label | readonly Label[] | undefined): string | undefined {
    if (label === undefined) return undefined;
    if (typeof label !== "object") return this.#labelName(label);
    return label.length === 0 ? "no label" : [...label].sort(compareLabels).map(this.#labelName).join(", ");
  }
}

/** Values as a picture. */
export function pictureLook(values: ArrayLike<number>, { width, height }: ImageSize): Look {
  return { form: "picture", picture: shrink(pictureOf(values, width, height), LARGEST_PICTURE) };
}

/** Shows rows with the features that spoke for and against their class in a linear model. */
export function rowsOfPlanes(
  part: LinearModel,
  nameOf: (feature: number) => string,
  rows: AnsweredRows,
): { row(...asked: [Passage, number, number, Run, RowAnswer]): Promise<RowView> } {
  return {
    async row({ last }, row, _most, run, answer) {
      const quiet = run.backend ? { backend: run.backend, ...(run.signal ? { signal: run.signal } : {}) } : {};
      const { contributions } = await part.explain(last as Matrix, row, quiet);
      const words = contributions.slice(0, DECISION_WORDS);
      return {
        ...rows.row(row, answer),
        strongest: [],
        contributions: words.map(({ feature, contribution }) => ({ text: nameOf(feature), weight: contribution })),
      };
    },
  };
}
