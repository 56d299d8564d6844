/** `RankMap`: rows as places in a plane, where rows that are alike lie together. Filters are laid out, rows follow the filters they are most like. */

import {
  type Backend,
  Csr,
  Dense,
  type Estimator,
  type LabelSets,
  type Labels,
  type Matrix,
  type MatrixLike,
  type ModelReader,
  type ParameterInfo,
  RankSimilarityTransform,
  type Run,
  type Saved,
  type TransformingModel,
  type TransformModel,
} from "@ranksim/core";
import {
  advance,
  array,
  bad,
  checkParams,
  paramsAsJson,
  partOfRun,
  storedParams,
  trainingMatrix,
  withBackend,
} from "@ranksim/core/internal";
import { RankIndex, RankIndexModel } from "../neighbours/rank-index.ts";
import { SIMILARITIES, type Similarity } from "../neighbours/similarity.ts";
import { layOut } from "./layout.ts";

/** Parameters of a map. */
export interface MapParams {
  /** Filters that are laid out; "auto": one for each row up to 3,000 rows, then one for three rows, 2,000 at most. */
  readonly filters: "auto" | number;
  /** What alike means. */
  readonly similarity: Similarity;
  /** Seed for all random choices. */
  readonly seed: number;
}

/** The parameters of a map as data. */
export const MAP_PARAMETERS: readonly ParameterInfo[] = [
  { name: "filters", form: "count-or-auto", default: "auto", about: "filters that are laid out" },
  { name: "similarity", form: "choice", choices: SIMILARITIES, default: "euclidean", about: "what alike means" },
  { name: "seed", form: "seed", default: 0, about: "seed for all random choices" },
];

const MOST_FILTERS = 2000;
const ROWS_OF_FILTER = 3;
/** Up to so many rows each has a filter of its own. On digits, 2,000 images and 2,520 cells it raised trustworthiness by 0.002, 0.010 and 0.038. */
const MOST_SINGLE = 3000;
/** Filters that say where a row is: the last of them only how much the others count. */
const NEAR = 6;

/**
 * Lays rows out in a plane.
 *
 * ```ts
 * const map = await new RankMap().fit(x);
 * const places = await map.transform(x); // Dense: rows x 2
 * ```
 */
export class RankMap implements Estimator<MatrixLike, RankMapModel> {
  readonly kind = "rank-map";
  readonly params: Readonly<MapParams> & { readonly [name: string]: unknown };

  constructor(params: Partial<MapParams> = {}) {
    this.params = checkParams<RankMap["params"]>(params, MAP_PARAMETERS);
  }

  /** A copy with some parameters changed. */
  with(changes: Partial<MapParams>): RankMap {
    return new RankMap({ ...this.params, ...changes });
  }

  /** Learns filters from the rows and lays them out; labels are not used. */
  async fit(x: MatrixLike, _y?: Labels | LabelSets, run: Run = {}): Promise<RankMapModel> {
    const rows = trainingMatrix(x);
    const { similarity, seed } = this.params;
    const shared = Math.min(MOST_FILTERS, Math.ceil(rows.rows / ROWS_OF_FILTER));
    const auto = rows.rows <= MOST_SINGLE ? rows.rows : shared;
    const filters = this.params.filters === "auto" ? auto : Math.min(rows.rows, this.params.filters);
    return withBackend(run, rows, async (backend) => {
      const own = { ...run, backend };
      const transform = new RankSimilarityTransform({ filters, seed });
      const model = await transform.fit(rows, undefined, partOfRun(own, 0, 0.4));
      const means = await meansOf(rows, model, backend);
      const index = await new RankIndex({ similarity, lists: 1, seed }).fit(means, undefined, { backend });
      const near = await index.search(rows, NEAR, partOfRun(own, 0.4, 0.8));
      const tell = (share: number) => advance(run, { stage: "fit", share: 0.8 + 0.2 * share });
      const places = await layOut(means.rows, near.rows, near.k, seed, tell);
      await tell(1);
      return new RankMapModel(paramsAsJson(this.params), index, places);
    });
  }

  /** Lays rows out; the same rows, which are mapped like any others. */
  async fitTransform(x: MatrixLike, y?: Labels | LabelSets, run: Run = {}): Promise<Dense> {
    return (await this.fit(x, y, run)).transform(x, run);
  }
}

/** Of each filter that has rows the mean of its rows: the sum that the filter is the rank of, over their number. */
async function meansOf(x: Matrix, model: TransformModel, backend: Backend): Promise<Matrix> {
  const groups = Array.from({ length: model.bank.filters }, (_, f) => model.filterRows(f)).filter(
    (own) => own.length > 0,
  );
  const offsets = new Uint32Array(groups.length + 1);
  for (const [g, own] of groups.entries()) offsets[g + 1] = offsets[g] + own.length;
  const held = await backend.hold(x);
  try {
    const sums = await held.sum({ offsets, rows: Uint32Array.from(groups.flatMap((own) => Array.from(own))) });
    const n = x.features;
    if (x.form === "dense") {
      const values = new Float64Array(groups.length * n);
      for (const [g, sum] of sums.entries()) {
        for (let i = 0; i < n; i++) values[g * n + i] = sum.values[i] / groups[g].length;
      }
      return Dense.of(values, groups.length, n);
    }
    const entries = sums.map((sum, g) => {
      const indices = sum.indices ?? Uint32Array.from({ length: n }, (_, i) => i);
      return Array.from(indices, (i, e) => [i, sum.values[e] / groups[g].length] as const);
    });
    return Csr.fromRows(entries, n);
  } finally {
    held.release();
  }
}

/** Filters laid out, to which rows are taken. Made by `RankMap.fit` or `loadModel`. */
export class RankMapModel implements TransformingModel<MatrixLike> {
  readonly kind = "rank-map";
  readonly features: number;
  readonly params: Saved["meta"];
  /** Where filters are: x and y of one after the other. Not to be written to. */
  readonly places: Float64Array;
  readonly #index: RankIndexModel;

  /** Use `RankMap.fit`, or `loadModel`. */
  constructor(params: Saved["meta"], index: RankIndexModel, places: Float64Array) {
    this.features = index.features;
    this.params = params;
    this.places = places;
    this.#index = index;
  }

  /** The place of each row, rows x 2: the weighted mean of those of the filters it is most like, new rows like those it was fitted on. */
  async transform(x: MatrixLike, run: Run = {}): Promise<Dense> {
    const { k, rows, similarities } = await this.#index.search(x, NEAR, run);
    const count = rows.length / k;
    const out = new Float64Array(2 * count);
    for (let r = 0; r < count; r++) place(this.places, rows, similarities, r * k, k, out, 2 * r);
    return Dense.of(out, count, 2);
  }

  save(): Saved {
    const { kind, params, places } = this;
    const arrays = { places: { shape: [places.length / 2, 2], values: places } };
    return { kind, meta: { params }, arrays, steps: [this.#index.save()] };
  }
}

/** The mean of the places of filters `near[from]` to `near[from + k - 1]`: those count that are alike, and lie near the first. */
function place(
  places: Float64Array,
  near: Uint32Array,
  similarities: Float64Array,
  from: number,
  k: number,
  out: Float64Array,
  at: number,
): void {
  const least = similarities[from + k - 1];
  const range = similarities[from] - least;
  const [firstX, firstY] = [places[2 * near[from]], places[2 * near[from] + 1]];
  let [sumX, sumY, sum] = [0, 0, 0];
  for (let e = from; e < from + k; e++) {
    const [x, y] = [places[2 * near[e]], places[2 * near[e] + 1]];
    const alike = range === 0 ? 1 : (similarities[e] - least) / range;
    const weight = (alike * alike) / (1 + (x - firstX) * (x - firstX) + (y - firstY) * (y - firstY));
    sumX += weight * x;
    sumY += weight * y;
    sum += weight;
  }
  out[at] = sumX / sum;
  out[at + 1] = sumY / sum;
}

/** Reads a stored map. */
export const mapReader: ModelReader<RankMapModel> = {
  kind: "rank-map",
  read: (saved, readStep) => {
    const params = storedParams(saved, MAP_PARAMETERS);
    if (saved.steps?.length !== 1) throw bad(saved, `expected 1 step, found ${saved.steps?.length ?? 0}`);
    const index = readStep(saved.steps[0]);
    if (!(index instanceof RankIndexModel)) throw bad(saved, `expected an index, found a ${index.kind}`);
    const { values } = array(saved, "places", [Float64Array], [index.rows.rows, 2]);
    return new RankMapModel(params, index, values);
  },
};
