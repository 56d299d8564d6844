/** What `train` says of the model it made. */

import { isClassifier } from "@ranksim/core";
import type { AnyRows } from "@ranksim/data";
import type { FilterModel, Recipe, Trained } from "@ranksim/learn";
import { columnLines, summarize, summaryLines } from "../model/data-summary.ts";
import { refinementText } from "../model/refinement-text.ts";
import type { StoredModel } from "../model/store.ts";
import { brief } from "../model/trace.ts";
import { triedText } from "../model/tried-text.ts";
import type { TrainedResult } from "../output.ts";
import type { Session } from "../session.ts";
import { bytes, count, counted, percent, seconds } from "../terminal/numbers.ts";
import { cut, printable, type Style } from "../terminal/style.ts";
import { pairs } from "../terminal/table.ts";

/** The result for programs. */
export function trainedAsJson(
  { model, byteLength, digest }: StoredModel,
  part: FilterModel | undefined,
): TrainedResult {
  const classes = isClassifier(model) ? { classes: model.classes } : {};
  const report = part && { report: brief(part.report) };
  return { kind: model.kind, byteLength, digest, ...classes, ...report };
}

/** The result for people. */
export function showTrained(
  { model, byteLength, digest }: StoredModel,
  {
    part,
    path,
    took,
    recipe,
  }: { part: FilterModel | undefined; path: string; took: number; recipe: Trained<AnyRows>["recipe"] },
  rows: number,
  style: Style,
): string {
  const { columns, preset, about, tried } = recipe;
  const classes = isClassifier(model) ? model.classes : undefined;
  const lines = pairs(
    [
      ["recipe", preset && about],
      ["trained on", counted(part?.report.rows ?? rows, "row")],
      ...(columns ? columnLines(columns) : []),
      ["classes", classes && `${count(classes.length)}  ${style.faint(cut(printable(classes.join(", ")), 60))}`],
      ...(part ? filterLines(part) : []),
      ["time", `${seconds(took)}${part ? ` on ${part.report.backend}` : ""}`],
      ["model", `${style.strong(printable(path))}  ${bytes(byteLength)}`],
      ["digest", digest.slice(0, 16)],
    ],
    style,
  );
  const table = triedText(tried, style);
  return table === "" ? lines : `${table}\n${lines}`;
}

function filterLines({ report }: FilterModel): [string, string | undefined][] {
  const rest = report.trainings.filter(({ converged }) => converged).length;
  const iterations = Math.max(0, ...report.trainings.map(({ steps }) => steps.length));
  const within = `within ${counted(iterations, "iteration")}`;
  const some = report.trainings.length === 1 ? "no, not" : `in ${rest} of ${report.trainings.length} classes,`;
  return [
    ["filters", `${count(report.filters)} of ${counted(report.features, "feature")}`],
    [
      "converged",
      report.converged && iterations === 0 ? "yes, at once" : `${report.converged ? "yes," : some} ${within}`,
    ],
    ["refined", report.refinement && refinementText(report.refinement)],
    ["pruned", report.pruned ? `${percent(report.pruned)} of all products` : undefined],
  ];
}

/** `--dry-run`: what was found in the data, and what would be trained. */
export async function showPlanned(data: AnyRows, recipe: Recipe, session: Session): Promise<void> {
  const summary = summarize(data, recipe);
  await session.print("train", { dryRun: true, ...summary }, () => pairs(summaryLines(summary, recipe), session.style));
}
