/** What every explanation says to people: the answer, and the features that decided. */

import type { Contribution, Label } from "@ranksim/core";
import type { DataSet } from "@ranksim/data";
import type { neighboursOf } from "../model/neighbours.ts";
import type { Session } from "../session.ts";
import { percent, short } from "../terminal/numbers.ts";
import { cut, printable } from "../terminal/style.ts";
import { pairs, table } from "../terminal/table.ts";

/** A row and its answer. */
export interface Answered {
  readonly row: number;
  readonly one: DataSet;
  readonly truth: Label | readonly Label[] | undefined;
  readonly label: Label | readonly Label[] | undefined;
  readonly rival: Label | undefined;
  readonly labelName: (label: Label) => string;
}

/** The row, its class, and the one it was given. */
export function answered({ row, one, truth, label, rival, labelName }: Answered, { style }: Session): string {
  const name = (value: Label | readonly Label[]) =>
    cut(
      printable(
        [value]
          .flat()
          .map((one) => labelName(one as Label))
          .join(", ") || "no label",
      ),
      40,
    );
  const right = truth === undefined || label === undefined ? undefined : String(truth) === String(label);
  const given = label === undefined ? undefined : name(label);
  return pairs(
    [
      ["row", String(row)],
      ["text", one.form === "text" ? cut(printable(one.text[0].replace(/\s+/g, " ").trim()), 200) : undefined],
      ["true", truth === undefined ? undefined : name(truth)],
      [
        "predicted",
        given && (right === undefined ? style.strong(given) : right ? style.good(given) : style.bad(given)),
      ],
      ["rival", rival === undefined ? undefined : name(rival)],
    ],
    style,
  );
}

/** Rows named of those that a model keeps. */
export const NEIGHBOURS = 5;

/** The kept rows most like the row. */
export function neighbourTable(
  found: ReturnType<typeof neighboursOf>,
  labelName: (label: Label) => string,
  { style }: Session,
): string {
  const right = { align: "right" } as const;
  const hasLabels = found.some(({ label }) => label !== undefined);
  return table(
    [{ head: "row kept", ...right }, { head: "similarity", ...right }, ...(hasLabels ? [{ head: "class" }] : [])],
    found.map(({ row, similarity, label }) => [
      String(row),
      style.good(similarity.toFixed(3)),
      ...(hasLabels
        ? [
            cut(
              printable(
                [label ?? []]
                  .flat()
                  .map((one) => labelName(one as Label))
                  .join(", "),
              ),
              40,
            ),
          ]
        : []),
    ]),
    style,
  );
}

/** What features contributed to a decision, and what they are called. */
export interface Contributed {
  readonly contributions: readonly Contribution[];
  readonly nameOf: (feature: number) => string;
  /** What the row holds in the column of a feature, where columns are encoded. */
  readonly cellOf: (feature: number) => string | undefined;
  /** What features are: words, columns, or plain features. */
  readonly featuresAre: string;
}

/** The features that decided. */
export function contributionTable(
  { contributions, nameOf, featuresAre, cellOf }: Contributed,
  top: number,
  { style }: Session,
): string {
  const right = { align: "right" } as const;
  const all = contributions.reduce((sum, { contribution }) => sum + Math.abs(contribution), 0);
  return table(
    [{ head: featuresAre }, { head: "value", ...right }, { head: "speaks" }, { head: "share", ...right }],
    contributions
      .slice(0, top)
      .map(({ feature, value, contribution }) => [
        cut(printable(nameOf(feature)), 40),
        cellOf(feature) ?? short(value),
        contribution > 0 ? style.good("for") : style.bad("against"),
        percent(Math.abs(contribution) / all),
      ]),
    style,
  );
}
