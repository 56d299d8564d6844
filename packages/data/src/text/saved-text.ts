/** What the stored vectorisers have in common: parameters and terms, read without trust. */

import { type ParameterInfo, RanksimError, type Saved } from "@ranksim/core";
import { type AnalyzerParams, checkTextParams } from "./params.ts";
import { tokenizerOf } from "./token-pattern.ts";
import { badSaved, readVocabulary, type Vocabulary } from "./vocabulary.ts";

/** The parameters of a stored vectoriser, checked as those of a new one. */
export function readParams<P extends AnalyzerParams>(saved: Saved, infos: readonly ParameterInfo[]): P {
  const { params } = saved.meta;
  if (typeof params !== "object" || params === null || Array.isArray(params)) {
    throw badSaved(saved, "expected its parameters as an object");
  }
  const checked = refusing(saved, "", () => checkTextParams<P>(params as Partial<P>, infos));
  const cure = "; ranksim 0.2 took other patterns as well: train the model again with one of this form";
  refusing(saved, cure, () => tokenizerOf(checked.tokenPattern));
  return checked;
}

/** What `read` answers; what it refuses is said of the stored model. */
function refusing<T>(saved: Saved, cure: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof RanksimError) throw badSaved(saved, cause.message + cure, cause);
    throw cause;
  }
}

/** Parameters and terms. */
export function readTextModel<P extends AnalyzerParams>(
  saved: Saved,
  infos: readonly ParameterInfo[],
): { readonly params: P; readonly vocabulary: Vocabulary } {
  return { params: readParams<P>(saved, infos), vocabulary: readVocabulary(saved) };
}
