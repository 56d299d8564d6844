/** Recipes that are made of recipes: their names, and their parameters as those of the whole, each under "step.parameter". */

import { RanksimError } from "../errors.ts";
import type { Estimator, Model } from "./estimator.ts";

/** A recipe, by itself (its kind is its name) or with a name. */
export type Step<E> = E | readonly [name: string, estimator: E];

/** What a recipe is made of. */
export interface NamedSteps {
  readonly names: readonly string[];
  readonly estimators: readonly Estimator<never>[];
  readonly params: { readonly [name: string]: unknown };
}

/** The steps with their names; refused where these are missing or cannot be told apart. */
export function namedSteps(kind: string, steps: readonly Step<Estimator<never>>[]): NamedSteps {
  if (steps.length === 0) throw new RanksimError("bad-params", `${kind}: expected at least 1 step, found none`);
  const named = steps.map((step) => (isNamed(step) ? step : ([step.kind, step] as const)));
  const names = named.map(([name]) => name);
  const wrong = wrongName(names);
  if (wrong) throw new RanksimError("bad-params", `${kind}: ${wrong}`);
  const params: { [name: string]: unknown } = {};
  for (const [name, estimator] of named) {
    for (const [param, value] of Object.entries(estimator.params)) params[`${name}.${param}`] = value;
  }
  return { names, estimators: named.map(([, estimator]) => estimator), params: Object.freeze(params) };
}

/** The steps with some of their parameters changed. */
export function changedSteps(
  kind: string,
  { names, estimators }: NamedSteps,
  changes: { readonly [name: string]: unknown },
): readonly (readonly [string, Estimator<never>])[] {
  const byStep = new Map<string, { [name: string]: unknown }>();
  for (const [path, value] of Object.entries(changes)) {
    const dot = path.indexOf(".");
    const name = path.slice(0, Math.max(dot, 0));
    if (!names.includes(name)) {
      throw new RanksimError(
        "bad-params",
        `${kind}: unknown parameter ${path}; expected "step.parameter" with a step among ${names.join(", ")}`,
      );
    }
    byStep.set(name, { ...byStep.get(name), [path.slice(dot + 1)]: value });
  }
  return names.map((name, j) => {
    const own = byStep.get(name);
    return [name, own ? estimators[j].with(own) : estimators[j]] as const;
  });
}

const isNamed = <M extends Model>(step: Step<Estimator<never, M>>): step is readonly [string, Estimator<never, M>] =>
  Array.isArray(step);

/** Why names of steps cannot be told apart in "step.parameter", if so. */
export function wrongName(names: readonly string[]): string | undefined {
  const dotted = names.find((name) => name === "" || name.includes("."));
  if (dotted !== undefined) return `expected names of steps without dots, found ${JSON.stringify(dotted)}`;
  const repeated = names.find((name, j) => names.indexOf(name) !== j);
  return repeated === undefined ? undefined : `expected different names of steps, found ${repeated} twice`;
}
