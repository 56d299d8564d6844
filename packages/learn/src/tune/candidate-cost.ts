/** What candidates cost, roughly and only to be compared with each other: where time is short, cheap ones are judged before dear ones. */

import type { Estimator, Model } from "@ranksim/core";
import { countFilters } from "@ranksim/core/internal";

type Params = { readonly [name: string]: unknown };

/** The first as it is, as it may be judged alone, then the others, cheapest first; equals in the order given. */
export function cheapFirst<T extends { readonly estimator: Estimator<never, Model> }>(
  trials: readonly T[],
  rows: number,
  features: number,
): T[] {
  const [first, ...others] = trials;
  const costs = new Map(others.map((trial) => [trial, costOf(trial.estimator.params, rows, features)]));
  return [first, ...others.sort((a, b) => (costs.get(a) as number) - (costs.get(b) as number))];
}

/** Multiply-adds for each of `rows` rows of so many features, through all steps that have filters. */
export function costOf(params: Params, rows: number, features: number): number {
  const steps = Object.keys(params)
    .filter((name) => /(^|\.)filters$/.test(name))
    .map((name) => name.slice(0, -"filters".length));
  let [cost, width] = [0, features];
  for (const step of steps) {
    const number = (name: string, usual: number) => numberOf(params[step + name], usual);
    if (`${step}patch` in params) {
      const layers = layersOf(params, step);
      const windows = (number("width", 1) * number("height", 1)) / (number("stride", 1) * number("stride", 1));
      for (const { patch, filters } of layers) cost += windows * patch * patch * number("channels", 1) * filters;
      width = layers.reduce((sum, { filters, grid }) => sum + filters * grid * grid, 0);
      continue;
    }
    const given = params[`${step}filters`];
    const filters =
      typeof given === "number"
        ? given
        : countFilters(rows, "auto", number("fastFilters", 0), number("maxFilters", rows));
    const epochs = params[`${step}refine`] === true ? number("refineEpochs", 1) : 0;
    cost += width * filters * (number("iterations", 1) + epochs);
  }
  return cost;
}

/** The layers of windows: parameters are numbers, or lists of one for each layer. */
function layersOf(params: Params, step: string): { patch: number; filters: number; grid: number }[] {
  const lists = ["patch", "filters", "grid"].map((name) => [params[step + name]].flat());
  const layers = Math.max(...lists.map((list) => list.length));
  const at = (list: readonly unknown[], j: number) => numberOf(list[Math.min(j, list.length - 1)], 1);
  return Array.from({ length: layers }, (_, j) => ({
    patch: at(lists[0], j),
    filters: at(lists[1], j),
    grid: at(lists[2], j),
  }));
}

const numberOf = (value: unknown, usual: number): number => (typeof value === "number" ? value : usual);
