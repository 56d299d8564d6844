/** `/nearest`: the rows most like each of some, of those that the model keeps. */

import type { Matrix, MatrixLike, Run } from "@ranksim/core";
import { neighboursOf } from "../model/neighbours.ts";
import type { Asker } from "./batcher.ts";
import { badRequest, Gone } from "./http-error.ts";
import { joinRows, type Rows, sliceRows } from "./input.ts";
import type { ServedModel } from "./served-model.ts";

/** Rows that are searched between two looks at whether anyone still waits. */
const ROWS_AT_A_TIME = 64;

/** How to search. */
export interface HowNear {
  readonly probes?: number | undefined;
  readonly asker?: Asker;
}

/** For each row the k kept rows most like it, most alike first. */
export async function nearestRows(
  model: ServedModel,
  rows: Rows,
  k: number,
  { probes, asker }: HowNear,
): Promise<ReturnType<typeof neighboursOf>[]> {
  const { kept, backend } = model;
  if (!kept) throw badRequest(`model ${model.name} keeps no rows: make a model that does with ranksim keep-rows`);
  if ((rows.form === "text") !== model.takesText)
    throw badRequest(`model ${model.name}: expected ${model.takesText ? "texts" : "rows of numbers"}`);
  const run: Run = { backend };
  // Requests of tables are encoded already.
  const steps = kept.steps.slice(model.encoder ? 1 : 0);
  const all: ReturnType<typeof neighboursOf>[] = [];
  for (let from = 0; from < rows.rows; from += ROWS_AT_A_TIME) {
    if (asker?.isGone) throw new Gone();
    const part = sliceRows(rows, from, Math.min(rows.rows, from + ROWS_AT_A_TIME));
    let x: unknown = joinRows([part], model.features);
    for (const step of steps) x = await step.transform(x, run);
    const found = await kept.index.search(x as Matrix & MatrixLike, k, { ...run, ...(probes ? { probes } : {}) });
    const labelled = kept.withLabels(found);
    for (let r = 0; r < part.rows; r++) all.push(neighboursOf(labelled, r));
  }
  return all;
}
