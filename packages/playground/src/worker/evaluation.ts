/** How the model does on rows with known labels: scores, which classes it takes for which, and the rows behind each cell. */

import { type Backend, type Label, type LabelSets, type Matrix, type Run, TransformModel } from "@ranksim/core";
import { pickRows } from "@ranksim/data";
import { classificationReport, logLoss } from "@ranksim/learn";
import type { Basis, Evaluation, Mistake } from "../protocol.ts";
import { type LoadedData, pickLabels, viewRow } from "./data.ts";
import type { Subject } from "./subject.ts";

/** Rows that were judged, with the answers they were given. */
export interface Judged {
  readonly evaluation: Evaluation;
  /** Rows of the data set. */
  readonly rows: Uint32Array;
  /** The rows as the filters take them. */
  readonly x: Matrix;
  /** Class numbers of the model; -1 for a label it has never seen. Absent for several labels per row. */
  readonly truth?: Int32Array;
  readonly answer?: Int32Array;
  readonly answers?: readonly Label[];
}

/** Judges the model on the listed rows; undefined where it cannot be: no labels, no rows, or a transform. */
export async function judge(
  subject: Subject,
  data: LoadedData,
  rows: Uint32Array,
  basis: Basis,
  run: Run,
): Promise<Judged | undefined> {
  const { multilabel, classes } = subject;
  if (subject.parts.filters instanceof TransformModel || data.y === undefined || rows.length === 0) return undefined;
  if (multilabel !== data.multilabel) return undefined;
  const { predicted, probabilities, x } = await subject.answers(await pickRows(data.set, rows), run);
  const y = pickLabels(data.y, rows);
  const report = classificationReport(y as Label[] | LabelSets, predicted);
  const shared = {
    rows: rows.length,
    basis,
    accuracy: report.accuracy,
    macroF1: report.macro.f1,
    classes: report.classes.map((scores) => ({ ...scores, label: String(scores.label) })),
  };
  if (multilabel) return { evaluation: shared, rows, x };

  const code = new Map(classes.map((label, c) => [label, c]));
  const codes = (labels: readonly Label[]) => Int32Array.from(labels, (label) => code.get(label) ?? -1);
  const truth = codes(y as Label[]);
  const answer = codes(predicted as Label[]);
  const c = classes.length;
  const confusion = new Uint32Array(c * c);
  truth.forEach((t, j) => {
    if (t >= 0) confusion[t * c + answer[j]]++;
  });
  const known = truth.every((t) => t >= 0);
  const loss = known && probabilities ? logLoss(y as Label[], probabilities, classes) : undefined;
  const evaluation = { ...shared, confusion, ...(loss === undefined ? {} : { logLoss: loss }) };
  return { evaluation, rows, x, truth, answer, answers: predicted as Label[] };
}

/** Rows of class `truth` that were given class `answer` (which may be the same), with the filters behind the answers. */
export async function mistakesOf(
  subject: Subject,
  data: LoadedData,
  { rows, x, truth, answer }: Judged,
  cell: { truth: number; answer: number; from: number; count: number },
  backend: Backend,
): Promise<{ total: number; shown: Mistake[] }> {
  const found: number[] = [];
  truth?.forEach((t, j) => {
    if (t === cell.truth && answer?.[j] === cell.answer) found.push(j);
  });
  const shown: Mistake[] = [];
  for (const j of found.slice(cell.from, cell.from + cell.count)) {
    const blamed = await subject.blame(x.slice(j, j + 1), cell.truth, backend);
    shown.push({ row: viewRow(data, rows[j]), ...blamed });
  }
  return { total: found.length, shown };
}
