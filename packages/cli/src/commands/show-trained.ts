/** What `train` says of the model it made. */

import type { AnyRows, DetectedColumn } from "@ranksim/data";
import { columnLines, summarize, summaryLines } from "../model/data-summary.ts";
import type { FilterModel } from "../model/parts.ts";
import type { Recipe } from "../model/recipe.ts";
import { refinementText } from "../model/refinement-text.ts";
import type { StoredModel } from "../model/store.ts";
import { brief } from "../model/trace.ts";
import type { Session } from "../session.ts";
import { bytes, count, counted, percent, seconds } from "../terminal/numbers.ts";
import { cut, printable, type Style } from "../terminal/style.ts";
import { pairs } from "../terminal/table.ts";

/** The result for programs. */
export function trainedAsJson(
  { model, byteLength, digest }: StoredModel,
  part: FilterModel,
  { trace }: { readonly trace?: boolean },
): object {
  const { report } = part;
  const classes = "classes" in part ? { classes: part.classes } : {};
  return { kind: model.kind, byteLength, digest, ...classes, report: trace ? report : brief(report) };
}

/** The result for people. */
export function showTrained(
  { byteLength, digest }: StoredModel,
  part: FilterModel,
  path: string,
  took: number,
  about: string | undefined,
  columns: readonly DetectedColumn[] | undefined,
  style: Style,
): string {
  const { report } = part;
  const classes = "classes" in part ? part.classes : undefined;
  const rest = report.trainings.filter(({ converged }) => converged).length;
  const iterations = Math.max(0, ...report.trainings.map(({ steps }) => steps.length));
  const within = `within ${counted(iterations, "iteration")}`;
  const some = report.trainings.length === 1 ? "no, not" : `in ${rest} of ${report.trainings.length} classes,`;
  return pairs(
    [
      ["recipe", about],
      ["trained on", `${count(report.rows)} rows × ${count(report.features)} features`],
      ...(columns ? columnLines(columns) : []),
      ["classes", classes && `${count(classes.length)}  ${style.faint(cut(printable(classes.join(", ")), 60))}`],
      ["filters", count(report.filters)],
      [
        "converged",
        report.converged && iterations === 0 ? "yes, at once" : `${report.converged ? "yes," : some} ${within}`,
      ],
      ["refined", report.refinement && refinementText(report.refinement)],
      ["time", `${seconds(took)} on ${report.backend}`],
      ["pruned", report.pruned ? `${percent(report.pruned)} of all products` : undefined],
      ["model", `${style.strong(printable(path))}  ${bytes(byteLength)}`],
      ["digest", digest.slice(0, 16)],
    ],
    style,
  );
}

/** `--dry-run`: what was found in the data, and what would be trained. */
export async function showPlanned(data: AnyRows, recipe: Recipe, session: Session): Promise<void> {
  const summary = summarize(data, recipe);
  await session.print("train", { dryRun: true, ...summary }, () => pairs(summaryLines(summary, recipe), session.style));
}
