/** What a measuring process of the paper does: the task of a point, on the fastest back end of one thread. */

import { type Backend, openBackend, RanksimError } from "@ranksim/core";
import type { Places } from "../runner/data.ts";
import type { Measured } from "../runner/results.ts";
import { cpuSoFar } from "../runner/stopwatch.ts";
import type { Spec } from "./spec.ts";
import { measureDistributions } from "./tasks/distributions.ts";
import { fitAndApply } from "./tasks/fit.ts";
import { measureLogLoss } from "./tasks/log-loss.ts";
import { findStrongest } from "./tasks/strongest-filters.ts";

/** A point as a process is given it. */
interface Job extends Places {
  readonly spec: Spec;
}

/** Measures a point; `cpu` are the processor seconds of the whole process. */
export async function measure(job: Job): Promise<Measured> {
  const backend = await oneThread();
  const found = await perform(job, backend);
  await backend.close();
  return { ...found, figures: { ...found.figures, cpu: cpuSoFar() }, facts: { ...found.facts, backend: backend.name } };
}

function perform({ spec, ...places }: Job, backend: Backend): Promise<Partial<Measured>> {
  switch (spec.task) {
    case "fit":
      return fitAndApply(places, spec, { backend });
    case "log-loss":
      return measureLogLoss(places, spec, { backend });
    case "distributions":
      return measureDistributions(places, spec, { backend });
    case "strongest-filters":
      return findStrongest(places, spec, { backend });
    default:
      throw new Error(`no task of Node: ${spec.task}`);
  }
}

async function oneThread(): Promise<Backend> {
  try {
    return await openBackend("wasm");
  } catch (error) {
    if (error instanceof RanksimError && error.code === "no-backend") return openBackend("reference");
    throw error;
  }
}
