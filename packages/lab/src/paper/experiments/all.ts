/** Every table and figure, in the order of the page. */

import type { Experiment } from "../experiment.ts";
import { figure1abc, figure1d, figure1e } from "./figure-1.ts";
import { figure2ab } from "./figure-2ab.ts";
import { figure2cd } from "./figure-2cd.ts";
import { figure2e } from "./figure-2e.ts";
import { figure3ab } from "./figure-3ab.ts";
import { figure3c } from "./figure-3c.ts";
import { figure3d } from "./figure-3d.ts";
import { figure3e } from "./figure-3e.ts";
import { figure4 } from "./figure-4.ts";
import { figureS1 } from "./figure-s1.ts";
import { newsgroupsConfusion } from "./newsgroups-confusion.ts";
import { table1 } from "./table-1.ts";

export const EXPERIMENTS: readonly Experiment[] = [
  figure1abc,
  figure1d,
  figure1e,
  figure2ab,
  figure2cd,
  figure2e,
  figure3ab,
  figure3c,
  table1,
  figure3d,
  figure3e,
  newsgroupsConfusion,
  figure4,
  figureS1,
];

/** The experiments that names choose: exact panels ("figure-2a"), or beginnings of them ("figure-2"); all where none is given. */
export function chooseExperiments(names: readonly string[]): readonly Experiment[] {
  if (names.length === 0) return EXPERIMENTS;
  const unknown = names.filter((name) => !EXPERIMENTS.some((one) => fits(one, name)));
  if (unknown.length > 0) {
    const known = EXPERIMENTS.flatMap(({ panels }) => panels).join(", ");
    throw new Error(`no table or figure ${unknown.join(", ")}; there are ${known}`);
  }
  return EXPERIMENTS.filter((one) => names.some((name) => fits(one, name)));
}

function fits({ panels }: Experiment, name: string): boolean {
  return panels.some((panel) => panel.startsWith(name.toLowerCase()));
}
