/** The stored parameters of a model, checked like those a user gives. */

import { checkParams, type ParameterInfo } from "../estimators/params.ts";
import type { Json, Saved } from "../model-file/saved.ts";
import { bad, readParams } from "../model-file/stored/filters.ts";

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
