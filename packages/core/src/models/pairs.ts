/**
 * Pairs of features as features of their own: the product of two values of a row. A linear classifier behind them weighs what columns say
 * together, such as an age and a trade, and stays as readable as one of single columns.
 */

import { RanksimError } from "../errors.ts";
import { Csr } from "../matrix/csr.ts";
import type { LabelSets, Labels } from "../matrix/labels.ts";
import { asMatrix, type MatrixLike, matchingMatrix, toCsr } from "../matrix/matrix.ts";
import type { Saved } from "../model-file/saved.ts";
import { bad, count, stored, vector } from "../model-file/stored/arrays.ts";
import type { Estimator, ModelReader, Run, TransformingModel } from "./estimator.ts";
import { checkParams, type ParameterInfo, paramsAsJson, storedParams } from "./parameter.ts";
import { advance, turns } from "./run.ts";

/** Parameters of `PairTransform`. */
export interface PairParams {
  /** Rows in which two features have to occur together, for their pair to be a feature. */
  readonly least: number;
}

const PARAMETERS: readonly ParameterInfo[] = [
  { name: "least", form: "count", default: 3, about: "rows in which a pair of features occurs at least" },
];

/** Features whose pairs can be counted. */
export const MOST_PAIRED = 2048;
/** Rows between two looks at the clock and the signal. */
const ROWS_PER_TURN = 64;

/** Adds to the features of rows the products of each two that occur together. */
export class PairTransform implements Estimator<MatrixLike, PairModel> {
  readonly kind = "pairs";
  readonly params: Readonly<PairParams> & { readonly [name: string]: unknown };

  constructor(params: Partial<PairParams> = {}) {
    this.params = checkParams<PairTransform["params"]>(params, PARAMETERS);
  }

  /** A copy with some parameters changed. */
  with(changes: Partial<PairParams>): PairTransform {
    return new PairTransform({ ...this.params, ...changes });
  }

  /** Counts which features occur together; labels are not used. */
  async fit(x: MatrixLike, _y?: Labels | LabelSets, run: Run = {}): Promise<PairModel> {
    const { rows, features, offsets, indices, values } = toCsr(asMatrix(x));
    if (features > MOST_PAIRED) {
      throw new RanksimError("unsupported", `pairs: expected at most ${MOST_PAIRED} features, found ${features}`);
    }
    const turn = turns(run);
    const counts = new Uint32Array(features * features);
    let largest = 0;
    for (let r = 0; r < rows; r++) {
      if (r % ROWS_PER_TURN === 0) await turn();
      for (let e = offsets[r]; e < offsets[r + 1]; e++) {
        if (Math.abs(values[e]) > largest) largest = Math.abs(values[e]);
        const own = indices[e] * features;
        for (let f = e + 1; f < offsets[r + 1]; f++) counts[own + indices[f]]++;
      }
    }
    const { least } = this.params;
    const pairs = Uint32Array.from(counts.keys()).filter((pair) => counts[pair] >= least);
    await advance(run, { stage: "fit", share: 1 });
    return new PairModel(features, pairs, largest || 1, paramsAsJson(this.params));
  }
}

/** The pairs of features that occur together. Made by `PairTransform.fit` or `loadModel`. */
export class PairModel implements TransformingModel<MatrixLike> {
  readonly kind = "pairs";
  /** Features that it takes. */
  readonly features: number;
  /** The pairs that are features: first feature x features + second feature, ascending. Not to be written to. */
  readonly pairs: Uint32Array;
  /** The largest value, in place of which 1 comes. */
  readonly largest: number;
  readonly params: ReturnType<typeof paramsAsJson>;
  /** The place of each pair among the features that are made; 0 of those that are none. */
  #places: Uint32Array | undefined;

  /** Use `PairTransform.fit` or `loadModel`. */
  constructor(features: number, pairs: Uint32Array, largest: number, params: ReturnType<typeof paramsAsJson>) {
    this.features = features;
    this.pairs = pairs;
    this.largest = largest;
    this.params = params;
  }

  /** The two features of each that is made; of single ones the same twice. */
  get made(): readonly (readonly [number, number])[] {
    const { features: n, pairs } = this;
    const single = Array.from({ length: n }, (_, i) => [i, i] as const);
    return [...single, ...Array.from(pairs, (pair) => [Math.floor(pair / n), pair % n] as const)];
  }

  /** The features as shares of the largest value, then the products of pairs; float32. */
  async transform(x: MatrixLike, run: Run = {}): Promise<Csr> {
    const { features: n, pairs, largest } = this;
    const { rows, offsets, indices, values } = toCsr(matchingMatrix(x, n));
    const turn = turns(run);
    this.#places ??= placesOf(pairs, n);
    const places = this.#places;
    const starts = new Uint32Array(rows + 1);
    let room = 0;
    for (let r = 0; r < rows; r++) {
      const own = offsets[r + 1] - offsets[r];
      room += (own * (own + 1)) / 2;
    }
    const features = new Uint32Array(room);
    const products = new Float32Array(room);
    let at = 0;
    for (let r = 0; r < rows; r++) {
      if (r % ROWS_PER_TURN === 0) await turn();
      for (let e = offsets[r]; e < offsets[r + 1]; e++) {
        features[at] = indices[e];
        products[at++] = values[e] / largest;
      }
      for (let e = offsets[r]; e < offsets[r + 1]; e++) {
        for (let f = e + 1; f < offsets[r + 1]; f++) {
          const place = places[indices[e] * n + indices[f]];
          if (place === 0) continue;
          features[at] = place;
          products[at++] = (values[e] / largest) * (values[f] / largest);
        }
      }
      starts[r + 1] = at;
    }
    await advance(run, { stage: "transform", share: 1 });
    return Csr.of(starts, features.slice(0, at), products.slice(0, at), n + pairs.length);
  }

  save(): Saved {
    const { kind, features, largest, params, pairs } = this;
    return { kind, meta: { features, largest, params }, arrays: { pairs: stored(pairs) } };
  }
}

function placesOf(pairs: Uint32Array, n: number): Uint32Array {
  const places = new Uint32Array(n * n);
  pairs.forEach((pair, p) => {
    places[pair] = n + p;
  });
  return places;
}

/** Reads stored pairs. */
export const pairReader: ModelReader = {
  kind: "pairs",
  read: (saved) => {
    const features = count(saved, "features");
    const { largest } = saved.meta;
    if (features < 1 || features > MOST_PAIRED) throw bad(saved, `features: expected from 1 to ${MOST_PAIRED}`);
    if (!(typeof largest === "number" && largest > 0 && Number.isFinite(largest))) {
      throw bad(saved, "largest: expected a number above 0");
    }
    const pairs = vector(saved, "pairs", Uint32Array);
    pairs.forEach((pair, p) => {
      const ascends = p === 0 || pair > pairs[p - 1];
      if (!(ascends && pair < features * features && Math.floor(pair / features) < pair % features)) {
        throw bad(saved, `pairs: expected ascending pairs of two of ${features} features, found ${pair}`);
      }
    });
    return new PairModel(features, pairs, largest, storedParams(saved, PARAMETERS));
  },
};
