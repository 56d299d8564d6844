/** Tables in README files: what stands between two marks is made from the results, the rest is written by hand. */

const START_MARK = "<!-- bench:start -->";
const END_MARK = "<!-- bench:end -->";

/** The text with what stands between the marks replaced; undefined if it has no such marks. */
export function withTables(text: string, tables: string): string | undefined {
  const start = text.indexOf(START_MARK);
  const end = text.indexOf(END_MARK);
  if (start < 0 || end < start) return undefined;
  return `${text.slice(0, start + START_MARK.length)}\n\n${tables}\n\n${text.slice(end)}`;
}
