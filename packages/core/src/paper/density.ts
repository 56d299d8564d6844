/**
 * How one feature is distributed over the sampled rows, in the two forms that confusion compares: a histogram (exact
 * shares of the distinct values) and a Gaussian kernel density (kde) with Scott's bandwidth.
 *
 * The kde is kept as a table: direct sums over 1,000 values at 200 grid points for six densities a feature took 140 s for
 * 10,000 features, the table 1.8 s. Only + - * / and Math.sqrt are used, which every engine rounds alike (Math.exp and
 * Math.pow differ in the last bit), so that a distribution has the same bits everywhere.
 */

import { smallExp, tailExp } from "../kernels/exponential.ts";

/** The values of one feature. Zeros are counted, not listed, so dense and sparse data give the same column. */
export interface Column {
  /** Number of values, zeros included. */
  readonly rows: number;
  /** The values that are not zero, in row order. */
  readonly values: Float64Array;
}

/** The column of a list of numbers. */
export function columnOf(numbers: ArrayLike<number>): Column {
  return { rows: numbers.length, values: Float64Array.from(numbers).filter((value) => value !== 0) };
}

/** Counts of the distinct values. */
export interface Histogram {
  readonly rows: number;
  /** The distinct values, ascending. */
  readonly values: Float64Array;
  /** How many rows have each. */
  readonly counts: Float64Array;
}

/** Counts the distinct values of a column. */
export function histogramOf(column: Column): Histogram {
  const sorted = column.values.slice().sort();
  const zeros = column.rows - sorted.length;
  const values = new Float64Array(sorted.length + 1);
  const counts = new Float64Array(sorted.length + 1);
  let distinct = 0;
  let zerosPlaced = zeros === 0;
  for (let from = 0; from < sorted.length || !zerosPlaced; distinct++) {
    if (!zerosPlaced && (from === sorted.length || sorted[from] > 0)) {
      counts[distinct] = zeros;
      zerosPlaced = true;
      continue;
    }
    let to = from + 1;
    while (to < sorted.length && sorted[to] === sorted[from]) to++;
    values[distinct] = sorted[from];
    counts[distinct] = to - from;
    from = to;
  }
  return { rows: column.rows, values: values.subarray(0, distinct), counts: counts.subarray(0, distinct) };
}

/** Table steps in one bandwidth: with interpolation of degree 9 the table is within 3e-10 of a kernel's height. */
const STEPS_PER_BANDWIDTH = 8;

/** Beyond 8 bandwidths a kernel has less than 2e-14 of its height and counts as 0. */
const REACH = 8 * STEPS_PER_BANDWIDTH;

/** Nodes below the lowest and above the highest value: the reach of their kernels and of the interpolation. */
const MARGIN = REACH + 5;

/** Each node holds its kernel sum and the central differences of order 2, 4, 6 and 8. */
const TERMS = 5;

/** Features that vary by less than this count as constant: their table would run into subnormal numbers. */
const SMALLEST_RANGE = 1e-290;

/** A kernel density. A constant feature (bandwidth 0) has none and keeps only its value, `low` = `high`. */
export interface Kde {
  readonly rows: number;
  readonly low: number;
  readonly high: number;
  readonly bandwidth: number;
  /** The sum of the kernels, each of height 1, at nodes 1/8 bandwidth apart; node 69 lies at `low`. */
  readonly table: Float64Array;
  /** The values that are not zero. */
  readonly values: Float64Array;
}

const NOTHING = new Float64Array(0);

/**
 * The kernel density of a column. Its table is short for any data: when `rows` values have the range R, their standard
 * deviation is at least R / sqrt(2 rows) (all but the two extremes in the middle), so R is at most sqrt(2) rows^0.7
 * bandwidths: 178 for 1,000 rows, which is 1,564 nodes with the margins.
 */
export function kdeOf(column: Column): Kde {
  const { rows, values } = column;
  const zeros = rows - values.length;
  let low = zeros > 0 ? 0 : values[0];
  let high = low;
  for (let j = 0; j < values.length; j++) {
    if (values[j] < low) low = values[j];
    if (values[j] > high) high = values[j];
  }
  const range = high - low;
  if (!(range >= SMALLEST_RANGE)) return { rows, low, high: low, bandwidth: 0, table: NOTHING, values: NOTHING };

  const bandwidth = (standardDeviation(column, low, range) * range) / fifthRoot(rows);
  const nodes = Math.ceil((range / bandwidth) * STEPS_PER_BANDWIDTH) + 1 + 2 * MARGIN;
  const sums = new Float64Array(nodes);
  const stepsPerUnit = STEPS_PER_BANDWIDTH / bandwidth;
  if (zeros > 0) spreadKernel(sums, -low * stepsPerUnit + MARGIN, zeros);
  for (let j = 0; j < values.length; j++) spreadKernel(sums, (values[j] - low) * stepsPerUnit + MARGIN, 1);
  return { rows, low, high, bandwidth, table: withDifferences(sums), values: values.slice() };
}

/** The sum of the kernels (each of height 1) at the distance `above` from the density's lowest value. */
export function kernelSum(density: Kde, above: number): number {
  const { table, bandwidth } = density;
  const position = (above / bandwidth) * STEPS_PER_BANDWIDTH + MARGIN;
  if (!(position >= 0 && position < table.length / TERMS - 1)) return 0;
  const node = Math.floor(position);
  // Everett's formula: interpolation of degree 9 through the five nodes on either side.
  const s = position - node;
  const r = 1 - s;
  const ss = s * s;
  const rr = r * r;
  const s3 = (s * (ss - 1)) / 6;
  const r3 = (r * (rr - 1)) / 6;
  const s5 = (s3 * (ss - 4)) / 20;
  const r5 = (r3 * (rr - 4)) / 20;
  const s7 = (s5 * (ss - 9)) / 42;
  const r7 = (r5 * (rr - 9)) / 42;
  const s9 = (s7 * (ss - 16)) / 72;
  const r9 = (r7 * (rr - 16)) / 72;
  const at = node * TERMS;
  const sum =
    r * table[at] +
    r3 * table[at + 1] +
    r5 * table[at + 2] +
    r7 * table[at + 3] +
    r9 * table[at + 4] +
    (s * table[at + 5] + s3 * table[at + 6] + s5 * table[at + 7] + s7 * table[at + 8] + s9 * table[at + 9]);
  return Math.max(sum, 0); // rounding can leave a zero just below 0
}

/**
 * The same sum, kernel by kernel: right to 1e-10 of itself however far out in the tails, where `kernelSum` is right only to
 * a share of a kernel's height.
 */
export function exactKernelSum(density: Kde, above: number): number {
  const { rows, low, high, bandwidth, values } = density;
  const beyond = Math.max(-above, above - (high - low)) / bandwidth;
  if (beyond > LAST_NON_ZERO) return 0;
  const kernel = (value: number) => {
    const z = (above - (value - low)) / bandwidth;
    return z > LAST_NON_ZERO || z < -LAST_NON_ZERO ? 0 : tailExp((-z * z) / 2);
  };
  let sum = rows > values.length ? (rows - values.length) * kernel(0) : 0;
  for (let j = 0; j < values.length; j++) sum += kernel(values[j]);
  return sum;
}

/** exp(-z^2 / 2) is below the smallest float64 beyond this z. */
const LAST_NON_ZERO = 38.6;

/** Standard deviation (n - 1) of (value - low) / range: between 0 and 1 for any data, so no square overflows. */
function standardDeviation(column: Column, low: number, range: number): number {
  const { rows, values } = column;
  const zeros = rows - values.length;
  const zero = zeros > 0 ? -low / range : 0;
  let sum = zeros * zero;
  for (let j = 0; j < values.length; j++) sum += (values[j] - low) / range;
  const mean = sum / rows;
  let squares = zeros * (zero - mean) * (zero - mean);
  for (let j = 0; j < values.length; j++) {
    const distance = (values[j] - low) / range - mean;
    squares += distance * distance;
  }
  return Math.sqrt(squares / (rows - 1));
}

/** The fifth root of a whole number from 1, by Newton steps, which fall until rounding stops them. */
export function fifthRoot(count: number): number {
  for (let root = count; ; ) {
    const fourth = root * root * (root * root);
    const next = root - (fourth * root - count) / (5 * fourth);
    if (!(next < root)) return root;
    root = next;
  }
}

/** Length of a table step in bandwidths. */
const STEP = 1 / STEPS_PER_BANDWIDTH;

/** exp(-(j STEP)^2 / 2): the kernel at j steps, each from the one before as the exponent's difference is linear in j. */
const KERNEL = kernelAtSteps();

function kernelAtSteps(): Float64Array {
  const kernel = new Float64Array(REACH + 1);
  const first = smallExp((-STEP * STEP) / 2);
  let ratio = first;
  kernel[0] = 1;
  for (let j = 1; j <= REACH; j++) {
    kernel[j] = kernel[j - 1] * ratio;
    ratio *= first * first;
  }
  return kernel;
}

/**
 * Adds `weight` kernels centred at `position` (in table steps). At node c + j, where c is the nearest node and u the
 * distance of the centre from it, exp(-((j - u) STEP)^2 / 2) = exp(-(u STEP)^2 / 2) exp(u STEP^2)^j exp(-(j STEP)^2 / 2):
 * one exponential for the first factor, one for the powers, a constant for the third.
 */
function spreadKernel(
  sums: Float64Array, // in and out: kernel sums at the nodes
  position: number,
  weight: number,
): void {
  const centre = Math.floor(position + 0.5);
  const u = (position - centre) * STEP;
  const growth = smallExp(u * STEP);
  const decay = 1 / growth;
  let above = weight * smallExp((-u * u) / 2);
  let below = above;
  sums[centre] += above;
  for (let j = 1; j <= REACH; j++) {
    above *= growth;
    below *= decay;
    sums[centre + j] += above * KERNEL[j];
    sums[centre - j] += below * KERNEL[j];
  }
}

/** Puts beside each sum its even central differences. The outer nodes of a table are 0, so beyond it all is 0. */
function withDifferences(sums: Float64Array): Float64Array {
  const nodes = sums.length;
  const table = new Float64Array(nodes * TERMS);
  for (let node = 0; node < nodes; node++) table[node * TERMS] = sums[node];
  for (let term = 1; term < TERMS; term++) {
    for (let node = 1; node < nodes - 1; node++) {
      const at = node * TERMS + term - 1;
      table[at + 1] = table[at - TERMS] - 2 * table[at] + table[at + TERMS];
    }
  }
  return table;
}
