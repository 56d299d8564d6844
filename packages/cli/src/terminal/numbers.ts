/** Numbers for people: counts in groups of three, shares in per cent, sizes and times in the unit that fits. */

/** A whole number, in groups of three: 60,000. */
export function count(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 0 });
}

/** A count with its noun, in the plural where it is not 1: 1 row, 60,000 rows. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A score from 0 to 1 with four decimals, as the field prints it. */
export function score(value: number): string {
  return value.toFixed(4);
}

/** A share as per cent: 12.3 %. */
export function percent(share: number, decimals = 1): string {
  return `${(share * 100).toFixed(decimals)} %`;
}

/** Any number in at most five significant digits, without an exponent where that is readable. */
export function short(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(2);
  return Number.isInteger(value) ? count(value) : String(Number(value.toPrecision(4)));
}

/** A large count in the unit that fits: 7.8k, 3.8M. */
export function brief(value: number): string {
  const units = ["", "k", "M", "G", "T"];
  let unit = 0;
  let size = value;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit++;
  }
  return unit === 0 ? count(value) : `${size < 9.95 ? Number(size.toFixed(1)) : size.toFixed(0)}${units[unit]}`;
}

/** Bytes in the unit that fits, by thousands: 1.2 MB. */
export function bytes(value: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let unit = 0;
  let size = value;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit++;
  }
  return unit === 0 ? counted(value, "byte") : `${size < 9.95 ? size.toFixed(1) : size.toFixed(0)} ${units[unit]}`;
}

/** Seconds in the unit that fits: 85 ms, 3.2 s, 2 min 5 s. */
export function seconds(value: number): string {
  if (value < 0.00995) return `${Math.max(0.1, value * 1000).toFixed(1)} ms`;
  if (value < 0.9995) return `${Math.round(value * 1000)} ms`;
  if (value < 59.95) return `${value.toFixed(1)} s`;
  const whole = Math.round(value);
  const minutes = Math.floor(whole / 60);
  return minutes < 60
    ? `${minutes} min ${whole % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min ${whole % 60} s`;
}
