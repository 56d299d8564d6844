/** `/explain`: why one row is given its class. */

import {
  type Contribution,
  type Label,
  LinearModel,
  type Matrix,
  type PredictingModel,
  type Run,
  type TransformingModel,
} from "@ranksim/core";
import { classesOf, decidingPart, type FilterModel, filterClasses, stepsOf } from "@ranksim/learn";
import { knownNamer } from "../model/feature-names.ts";
import { badRequest } from "./http-error.ts";
import { joinRows, type Rows } from "./input.ts";
import { nearestRows } from "./nearest.ts";
import type { ServedModel } from "./served-model.ts";

/** Filters and features named. */
const SHOWN = 10;

/** The filters that decided on the first row, the training rows they stand for, the features that set the strongest apart from its rival; of planes the classes and the features. */
export async function explainRow(model: ServedModel, rows: Rows, run: Run): Promise<object> {
  if (rows.rows !== 1) throw badRequest(`expected one row to explain, found ${rows.rows}`);
  const deciding = decidingPart(model.model);
  if (!deciding)
    throw badRequest(`model ${model.name}: a ${model.model.kind} has neither filters nor planes to explain by`);
  const given = joinRows([rows], model.features);
  let x: unknown = given;
  for (const step of stepsOf(deciding.model).slice(model.encoder ? 1 : 0, deciding.step)) {
    x = await (step as TransformingModel<unknown>).transform(x, run);
  }
  const { part, member } = deciding;
  const why = part instanceof LinearModel ? await explainPlanes(part, x, run) : await explainFilters(part, x, run);
  const nameOf = knownNamer(deciding, model.model);
  const { contributions, ...found } = why;
  const [neighbours] = model.kept ? await nearestRows(model, rows, SHOWN, {}) : [];
  // What the whole blend says, of which one model is explained.
  const [whole] = member ? await (model.behind as unknown as PredictingModel<unknown>).predict(given, run) : [];
  return {
    model: model.name,
    version: model.version,
    ...found,
    ...(neighbours ? { neighbours } : {}),
    ...(member ? { label: whole, explained: { ...member, label: found.label } } : {}),
    contributions: contributions.slice(0, SHOWN).map(({ feature, value, contribution }) => ({
      feature,
      ...(nameOf ? { name: nameOf(feature) } : {}),
      value,
      contribution,
    })),
  };
}

interface Why {
  readonly [name: string]: unknown;
  readonly contributions: readonly Contribution[];
}

async function explainPlanes(part: LinearModel, x: unknown, run: Run): Promise<Why> {
  const { label, classes, rivalLabel, contributions } = await part.explain(x as Matrix, 0, run);
  const rival = rivalLabel === undefined ? {} : { rival: { label: rivalLabel } };
  return { label, classes: classes.slice(0, SHOWN), ...rival, contributions };
}

async function explainFilters(part: FilterModel, x: unknown, run: Run): Promise<Why> {
  const why = await part.explain(x as Matrix, 0, run);
  const of = filterClasses(part);
  const classes = classesOf(part);
  const label = (filter: number): { label?: Label } => (of ? { label: classes[of[filter]] } : {});
  const found = {
    ...("label" in why ? { label: why.label } : {}),
    filters: why.filters.slice(0, SHOWN).map(({ filter, response, similarity, rows: made }) => ({
      filter,
      ...label(filter),
      response,
      similarity,
      trainingRows: Array.from(made.slice(0, SHOWN)),
    })),
    ...(why.rival === undefined ? {} : { rival: { filter: why.rival, ...label(why.rival) } }),
    contributions: why.contributions,
  };
  return found;
}
