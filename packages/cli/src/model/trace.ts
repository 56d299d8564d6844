/** The report of a training, short for programs that want its result; `inspect` has that of every class and iteration. */

import type { Report } from "@ranksim/core";

/** The report without the training of each class. */
export function brief({ trainings, ...rest }: Report): Omit<Report, "trainings"> & { readonly iterations: number } {
  return { ...rest, iterations: Math.max(0, ...trainings.map(({ steps }) => steps.length)) };
}
