/** Decimal numbers from bytes, without a string in between: the float64 that is nearest, as `Number` would read it. */

import { textOf } from "./scan.ts";

/** Powers of ten that float64 holds exactly: a whole number below 2^53 times or over one of them is rounded once, so right. */
export const POWERS = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));
/** An exponent that is counted no further. */
const FAR = 10000;

/** Digits that float64 holds exactly, whatever they are. */
const EXACT_DIGITS = 15;
/** Digits in each of two numbers; both together are below 2^64. */
const HIGH_DIGITS = 10;
const MOST_DIGITS = 19;

/** A whole number over a power of ten, rounded once: the same bits on every engine, which powers by `**` are not. */
export function decimalOf(digits: bigint, scale: number): number {
  const value = Number(digits);
  return Number.isSafeInteger(value) && scale < POWERS.length ? value / POWERS[scale] : Number(`${digits}e-${scale}`);
}

/**
 * The number that bytes `from` to `to` spell in decimal, as `Number` would read it; NaN if they spell none. Surrounding
 * blanks must have been left out already. Infinity is no decimal number.
 */
export function numberOf(window: Uint8Array, from: number, to: number): number {
  let at = from;
  const sign = window[at];
  if (at < to && (sign === 45 || sign === 43)) at++;
  const first = at;
  let high = 0;
  let low = 0;
  let digits = 0;
  let point = -1;
  for (; at < to; at++) {
    const digit = window[at] - 48;
    if (digit >= 0 && digit <= 9) {
      if (digits < HIGH_DIGITS) high = high * 10 + digit;
      else low = low * 10 + digit;
      if (digits > 0 || digit > 0) digits++;
    } else if (digit === -2 && point < 0) point = at;
    else break;
  }
  if (at - first - (point < 0 ? 0 : 1) === 0) return Number.NaN;
  let power = point < 0 ? 0 : point + 1 - at;
  if (at < to && (window[at] === 101 || window[at] === 69)) {
    at++;
    const negative = window[at] === 45;
    if (at < to && (negative || window[at] === 43)) at++;
    const start = at;
    let exponent = 0;
    for (; at < to && window[at] >= 48 && window[at] <= 57; at++) {
      exponent = Math.min(exponent * 10 + window[at] - 48, FAR);
    }
    if (at === start) return Number.NaN;
    power += negative ? -exponent : exponent;
  }
  if (at < to) return Number.NaN;
  if (digits <= MOST_DIGITS && power >= -22 && power <= 22) {
    const shift = POWERS[Math.max(0, digits - HIGH_DIGITS)];
    const value =
      digits > EXACT_DIGITS
        ? quotient(high, shift, low, power)
        : power < 0
          ? (high * shift + low) / POWERS[-power]
          : (high * shift + low) * POWERS[power];
    if (!Number.isNaN(value)) return sign === 45 ? -value : value;
  }
  return Number(textOf(window, from, to));
}

/** A number of 53 bits is the sum of two of 26, whose products are exact (Veltkamp). */
const SPLIT = 2 ** 27 + 1;
const upper = (value: number): number => SPLIT * value - (SPLIT * value - value);

/** So much of the correction is doubted; its three roundings are 2^-51 of it at most. */
const DOUBT = 2 ** -40;

/**
 * (high · shift + low) / 10^-power, rounded once, for 16 to 19 digits: high below 10^10, low below shift, a power of ten up to 10^9. NaN where
 * the power is above 0, or the exact quotient lies so near the middle of two numbers that the rounding is not proved.
 *
 * With high = a·2^17 + b the digits are the sum of a·shift·2^17 and b·shift + low, both below 2^53 but for the factor 2^17, so exact, and the
 * first not below the second; `sum` + `rest` is that sum exactly (fast two-sum). The remainder of a quotient that is rounded to nearest is a float64, and is
 * found by Dekker's exact product. What remains over the divisor is a correction of less than two units in the last place, wrong by
 * at most 2^-51 of itself: if the quotient and the correction round to one number from below and from above, the exact quotient does.
 */
function quotient(high: number, shift: number, low: number, power: number): number {
  if (power > 0) return Number.NaN;
  const a = Math.floor(high / 2 ** 17);
  const large = a * shift * 2 ** 17;
  const small = (high - a * 2 ** 17) * shift + low;
  const sum = large + small;
  const rest = small - (sum - large);
  const divisor = POWERS[-power];
  const value = sum / divisor;
  const [u, v] = [upper(value), upper(divisor)];
  const product = value * divisor;
  const lost = u * v - product + u * (divisor - v) + (value - u) * v + (value - u) * (divisor - v);
  const correction = (sum - product - lost + rest) / divisor;
  const doubt = Math.abs(correction) * DOUBT;
  const below = value + (correction - doubt);
  return below === value + (correction + doubt) ? below : Number.NaN;
}
