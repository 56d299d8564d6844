/** What refinement does to a model: the same filters before and after, judged on the same rows. */

import {
  type Backend,
  ClassifierModel,
  expandFilter,
  type Label,
  type Matrix,
  RanksimError,
  type Run,
} from "@ranksim/core";
import type { Evaluation, Recipe, RefinementView, TrainingStep } from "../protocol.ts";
import { isMatrix, type LoadedData, pickLabels } from "./data.ts";
import { type Judged, judge } from "./evaluation.ts";
import { Gate } from "./gate.ts";
import { Subject, type SubjectParts } from "./subject.ts";

/** Pairs of filters that are shown, those that changed most. */
const SHOWN_PAIRS = 12;

/** The page is sent the progress of a comparison this often. */
const TELL_MILLISECONDS = 100;

/** Share of a comparison that training takes; refinement takes the rest. */
const TRAINING = 0.2;

/** What a comparison is made with. */
interface ComparisonRun {
  readonly fit: (recipe: Recipe, gate: Gate, tell: (step: TrainingStep) => void) => Promise<SubjectParts>;
  readonly tell: (share: number) => void;
  readonly backend: Promise<Backend>;
  readonly signal: AbortSignal;
}

/** Trains a recipe without refinement, refines that model and compares the two. */
export async function compareRefinement(
  data: LoadedData,
  recipe: Recipe,
  rows: { readonly train: Uint32Array; readonly test: Uint32Array },
  { fit, tell, backend, signal }: ComparisonRun,
): Promise<RefinementView> {
  const gate = new Gate("full");
  let told = 0;
  const tellSometimes = (share: number) => {
    if (performance.now() - told < TELL_MILLISECONDS) return;
    told = performance.now();
    tell(share);
  };
  try {
    const plain = await fit(withoutRefinement(recipe), gate, ({ share }) => tellSometimes(TRAINING * share));
    const { x } = data;
    const input = isMatrix(x) ? x.gather(rows.train) : Array.from(rows.train, (row) => x[row]);
    const training = { x: await plain.prepare(input), y: pickLabels(data.y ?? [], rows.train) as Label[] };
    const isHeldOut = rows.test.length > 0;
    const onProgress = ({ share }: { share: number }) => {
      tellSometimes(TRAINING + (1 - TRAINING) * share);
      return gate.listen();
    };
    const run = { backend: await backend, signal, onProgress };
    return await compareRefined(plain, training, data, isHeldOut ? rows.test : rows.train, isHeldOut, run);
  } finally {
    gate.close();
  }
}

function withoutRefinement(recipe: Recipe): Recipe {
  const { refine: _refine, calibrate: _calibrate, ...params } = recipe.params;
  // Recipes of patches refine and calibrate unless told otherwise.
  return {
    ...recipe,
    params: recipe.estimator === "patches" ? { ...params, refine: false, calibrate: "none" } : params,
  };
}

/** Refines a plain model with the rows it was trained on and compares the two on `rows`. */
async function compareRefined(
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
  const refined = await model.refine(training.x, training.y, run);
  const seconds = (performance.now() - began) / 1000;
  const basis = heldOut ? "held-out" : "training";
  const before = new Subject(plain);
  const after = new Subject({ ...plain, model: refined, whole: refined });
  const first = (await judge(before, data, rows, basis, run)) as Judged;
  const second = (await judge(after, data, rows, basis, run)) as Judged;
  const changes = changesOf(model, refined);
  const order = Array.from(changes.keys()).sort((a, b) => changes[b] - changes[a] || a - b);
  const { refinement } = refined.report;
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
