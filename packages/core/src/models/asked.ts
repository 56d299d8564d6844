/** What every model that names classes can be asked besides: the most probable classes, only what is sure, and why. */

import { RanksimError } from "../errors.ts";
import type { Label } from "../matrix/labels.ts";
import type { MatrixLike } from "../matrix/matrix.ts";
import type { ClassModel, ClassParts } from "./class-model.ts";
import type { Explanation, Given, Model, PredictingModel, Ranked, Run, TransformingModel } from "./estimator.ts";
import { namesAfter } from "./feature-names.ts";
import type { LoadedModel } from "./loaded.ts";
import type { Schema } from "./schema.ts";

/** Probabilities of the rows, refused of models that have none. */
async function probabilitiesOf<X>(model: PredictingModel<X, Given>, x: X, run: Run) {
  const found = await model.predictProbabilities?.(x, run);
  if (!found) throw new RanksimError("unsupported", `a ${model.kind} model has no probabilities`);
  return found;
}

/** The answers of at least a probability: null in place of a class that is less probable, of several labels those that are as probable. */
export async function sureAnswers<X, Y extends Given>(
  model: PredictingModel<X, Y>,
  x: X,
  threshold: number,
  run: Run,
): Promise<(Y | null)[]> {
  if (!(threshold >= 0 && threshold <= 1)) {
    const found = String(threshold);
    throw new RanksimError("bad-params", { parameter: "threshold", expected: "a number from 0 to 1", found });
  }
  const { classes } = model;
  const given = await model.predict(x, run);
  const probabilities = await probabilitiesOf(model, x, run);
  const codes = new Map(classes.map((label, c) => [label, c]));
  return given.map((answer, r) => {
    const row = probabilities.row(r);
    if (Array.isArray(answer)) return classes.filter((_, c) => row[c] >= threshold) as Given as Y;
    return row[codes.get(answer as Label) as number] >= threshold ? answer : null;
  });
}

/** The `k` most probable classes of each row, equal ones in the order of `classes`. */
export async function topAnswers<X, L extends Label>(
  model: { readonly classes: readonly L[] } & PredictingModel<X, Given>,
  x: X,
  k: number,
  run: Run = {},
): Promise<Ranked<L>[][]> {
  if (!Number.isSafeInteger(k) || k < 1) {
    throw new RanksimError("bad-params", { parameter: "k", expected: "a whole number from 1", found: String(k) });
  }
  const { classes } = model;
  const probabilities = await probabilitiesOf(model, x, run);
  return Array.from({ length: probabilities.rows }, (_, r) => {
    const row = probabilities.row(r);
    const order = [...classes.keys()].sort((a, b) => row[b] - row[a] || a - b);
    return order.slice(0, k).map((c) => ({ label: classes[c], probability: row[c] }));
  });
}

/** Why one row of `x` is given what it is, with features by the names that the model's schema has for its columns. */
export async function explainAnswer(
  model: Model,
  schema: Schema | undefined,
  x: unknown,
  row: number,
  run: Run = {},
): Promise<Explanation<Given>> {
  return explained(
    model,
    rowOf(x, row),
    schema?.columns?.map(({ name }) => name),
    run,
  );
}

async function explained(
  model: Model,
  one: unknown,
  columns: readonly string[] | undefined,
  run: Run,
): Promise<Explanation<Given>> {
  const known = model as LoadedModel;
  if (known.kind === "conformal") return explained(known.model, one, columns, run);
  if (known.kind === "blend") {
    const { steps, names, weights } = known;
    const heaviest = weights.indexOf(Math.max(...weights));
    const found = await explained(steps[heaviest], one, columns, run);
    const [label] = await known.predict(one as MatrixLike, run);
    return { ...found, label, part: { name: names[heaviest], weight: weights[heaviest] } };
  }
  const steps: readonly Model[] = known.kind === "pipeline" ? known.steps : [known];
  const last = steps[steps.length - 1] as ClassModel<Label | Label[], ClassParts>;
  const before = steps.slice(0, -1) as readonly Model[] as readonly TransformingModel[];
  if (!("explain" in last && "features" in last)) {
    const { kind } = steps[steps.length - 1];
    throw new RanksimError("unsupported", `a ${kind} model has neither filters nor planes to explain by`);
  }
  let given = one as MatrixLike;
  for (const step of before) given = await step.transform(given, run);
  const found = await last.explain(given, 0, run);
  const names = namesAfter(before, columns, last.features);
  if (!names) return found;
  return { ...found, contributions: found.contributions.map((one) => ({ ...one, name: names.nameOf(one.feature) })) };
}

/** One row of rows, texts, a table or records; a record by itself is one. */
function rowOf(x: unknown, row: number): unknown {
  const { length, rows = length ?? 1, slice } = Object(x) as { length?: number; rows?: number; slice?: unknown };
  if (typeof x === "string" || !Number.isSafeInteger(row) || row < 0 || row >= rows) {
    const found = typeof x === "string" ? "a text by itself; pass [text]" : String(row);
    throw new RanksimError("bad-matrix", { parameter: "row", expected: `a row from 0 below ${rows}`, found });
  }
  return typeof slice === "function" ? slice.call(x, row, row + 1) : x;
}
