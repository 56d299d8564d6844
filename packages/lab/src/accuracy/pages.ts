/** The pages of accuracy: every table between its marks. */

import { withPart } from "../runner/page.ts";
import type { Results } from "../runner/results.ts";
import { TABLES } from "./all.ts";
import { shownGoals, shownTable } from "./table.ts";

export const PAGES = ["BEYOND.md", "TABLES.md", "NEIGHBOURS.md"] as const;

/** The page with its tables made from results. */
export function withTables(page: (typeof PAGES)[number], text: string, results: Results): string {
  const own = TABLES.filter((one) => (one.page ?? "BEYOND.md") === page);
  const filled = own.reduce((before, one) => withPart(before, one.name, shownTable(one, results)), text);
  return page === "BEYOND.md" ? withPart(filled, "goals", shownGoals(own, results)) : filled;
}
