/**
 * What rows weigh (deviation 36). A row that counts w times in every sum is the same as the row times w: which filter responds most to
 * it does not change, and neither does its rank order, so training on such rows is training with weights.
 */

import { RanksimError } from "../errors.ts";
import { entriesOf } from "../kernels/rows.ts";
import type { RowSource, Rows } from "../kernels/shapes.ts";
import { Csr } from "./csr.ts";
import { Dense } from "./dense.ts";
import { SeenNumbers, type ValuesType } from "./values.ts";

/** What a fit is given about its rows besides their labels. */
export interface Weighted {
  /** One number above 0 for each row: how often it counts in sums and label counts. Draws do not depend on it. */
  readonly weights?: ArrayLike<number>;
}

/** Beyond this a sum of many rows would no longer be exact, or finite. */
const LARGEST_WEIGHT = 1e9;
/** What two bytes hold. */
const LARGEST_NARROW = 65_535;
/** Bytes of a source that are looked at in one go. */
const LOOK_BYTES = 2 ** 24;

/** The weights, checked; undefined where none were given. */
export function checkWeights(
  { weights }: Weighted,
  rows: number,
  filterFunction: unknown = "meanRank",
): Float64Array | undefined {
  if (weights === undefined) return undefined;
  if (filterFunction !== "meanRank") {
    throw new RanksimError("unsupported", `weights: expected filterFunction "meanRank", which adds rows up`);
  }
  if (weights.length !== rows) {
    throw new RanksimError(
      "bad-params",
      `weights: expected ${rows} numbers, one for each row, found ${weights.length}`,
    );
  }
  const checked = Float64Array.from(weights);
  const wrong = checked.findIndex((weight) => !(weight > 0 && weight <= LARGEST_WEIGHT));
  if (wrong >= 0) {
    throw new RanksimError(
      "bad-params",
      `weights: row ${wrong}: expected a number above 0 and up to ${LARGEST_WEIGHT}, found ${checked[wrong]}; leave out rows that do not count`,
    );
  }
  return checked;
}

/**
 * Every row times its weight, in the narrowest element type that is exact: pooled rows of images are gigabytes. Rows that are read are
 * weighted as they are read, and read once before, where their own type does not tell how large they become.
 */
export async function weightRows(x: RowSource, weights: Float64Array): Promise<RowSource> {
  if (weights.every((weight) => weight === 1)) return x;
  if (!(x instanceof Dense || x instanceof Csr)) return weightedSource(x, weights, await typeOfSource(x, weights));
  const seen = new SeenNumbers();
  lookAt(seen, x, weights);
  const times = timesWeights(x, (r) => weights[r], seen.type);
  return times.form === "dense"
    ? Dense.of(times.values, x.rows, x.features)
    : Csr.of(times.offsets, times.indices, times.values, x.features);
}

/** The type of all rows of a source times their weights. */
async function typeOfSource(x: RowSource, weights: Float64Array): Promise<ValuesType> {
  const isNarrow = (weight: number) => Number.isInteger(weight) && weight * 255 <= LARGEST_NARROW;
  if (x.valueBytes === 1 && weights.every(isNarrow)) return Uint16Array;
  const seen = new SeenNumbers();
  let first = 0;
  for await (const block of x.blocks(LOOK_BYTES)) {
    lookAt(seen, block, weights.subarray(first, first + block.rows));
    if (seen.type === Float64Array) break; // nothing is wider
    first += block.rows;
  }
  return seen.type;
}

function lookAt(seen: SeenNumbers, x: Rows, weights: Float64Array): void {
  const { form, features } = x;
  for (let r = 0; r < x.rows; r++) {
    const [from, to] = form === "dense" ? [r * features, (r + 1) * features] : [x.offsets[r], x.offsets[r + 1]];
    seen.add(x.values.subarray(from, to), weights[r]);
  }
}

/** The rows with every value times the weight of its row. */
function timesWeights(x: Rows, weightOf: (r: number) => number, Type: ValuesType): Rows {
  const { form, rows, features } = x;
  const values = new Type(entriesOf(x));
  const [first, last] = form === "dense" ? [0, values.length] : [x.offsets[0], x.offsets[rows]];
  for (let r = 0; r < rows; r++) {
    const [from, to] = form === "dense" ? [r * features, (r + 1) * features] : [x.offsets[r], x.offsets[r + 1]];
    const weight = weightOf(r);
    for (let e = from; e < to; e++) values[e - first] = x.values[e] * weight;
  }
  if (form === "dense") return { form, rows, features, values };
  const offsets = first === 0 ? x.offsets : x.offsets.map((at) => at - first);
  return { form, rows, features, offsets, indices: x.indices.subarray(first, last), values };
}

/** Rows of a source times their weights, in that type. */
function weightedSource(source: RowSource, weights: Float64Array, Type: ValuesType): RowSource {
  const index = source.form === "csr" ? Uint32Array.BYTES_PER_ELEMENT : 0;
  const share = (index + source.valueBytes) / (index + Type.BYTES_PER_ELEMENT);
  const of = (x: RowSource, own: Float64Array): RowSource => {
    const { form, rows, features, entries, room, made, arrange } = x;
    return {
      ...{ form, rows, features, entries, valueBytes: Type.BYTES_PER_ELEMENT },
      // Rows that are made have room for themselves in their own type; of rows that are read it is what the caller allows.
      ...(room === undefined ? {} : { room: made ? room / share : room }),
      ...(made === undefined ? {} : { made }),
      ...(arrange && {
        arrange: async (listed: Uint32Array) =>
          of(
            await arrange.call(x, listed),
            Float64Array.from(listed, (r) => own[r]),
          ),
      }),
      async *blocks(bytes) {
        let first = 0;
        for await (const block of x.blocks(bytes * share)) {
          const weightsOfBlock = own.subarray(first, first + block.rows);
          yield timesWeights(block, (r) => weightsOfBlock[r], Type);
          first += block.rows;
        }
      },
      gather: async (listed) => timesWeights(await x.gather(listed), (r) => own[listed[r]], Type),
      slice: (from, to) => of(x.slice(from, to), own.subarray(from, to)),
    };
  };
  return of(source, weights);
}
