/** Tables to rows of numbers that have one unit, so that their ranks can be compared: an estimator like the vectorisers of text. */

import {
  asMatrix,
  Csr,
  type Estimator,
  isMatrix,
  type LabelSets,
  type Labels,
  type Matrix,
  type MatrixLike,
  type ModelReader,
  RanksimError,
  type RowSource,
  type Run,
  type Saved,
  type SchemaColumn,
  type TransformingModel,
} from "@ranksim/core";
import { turns } from "@ranksim/core/internal";
import type { TextModel } from "../text/readers.ts";
import { TfidfVectorizer } from "../text/tfidf.ts";
import {
  type Coder,
  type ColumnCode,
  coder,
  featureNamesOf,
  knotsFor,
  learnColumn,
  textsOf,
  widthOf,
} from "./column-code.ts";
import { schemaColumn } from "./detect.ts";
import { columnNumber } from "./numbers.ts";
import { checkTableParams, type TableParams, tableParamsAsJson } from "./params.ts";
import { readTableModel, savedCodes } from "./saved-table.ts";
import { detectTable, isTableSource, type TableSource, tableColumn } from "./source.ts";
import { isRecord, isRecords, Table, type TableColumn, type TableRecord } from "./table.ts";
import { UnfamiliarTally } from "./unfamiliar.ts";

/** What the encoder takes: a table, or rows of numbers whose columns then are called "column 0" and so on. */
export type TableLike = Table | TableRecord | readonly TableRecord[] | MatrixLike;

/**
 * Soft bins for numbers, a feature for each word of a category, the parts of dates, words of texts; missing values need no filling in.
 *
 * ```ts
 * const pipeline = new Pipeline<TableLike, ClassifierModel>([new TableEncoder(), new RankSimilarityClassifier({ voters: 5 })]);
 * const model = await pipeline.fit(table, labels);
 * ```
 */
export class TableEncoder implements Estimator<TableLike, TableModel> {
  readonly kind = "table-encoder";
  readonly params: TableParams & { readonly [name: string]: unknown };

  constructor(params: Partial<TableParams> = {}) {
    this.params = checkTableParams(params);
  }

  /** A copy with some parameters changed. */
  with(changes: Partial<TableParams>): TableEncoder {
    return new TableEncoder({ ...this.params, ...changes });
  }

  /** Learns knots, words and which columns have gaps; labels are not used. Columns that tell nothing get no features. */
  async fit(x: TableLike | TableSource, _y?: Labels | LabelSets, run: Run = {}): Promise<TableModel> {
    const table = isTableSource(x) ? x : asTable(x);
    if (table.rows === 0) throw new RanksimError("empty-input", "expected at least 1 row to learn from, found none");
    const { types } = this.params;
    const detected = await detectTable(table, types, run);
    const telling = detected.filter(({ leftOut }) => leftOut === undefined).length;
    const { knots } = this.params;
    const params = { ...this.params, knots: knots === "auto" ? knotsFor(table.rows, telling) : knots };
    const codes: ColumnCode[] = [];
    for (const [c, found] of detected.entries()) {
      await step(run, "fit", c / table.columns.length);
      const column = await tableColumn(table, c);
      const isLeftOut = found.leftOut !== undefined;
      const code = learnColumn(column, schemaColumn(found), params, isLeftOut);
      codes.push(code.type === "text" && !isLeftOut ? { ...code, ...(await this.#learnTexts(column, run)) } : code);
    }
    const model = new TableModel(codes, this.params);
    if (model.features < 2) {
      throw new RanksimError("bad-matrix", "expected columns that differ between rows, found none that tells anything");
    }
    await step(run, "fit", 1);
    return model;
  }

  async #learnTexts(column: TableColumn, run: Run): Promise<Pick<ColumnCode, "text" | "gaps">> {
    const cells = textsOf(column);
    const texts = cells.filter((text) => text !== undefined);
    const { vectorizer = WORDS } = this.params;
    return {
      text: (await vectorizer.fit(texts, undefined, quiet(run))) as TextModel,
      gaps: texts.length < cells.length,
    };
  }
}

/** The run of a part that tells nothing of its progress. */
const quiet = ({ signal, memory }: Run): Run => ({ ...(signal ? { signal } : {}), ...(memory ? { memory } : {}) });

/** What becomes of texts unless something else is asked for. */
const WORDS = new TfidfVectorizer({ maxFeatures: 10_000, logTf: true, idfPower: 2 });

/** Rows coded at a time between two looks at the signal. */
const ROWS_PER_STEP = 4096;

/** What was learned about each column. Codes any number of rows, block by block if need be. */
export class TableModel implements TransformingModel<TableLike> {
  readonly kind = "table-encoder";
  readonly params: ReturnType<typeof tableParamsAsJson>;
  /** The columns it takes, by name, in this order. */
  readonly columns: readonly SchemaColumn[];
  /** Number of features it makes. */
  readonly features: number;
  readonly #codes: readonly ColumnCode[];

  /** Use `TableEncoder.fit` or `loadModel`. */
  constructor(codes: readonly ColumnCode[], params: TableParams) {
    this.params = tableParamsAsJson(params);
    this.#codes = codes;
    this.columns = codes.map(({ parts: _, words: __, other: ___, gaps: ____, text: _____, ...column }) => column);
    this.features = codes.reduce((sum, code) => sum + widthOf(code), 0);
  }

  /** What the features are called: "petal width around 1.8", "colour = red", "age missing". */
  get featureNames(): readonly string[] {
    return this.#codes.flatMap(featureNamesOf);
  }

  /** The number of the column that each feature comes from. */
  get featureColumns(): Uint32Array {
    return Uint32Array.from(this.#codes.flatMap((code, c) => new Array<number>(widthOf(code)).fill(c)));
  }

  /** The coded rows: whole numbers up to 255, weights of words as many times. Columns of a table are found by name, those of a matrix by position. */
  transform(x: TableSource, run?: Run): Promise<RowSource>;
  transform(x: TableLike, run?: Run): Promise<Csr>;
  transform(x: TableLike | TableSource, run: Run = {}): Promise<Csr | RowSource> {
    return isTableSource(x) ? this.#transformSource(x, run) : this.#transform(x, run);
  }

  #transformSource(source: TableSource, run: Run): Promise<RowSource> {
    const coded = (table: Table) => this.#transform(table, quiet(run));
    async function* rows(): AsyncGenerator<Csr> {
      let done = 0;
      for await (const table of source.blocks()) {
        await step(run, "transform", done / source.rows);
        yield coded(table);
        done += table.rows;
      }
      await step(run, "transform", 1);
    }
    return source.keep(rows(), { rows: source.rows, features: this.features, like: this.#values(0) });
  }

  async #transform(x: TableLike, run: Run): Promise<Csr> {
    const table = this.#tableOf(x);
    const coders: Coder[] = [];
    let first = 0;
    for (const [c, code] of this.#codes.entries()) {
      const column = table.columns[c];
      const texts = await code.text?.transform(
        textsOf(column).map((text) => text ?? ""),
        quiet(run),
      );
      coders.push(coder(column, code, first, texts));
      first += widthOf(code);
    }
    const offsets = new Uint32Array(table.rows + 1);
    let indices = new Uint32Array(Math.max(64, table.rows * this.#codes.length * 2));
    let values = this.#values(indices.length);
    let entries = 0;
    const sink = (feature: number, value: number) => {
      if (entries === indices.length) {
        indices = grown(indices, new Uint32Array(entries * 2));
        values = grown(values, this.#values(entries * 2));
      }
      indices[entries] = feature;
      values[entries++] = value;
    };
    for (let r = 0; r < table.rows; r++) {
      if (r % ROWS_PER_STEP === 0) await step(run, "transform", r / table.rows);
      for (const code of coders) code(r, sink);
      offsets[r + 1] = entries;
    }
    await step(run, "transform", 1);
    return Csr.of(offsets, indices.slice(0, entries), values.slice(0, entries), this.features);
  }

  save(): Saved {
    const { meta, ...rest } = savedCodes(this.#codes);
    return { kind: this.kind, meta: { ...meta, params: this.params }, ...rest };
  }

  /** Says of rows that are added to it what is unlike training rows: `tally.add(rows)`, `tally.notes()`. */
  unfamiliar(): { add(x: TableLike): void; notes(): string[] } {
    const tally = new UnfamiliarTally(this.#codes);
    return { add: (x) => tally.add(this.#tableOf(x)), notes: () => tally.notes() };
  }

  /** Weights of words are no whole numbers. */
  #values(length: number): Uint8Array | Float64Array {
    return this.#codes.some(({ text }) => text) ? new Float64Array(length) : new Uint8Array(length);
  }

  /** The columns that the model takes: of a table by name, of rows of numbers by position, where no column has words. */
  #tableOf(x: TableLike): Table {
    const names = this.columns.map(({ name }) => name);
    if (x instanceof Table) return x.select(names);
    if (isRecords(x)) return Table.fromRecords(x).select(names);
    if (isRecord(x) && !isMatrix(x)) return Table.fromRecords([x]).select(names);
    if (Array.isArray(x) && x.length === 0) {
      return Table.of(names.map((name) => ({ form: "numbers", name, values: new Float64Array(0) })));
    }
    let matrix: Matrix;
    try {
      matrix = asMatrix(x as MatrixLike);
    } catch (error) {
      if (!(error instanceof RanksimError)) throw error;
      throw new RanksimError(error.code, `${error.message}; ${this.#expected}`, { cause: error });
    }
    if (matrix.features !== names.length) {
      throw new RanksimError(
        "wrong-width",
        `the model takes ${names.length} columns, the data has ${matrix.features}; ${this.#expected}`,
      );
    }
    const worded = this.#codes.find(hasWordsAlone);
    if (worded) {
      throw new RanksimError(
        "bad-matrix",
        `column ${JSON.stringify(worded.name)}: expected ${worded.words.length > 0 ? `words such as ${JSON.stringify(worded.words[0])}` : `a ${worded.type}`}, found rows of numbers; ${this.#expected}`,
      );
    }
    return Table.fromMatrix(matrix, names);
  }

  /** What the model takes, and how it is passed. */
  get #expected(): string {
    const shown = this.columns.slice(0, SHOWN).map(({ name, type }) => `${JSON.stringify(name)} (${type})`);
    const more = this.columns.length > SHOWN ? ` and ${this.columns.length - SHOWN} more` : "";
    const record = this.columns.slice(0, 2).map(({ name }) => `${JSON.stringify(name)}: …`);
    return `the model takes a Table or records of the columns ${shown.join(", ")}${more}: [{ ${record.join(", ")}${this.columns.length > 2 ? ", …" : ""} }]`;
  }
}

/** Columns that a message names. */
const SHOWN = 8;

/** Whether no number can be a cell of the column: one of dates, or of words none of which spells a number. */
function hasWordsAlone({ type, words }: ColumnCode): boolean {
  if (type === "date" || type === "time" || type === "text") return true;
  return (
    type === "category" && words.length > 0 && words.every((word) => Number.isNaN(columnNumber(word, { decimal: "," })))
  );
}

/** Whatever was given as a table. */
function asTable(x: TableLike): Table {
  if (x instanceof Table) return x;
  if (isRecords(x)) return Table.fromRecords(x);
  if (isMatrix(x) || Array.isArray(x)) return Table.fromMatrix(asMatrix(x) as Matrix);
  throw new RanksimError("bad-matrix", `expected a Table, a matrix or an array of rows, found ${typeof x}`);
}

function grown<T extends Uint8Array | Uint32Array | Float64Array>(array: T, larger: T): T {
  larger.set(array);
  return larger;
}

async function step(run: Run, stage: "fit" | "transform", share: number): Promise<void> {
  const pause = turns(run);
  await pause();
  await run.onProgress?.({ stage, share });
  await pause();
}

/** Reads a stored `TableModel`. */
export const tableReader: ModelReader<TableModel> = {
  kind: "table-encoder",
  read: (saved) => {
    const { codes, params } = readTableModel(saved);
    return new TableModel(codes, params);
  },
};
