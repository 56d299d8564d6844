/** Figures as the tables show them: three digits that count, the median first, then the range of the runs. */

import type { Figure } from "./results.ts";

/** Three digits that count, thousands separated. */
export function number(value: number): string {
  if (value === 0) return "0";
  const digits = Math.floor(Math.log10(Math.abs(value)));
  if (digits >= 2) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(Math.min(2 - digits, 4));
}

/** Median and range. Nothing measured: a dash. */
export function spread(figure: Figure | undefined, show: (value: number) => string = number): string {
  if (figure === undefined) return "–";
  const [middle, low, high] = (typeof figure === "number" ? [figure, figure, figure] : figure).map(show);
  return low === high ? middle : `${middle} (${low}–${high})`;
}

/** Millions of bytes. */
export function megabytes(bytes: number): string {
  return Math.round(bytes / 1e6).toLocaleString("en-US");
}

/** A share as a percentage. */
export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** A Markdown table; columns whose cells are all dashes are left out. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const kept = header.map((_, at) => at).filter((at) => at === 0 || rows.some((row) => row[at] !== "–"));
  const line = (cells: readonly string[]) => `| ${kept.map((at) => cells[at]).join(" | ")} |`;
  return [line(header), line(header.map((_, at) => (at === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}
