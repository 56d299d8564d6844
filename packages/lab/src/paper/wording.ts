/** Numbers as the page words them; a dash where there is none. */

/** "60,000". */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** "1,000, 10,000 rows". */
export function rowCounts(sizes: readonly number[]): string {
  return `${sizes.map(count).join(", ")} rows`;
}

/** How many times as much: "11×". */
export function ratio(value: number | undefined): string {
  if (value === undefined) return "–";
  return `${value >= 100 ? Math.round(value) : value.toPrecision(2)}×`;
}

/** A difference with its sign: "+0.014". */
export function signed(value: number | undefined): string {
  return value === undefined ? "–" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
}

/** How many of the parts that are known hold: "3 of 9". */
export function tally(parts: readonly (boolean | undefined)[]): string {
  return `${parts.filter((part) => part).length} of ${parts.filter((part) => part !== undefined).length}`;
}

/** The largest of the numbers that are known. */
export function largest(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}
