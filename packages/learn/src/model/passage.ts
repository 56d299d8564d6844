/** The way of data through a model's steps, kept where something will be asked of it: before the filters, and before the last step. */

import {
  type Matrix,
  type Model,
  type ParameterName,
  RanksimError,
  type Run,
  schemaOf,
  withColumns,
} from "@ranksim/core";
import { partOfRun } from "@ranksim/core/internal";
import { type AnyRows, blobSource, type DataSet, readData, rowCount, Table } from "@ranksim/data";
import { asTransforming, filterPart, stepsOf, tableModelOf, takesText } from "./parts.ts";

/** What a model can be asked with: rows of numbers, texts, or a table. */
export type Input = Matrix | readonly string[] | Table;

/** Data on its way through a model. */
export interface Passage {
  readonly rows: number;
  /** What the part with filters is given; the same as `last` where there is none. */
  readonly atFilters: Matrix;
  /** What the last step is given. */
  readonly last: Matrix;
}

/** Models for rows that lack some of the columns, by the model and the columns that were asked for last; and those models themselves. */
const narrowed = new WeakMap<Model, { readonly columns: string; readonly model: Model }>();
const areNarrowed = new WeakSet<Model>();

/**
 * The model that answers rows: of those that lack some of its columns, as a query lacks genes of a reference, the one that the model would be
 * without them.
 */
export function modelFor<M extends Model>(model: M, { found }: AnyRows): M {
  const columns = found?.columns;
  if (columns === undefined || areNarrowed.has(model)) return model;
  const known = narrowed.get(model);
  if (known?.columns === String(columns)) return known.model as M;
  const made = withColumns(model, columns);
  narrowed.set(model, { columns: String(columns), model: made });
  areNarrowed.add(made);
  return made;
}

/** What the model is to be given of the data; refused where it takes text and the data has none, or the reverse. */
export const inputOf = (model: Model, data: DataSet): Input =>
  inputFor(takesText(model) ? "text" : tableModelOf(model) ? "table" : "numbers", data);

/** The numbers, the texts or the table of the data, refused where it has something else. */
export function inputFor(takes: "numbers" | "text" | "table", data: DataSet): Input {
  if (takes === "table" && data.form !== "text") {
    if (data.form === "table") return data.table;
    return data.featureNames ? Table.fromMatrix(data.x, data.featureNames) : data.x;
  }
  if (takes === "text") {
    if (data.form === "text") return data.text;
    const cure = (called: ParameterName) => `name the column of text with ${called("textColumn")}`;
    throw new RanksimError("bad-matrix", { expected: "text", found: "numbers", cure });
  }
  if (data.form === "matrix") return data.x;
  if (data.form === "table") {
    throw new RanksimError("bad-matrix", "expected numbers, found a table with words or missing values");
  }
  throw new RanksimError("bad-matrix", "expected numbers, found text; train a model that takes text");
}

/** The rows of a file as a model takes them: columns by the names that they had in training, in any order. */
export async function rowsFor(model: Model, file: Blob): Promise<Input> {
  const schema = schemaOf(model);
  const about = schema ? { schema, labelColumn: null } : {};
  return inputOf(model, await readData(blobSource(file), about));
}

/** Takes the data through all steps but the last. */
export async function passThrough(given: Model, data: DataSet, run: Run): Promise<Passage> {
  const model = modelFor(given, data);
  const steps = stepsOf(model);
  const filtersAt = filterPart(model)?.step ?? steps.length - 1;
  let input: Input = inputOf(model, data);
  let atFilters: Input | undefined;
  for (let step = 0; step < steps.length; step++) {
    if (step === filtersAt) atFilters = input;
    if (step === steps.length - 1) break;
    const part = partOfRun(run, step / (steps.length - 1), (step + 1) / (steps.length - 1));
    input = await asTransforming<Input>(steps[step]).transform(input, part);
  }
  return { rows: rowCount(data), atFilters: atFilters as Matrix, last: input as Matrix };
}
