/** The stored parameters of a model, checked like those a user gives. */

import type { Json, Saved } from "../estimators/estimator.ts";
import { checkParams, type ParameterInfo } from "../estimators/params.ts";
import { bad, readParams } from "../estimators/saved-filters.ts";

/** Parameters out of stored data; refuses (code "bad-file") what the recipe would refuse. */
export function storedParams(saved: Saved, infos: readonly ParameterInfo[]): { readonly [name: string]: Json } {
  const params = readParams(saved);
  try {
    checkParams(params, infos);
  } catch (cause) {
    throw bad(saved, (cause as Error).message);
  }
  return params;
}
