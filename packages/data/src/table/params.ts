/** Parameters of the encoder of tables: types, defaults with one description each, and their check. */

import { type Estimator, type Json, type ParameterInfo, RanksimError } from "@ranksim/core";
import type { TextModel } from "../text/readers.ts";
import type { Texts } from "../text/source.ts";
import type { ColumnKinds } from "./detect.ts";

/** How the knots of a column of numbers lie. */
export type Spacing = "midway" | "quantile" | "even";

/** Parameters of `TableEncoder`. */
export interface TableParams {
  /** Knots of a column of numbers, from 2 to 255; "auto": 5, and 9 from 1,000 rows on; with one column or two 13, and 17. */
  readonly knots: "auto" | number;
  /** Where they lie: at quantiles, evenly between the 2nd and the 98th percentile, or midway between the two. */
  readonly spacing: Spacing;
  /** Words of a category that have a feature each, the most frequent ones; others share one. */
  readonly categories: number;
  /** What columns are, by name; default: detected from their cells. */
  readonly types: ColumnKinds;
  /** What becomes of columns of texts; default: weighted words, tf-idf. Each column has a vocabulary of its own. */
  readonly vectorizer?: Estimator<Texts, TextModel>;
}

export const TABLE_PARAMETERS: readonly ParameterInfo[] = [
  { name: "knots", form: "count-or-auto", default: "auto", about: "knots of a column of numbers, from 2" },
  {
    name: "spacing",
    form: "choice",
    choices: ["midway", "quantile", "even"],
    default: "midway",
    about: "where knots lie: at quantiles, evenly, or midway between the two",
  },
  { name: "categories", form: "count", default: 1024, about: "most words of a category that get a feature each" },
];

const DEFAULTS: TableParams = { knots: "auto", spacing: "midway", categories: 1024, types: {} };

/** Complete, checked parameters. */
export function checkTableParams(given: Partial<TableParams>): TableParams & { readonly [name: string]: unknown } {
  const complete: TableParams = { ...DEFAULTS, ...given };
  for (const name of Object.keys(complete)) {
    if (!Object.hasOwn(DEFAULTS, name) && name !== "vectorizer") {
      throw new RanksimError("bad-params", `unknown parameter ${name}; expected ${Object.keys(DEFAULTS).join(", ")}`);
    }
  }
  const { knots, spacing, categories, types, vectorizer } = complete;
  const isKnots = knots === "auto" || (Number.isInteger(knots) && knots >= 2 && knots <= 255);
  if (!isKnots) throw wrong("knots", '"auto" or a whole number from 2 to 255', knots);
  if (!["midway", "quantile", "even"].includes(spacing)) throw wrong("spacing", "midway, quantile or even", spacing);
  const isCount = Number.isInteger(categories) && categories >= 1 && categories <= 65_536;
  if (!isCount) throw wrong("categories", "a whole number from 1 to 65,536", categories);
  if (typeof types !== "object" || types === null) throw wrong("types", "an object of kinds by column", types);
  if (vectorizer !== undefined && typeof vectorizer.fit !== "function")
    throw wrong("vectorizer", "a vectoriser such as new TfidfVectorizer()", vectorizer);
  return Object.freeze({ ...complete });
}

/** Parameters as JSON; types and vectorisers are stored with the columns. */
export function tableParamsAsJson({ knots, spacing, categories }: TableParams): { readonly [name: string]: Json } {
  return { knots, spacing, categories };
}

function wrong(name: string, expected: string, found: unknown): RanksimError {
  return new RanksimError("bad-params", { parameter: name, expected, found: JSON.stringify(found) });
}
