/** The report of a training, short for programs that want its result, whole for those that want every iteration of every class. */

import type { Report } from "@ranksim/core";

/** What --trace does, for the help. */
export const TRACE_ABOUT = "with --json: the report of every class and iteration";

/** The report without the training of each class. */
export function brief({ trainings, ...rest }: Report): object {
  return { ...rest, iterations: Math.max(0, ...trainings.map(({ steps }) => steps.length)) };
}
