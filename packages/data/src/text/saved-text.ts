/** What the stored vectorisers have in common: parameters and terms, read without trust. */

import { type ParameterInfo, RanksimError, type Saved } from "@ranksim/core";
import { checkTextParams } from "./params.ts";
import { badSaved, readVocabulary, type Vocabulary } from "./vocabulary.ts";

/** The parameters of a stored vectoriser, checked as those of a new one. */
export function readParams<P extends object>(saved: Saved, infos: readonly ParameterInfo[]): P {
  const { params } = saved.meta;
  if (typeof params !== "object" || params === null || Array.isArray(params)) {
    throw badSaved(saved, "expected its parameters as an object");
  }
  try {
    return checkTextParams<P>(params as Partial<P>, infos);
  } catch (cause) {
    if (cause instanceof RanksimError) throw badSaved(saved, cause.message, cause);
    throw cause;
  }
}

/** Parameters and terms; `extra` names the arrays that the kind of model adds. */
export function readTextModel<P extends object>(
  saved: Saved,
  infos: readonly ParameterInfo[],
  extra: readonly string[],
): { readonly params: P; readonly vocabulary: Vocabulary } {
  const allowed = new Set(["term_bytes", "term_offsets", ...extra]);
  for (const name of Object.keys(saved.arrays)) if (!allowed.has(name)) throw badSaved(saved, `unknown array ${name}`);
  return { params: readParams<P>(saved, infos), vocabulary: readVocabulary(saved) };
}
