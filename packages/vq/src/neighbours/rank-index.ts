/** `RankIndex`: rows, and the rows most like others found among them. Filters of rank similarity say in which lists to look. */

import {
  asMatrix,
  type Backend,
  Csr,
  Dense,
  type Estimator,
  type LabelSets,
  type Labels,
  type Matrix,
  type MatrixLike,
  type Model,
  type ModelReader,
  type ParameterInfo,
  RankSimilarityTransform,
  RanksimError,
  type Run,
  type Saved,
  TransformModel,
  toCsr,
  toDense,
  type Values,
} from "@ranksim/core";
import { Lock } from "@ranksim/core/backend";
import {
  advance,
  array,
  bad,
  checkParams,
  drawWithoutReplacement,
  generatorOf,
  matchingMatrix,
  optionsOf,
  paramsAsJson,
  partOfRun,
  storedParams,
  trainingMatrix,
  vector,
  withBackend,
} from "@ranksim/core/internal";
import { compared } from "./ranked.ts";
import { type Lists, Searchable } from "./search.ts";
import { type Neighbours, SIMILARITIES, type Similarity, type Vectors } from "./similarity.ts";
import { type Added, addedFor, sketchQueries, sketchRows } from "./sketch.ts";

/** Parameters of an index. */
export interface IndexParams {
  /** What alike means. */
  readonly similarity: Similarity;
  /** Lists that rows are put in, one for each filter; "auto": twice the root of the number of rows. */
  readonly lists: "auto" | number;
  /** Seed for all random choices. */
  readonly seed: number;
}

/** The parameters of an index as data. */
export const INDEX_PARAMETERS: readonly ParameterInfo[] = [
  { name: "similarity", form: "choice", choices: SIMILARITIES, default: "spearman", about: "what alike means" },
  { name: "lists", form: "count-or-auto", default: "auto", about: "lists that rows are put in" },
  { name: "seed", form: "seed", default: 0, about: "seed for all random choices" },
];

/** How to search. */
export interface SearchOptions extends Run {
  /** Lists to look in, those of the strongest filters first; "all", the default: the answer is exact. */
  readonly probes?: number | "all";
}

/** Rows that filters are learned from, at most. */
const MOST_TRAINED = 2 ** 16;
/** Queries at a time, and the most answers. */
const QUERIES = 4096;
const ANSWERS = 2 ** 21;
/** Neighbours of all queries of a call. */
const MOST_FOUND = 2 ** 27;

/**
 * Keeps rows, to find those most like others.
 *
 * ```ts
 * const index = await new RankIndex({ similarity: "cosine" }).fit(x);
 * const { rows, similarities } = await index.search(queries, 5); // entry r * 5 + j: the j-th nearest of query r
 * ```
 */
export class RankIndex implements Estimator<MatrixLike, RankIndexModel> {
  readonly kind = "rank-index";
  readonly params: Readonly<IndexParams> & { readonly [name: string]: unknown };

  constructor(params: Partial<IndexParams> = {}) {
    this.params = checkParams<RankIndex["params"]>(params, INDEX_PARAMETERS);
  }

  /** A copy with some parameters changed. */
  with(changes: Partial<IndexParams>): RankIndex {
    return new RankIndex({ ...this.params, ...changes });
  }

  /** Takes the rows in and puts them in lists; labels are not used. The rows must not change afterwards. */
  async fit(x: MatrixLike, _y?: Labels | LabelSets, run: Run = {}): Promise<RankIndexModel> {
    const rows = trainingMatrix(x);
    const { similarity, lists, seed } = this.params;
    return withBackend(run, rows, async (backend) => {
      await advance(run, { stage: "fit", share: 0 });
      const vectors = await compared(rows, similarity, backend);
      const { rows: sketched } = sketchQueries(vectors, addedFor(vectors));
      const filters = Math.min(rows.rows, lists === "auto" ? Math.ceil(2 * Math.sqrt(rows.rows)) : lists);
      const drawn =
        rows.rows > MOST_TRAINED
          ? sketched.gather(drawWithoutReplacement(generatorOf(seed), MOST_TRAINED, rows.rows).sort())
          : sketched;
      const within = partOfRun({ ...run, backend }, 0.1, 0.9);
      const coarse = await new RankSimilarityTransform({ filters, seed }).fit(drawn, undefined, within);
      const list = await strongest(sketched, coarse, backend);
      await advance(run, { stage: "fit", share: 1 });
      return new RankIndexModel({ params: paramsAsJson(this.params), rows, list, coarse, vectors });
    });
  }
}

/** The number of the filter that each row is most like. */
async function strongest(rows: Matrix, coarse: TransformModel, backend: Backend): Promise<Uint32Array> {
  const held = await backend.hold(rows, { filters: coarse.bank.filters });
  const bank = held.load(coarse.bank);
  try {
    return (await held.leaders(bank)).filter;
  } finally {
    bank.release();
    held.release();
  }
}

/** What an index consists of. */
interface IndexParts {
  readonly params: Saved["meta"];
  readonly rows: Matrix;
  /** The list of each row. */
  readonly list: Uint32Array;
  /** The filters whose lists they are. */
  readonly coarse: TransformModel;
  readonly vectors?: Vectors;
}

/** Rows that can be searched. Made by `RankIndex.fit` or `loadModel`. */
export class RankIndexModel implements Model {
  readonly kind = "rank-index";
  readonly features: number;
  readonly params: Saved["meta"];
  readonly similarity: Similarity;
  /** The rows. Not to be written to. */
  readonly rows: Matrix;
  readonly #parts: IndexParts;
  readonly #lock = new Lock();
  #ready: { readonly searchable: Searchable; readonly added: Added } | undefined;

  /** Use `RankIndex.fit`, or `loadModel`. */
  constructor(parts: IndexParts) {
    this.features = parts.rows.features;
    this.params = parts.params;
    this.similarity = parts.params.similarity as Similarity;
    this.rows = parts.rows;
    this.#parts = parts;
  }

  /** Lists that rows are in, empty ones included. */
  get lists(): number {
    return this.#parts.coarse.bank.filters;
  }

  /**
   * The k rows most like each row of `x` (all there are, if they are fewer), most alike first, equal ones by row number. With `probes`,
   * those in so many lists, which hold most of them; without, of all rows.
   */
  async search(x: MatrixLike, k: number, options: SearchOptions = {}, ...rest: undefined[]): Promise<Neighbours> {
    const { probes = "all", ...run } = optionsOf("search", options, rest);
    checkParams<{ k: number; probes?: number }>(probes === "all" ? { k } : { k, probes }, ASKED);
    const given = matchingMatrix(x, this.features);
    const most = Math.min(k, this.rows.rows);
    const total = given.rows;
    if (total * most > MOST_FOUND) {
      throw new RanksimError(
        "bad-params",
        `k: expected at most ${Math.floor(MOST_FOUND / total)} neighbours of each of ${total} rows at a time, found ${most}; ask for fewer, or about fewer rows at a time`,
      );
    }
    const found = { k: most, rows: new Uint32Array(total * most), similarities: new Float64Array(total * most) };
    return withBackend(run, given, async (backend) => {
      const { searchable, added } = await this.#lock.run(() => this.#prepare(backend));
      const step = Math.max(1, Math.min(QUERIES, Math.floor(ANSWERS / most)));
      for (let from = 0; from < total; from += step) {
        await advance(run, { stage: "predict", share: from / total });
        const part = inForm(asMatrix(given.slice(from, Math.min(total, from + step))), this.rows.form);
        const queries = await compared(part, this.similarity, backend);
        const { rows, similarities } = await searchable.nearest(
          queries,
          sketchQueries(queries, added),
          most,
          probes,
          backend,
        );
        found.rows.set(rows, from * most);
        found.similarities.set(similarities, from * most);
      }
      await advance(run, { stage: "predict", share: 1 });
      return found;
    });
  }

  /** What searches need of the rows; made once, by the first of them. */
  async #prepare(backend: Backend) {
    if (this.#ready) return this.#ready;
    const { rows, list, coarse } = this.#parts;
    const vectors = this.#parts.vectors ?? (await compared(rows, this.similarity, backend));
    const lists = listsOf(list, coarse.bank.filters);
    const added = addedFor(vectors);
    const searchable = new Searchable(vectors, sketchRows(vectors, lists.order, added), lists, coarse.bank);
    this.#ready = { searchable, added };
    return this.#ready;
  }

  save(): Saved {
    const { params, rows, list, coarse } = this.#parts;
    const kept = { list: { shape: [list.length], values: list } };
    const { features } = rows;
    const steps = [coarse.save()];
    if (rows.form === "dense") {
      const values = { shape: [rows.rows, features], values: rows.values };
      return { kind: this.kind, meta: { features, params }, arrays: { ...kept, values }, steps };
    }
    const [from, to] = [rows.offsets[0], rows.offsets[rows.rows]];
    const offsets = rows.offsets.map((offset) => offset - from);
    const arrays = {
      ...kept,
      offsets: { shape: [offsets.length], values: offsets },
      indices: { shape: [to - from], values: rows.indices.subarray(from, to) },
      values: { shape: [to - from], values: rows.values.subarray(from, to) as typeof rows.values },
    };
    return { kind: this.kind, meta: { features, params }, arrays, steps };
  }
}

const ASKED: readonly ParameterInfo[] = [
  { name: "k", form: "count", default: 1, about: "rows to find" },
  { name: "probes", form: "count", default: null, about: "lists to look in" },
];

const inForm = (x: Matrix, form: Matrix["form"]): Matrix => (form === "dense" ? toDense(x) : toCsr(x));

/** The rows of each list, ascending. */
function listsOf(list: Uint32Array, lists: number): Lists {
  const offsets = new Uint32Array(lists + 1);
  for (const l of list) offsets[l + 1]++;
  for (let l = 0; l < lists; l++) offsets[l + 1] += offsets[l];
  const next = offsets.slice();
  const order = new Uint32Array(list.length);
  for (let r = 0; r < list.length; r++) order[next[list[r]]++] = r;
  return { order, offsets };
}

const VALUES: readonly { readonly name: string; new (length: number): Values }[] = [
  Uint8Array,
  Uint16Array,
  Int16Array,
  Float32Array,
  Float64Array,
];

/** Reads a stored index. */
export const indexReader: ModelReader<RankIndexModel> = {
  kind: "rank-index",
  read: (saved, readStep) => {
    const params = storedParams(saved, INDEX_PARAMETERS);
    const list = vector(saved, "list", Uint32Array);
    const rows = readRows(saved, list.length);
    if (list.length === 0 || rows.features < 2) throw bad(saved, "expected at least 1 row and 2 features");
    if (saved.steps?.length !== 1) throw bad(saved, `expected 1 step, found ${saved.steps?.length ?? 0}`);
    const coarse = readStep(saved.steps[0]);
    if (!(coarse instanceof TransformModel)) throw bad(saved, `expected filters, found a ${coarse.kind}`);
    const added = coarse.features - rows.features;
    if (params.similarity === "euclidean" ? added < 1 : added !== 0) {
      throw bad(saved, `expected filters for ${rows.features} features, found ${coarse.features}`);
    }
    const wrong = list.find((l) => l >= coarse.bank.filters);
    if (wrong !== undefined) throw bad(saved, `list: expected numbers below ${coarse.bank.filters}, found ${wrong}`);
    return new RankIndexModel({ params, rows, list, coarse });
  },
};

function readRows(saved: Saved, rows: number): Matrix {
  try {
    if (!saved.arrays.offsets) {
      const { shape, values } = array(saved, "values", VALUES, [rows, undefined]);
      return Dense.of(values, rows, shape[1]);
    }
    const offsets = vector(saved, "offsets", Uint32Array, rows + 1);
    const { values } = array(saved, "values", VALUES, [undefined]);
    const features = saved.meta.features;
    if (offsets[0] !== 0 || typeof features !== "number") throw bad(saved, "expected offsets from 0, and features");
    return Csr.of(offsets, vector(saved, "indices", Uint32Array, values.length), values, features);
  } catch (error) {
    if (error instanceof RanksimError && error.code === "bad-file") throw error;
    throw bad(saved, (error as Error).message);
  }
}
