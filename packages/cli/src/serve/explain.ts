/** `/explain`: why one row is given its class. */

import type { Label, Matrix, Run, TransformingModel } from "@ranksim/core";
import { classesOf, filterClasses, filterPart, stepsOf, vocabularyOf } from "../model/parts.ts";
import { badRequest } from "./http-error.ts";
import { joinRows, type Rows } from "./input.ts";
import type { ServedModel } from "./served-model.ts";

/** Filters and features named. */
const SHOWN = 10;

/** The filters that decided on the first row, the training rows they stand for, the features that set the strongest apart from its rival. */
export async function explainRow(model: ServedModel, rows: Rows, run: Run): Promise<object> {
  if (rows.rows !== 1) throw badRequest(`expected one row to explain, found ${rows.rows}`);
  const found = filterPart(model.behind);
  if (!found) throw badRequest(`model ${model.name}: a ${model.model.kind} has no filters to explain by`);
  let x: unknown = joinRows([rows], model.features);
  for (const step of stepsOf(model.behind).slice(0, found.step)) {
    x = await (step as TransformingModel<unknown>).transform(x, run);
  }
  const { part } = found;
  const why = await part.explain(x as Matrix, 0, run);
  const of = filterClasses(part);
  const classes = classesOf(part);
  const label = (filter: number): { label?: Label } => (of ? { label: classes[of[filter]] } : {});
  const names =
    model.encoder?.featureNames ?? vocabularyOf(model.model) ?? model.schema?.columns?.map(({ name }) => name);
  const nameOf = names?.length === part.features ? (feature: number) => ({ name: names[feature] }) : () => ({});
  return {
    model: model.name,
    version: model.version,
    ...("label" in why ? { label: why.label } : {}),
    filters: why.filters.slice(0, SHOWN).map(({ filter, response, similarity, rows: made }) => ({
      filter,
      ...label(filter),
      response,
      similarity,
      trainingRows: Array.from(made.slice(0, SHOWN)),
    })),
    ...(why.rival === undefined ? {} : { rival: { filter: why.rival, ...label(why.rival) } }),
    contributions: why.contributions
      .slice(0, SHOWN)
      .map(({ feature, value, contribution }) => ({ feature, ...nameOf(feature), value, contribution })),
  };
}
