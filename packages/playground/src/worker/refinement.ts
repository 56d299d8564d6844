/** What refinement does to a model: the same filters before and after, judged on the same rows. */

import { ClassifierModel, expandFilter, type Label, type Matrix, RanksimError, type Run } from "@ranksim/core";
import type { Evaluation, RefinementView } from "../protocol.ts";
import type { LoadedData } from "./data.ts";
import { type Judged, judge } from "./evaluation.ts";
import { Subject, type SubjectParts } from "./subject.ts";

/** Pairs of filters that are shown, those that changed most. */
const SHOWN_PAIRS = 12;

/** Refines a plain model with the rows it was trained on and compares the two on `rows`. */
export async function compareRefined(
  plain: SubjectParts,
  training: { readonly x: Matrix; readonly y: readonly Label[] },
  data: LoadedData,
  rows: Uint32Array,
  heldOut: boolean,
  run: Run,
): Promise<RefinementView> {
  const { model } = plain;
  if (!(model instanceof ClassifierModel)) {
    throw new RanksimError("unsupported", `Only a classifier can be refined, found a ${model.kind}.`);
  }
  const began = performance.now();
  const taught = await model.refine(training.x, training.y, run);
  const seconds = (performance.now() - began) / 1000;
  const basis = heldOut ? "held-out" : "training";
  const before = new Subject(plain);
  const after = new Subject({ ...plain, model: taught, whole: taught });
  const first = (await judge(before, data, rows, basis, run)) as Judged;
  const second = (await judge(after, data, rows, basis, run)) as Judged;
  const changes = changesOf(model, taught);
  const order = Array.from(changes.keys()).sort((a, b) => changes[b] - changes[a] || a - b);
  const { refinement } = taught.report;
  return {
    rows: rows.length,
    heldOut,
    refined: refinement?.refined ?? false,
    ...(refinement?.epochs === undefined ? {} : { epochs: refinement.epochs }),
    seconds,
    filters: changes.length,
    changed: changes.filter((change) => change > 0).length,
    before: scoresOf(first.evaluation),
    after: scoresOf(second.evaluation),
    corrected: countTurned(second, first),
    spoiled: countTurned(first, second),
    classes: first.evaluation.classes.map(({ label, f1 }, c) => ({
      label,
      before: f1,
      after: second.evaluation.classes[c]?.f1 ?? 0,
    })),
    pairs: order
      .slice(0, SHOWN_PAIRS)
      .filter((filter) => changes[filter] > 0)
      .map((filter) => ({ before: before.view(filter), after: after.view(filter) })),
  };
}

const scoresOf = ({ accuracy, macroF1 }: Evaluation) => ({ accuracy, macroF1 });

/** Rows that `right` got right and `wrong` got wrong. */
function countTurned(right: Judged, wrong: Judged): number {
  let turned = 0;
  right.truth?.forEach((truth, j) => {
    if (right.answer?.[j] === truth && wrong.answer?.[j] !== truth) turned++;
  });
  return turned;
}

/** How far each filter's weights moved in all. */
function changesOf({ bank: a }: ClassifierModel, { bank: b }: ClassifierModel): Float64Array {
  const [old, now] = [new Float64Array(a.features), new Float64Array(a.features)];
  return Float64Array.from({ length: a.filters }, (_, filter) => {
    expandFilter(a, filter, old);
    expandFilter(b, filter, now);
    return old.reduce((sum, weight, i) => sum + Math.abs(weight - now[i]), 0);
  });
}
