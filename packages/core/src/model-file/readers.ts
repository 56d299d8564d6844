/** The kinds of models a file can hold without further help, in one list. A new kind adds its reader here. */

import { classifierReader } from "../estimators/classifier-model.ts";
import type { ModelReader } from "../estimators/estimator.ts";
import { patchReader } from "../estimators/patches.ts";
import { probabilisticReader } from "../estimators/probabilistic-model.ts";
import { transformReader } from "../estimators/transform.ts";
import { conformalReader } from "../tools/conformal.ts";
import { linearSvmReader } from "../tools/linear-svm.ts";
import { pipelineReader } from "../tools/pipeline.ts";
import { scalerReaders } from "../tools/scalers.ts";

export const builtInReaders: readonly ModelReader[] = [
  transformReader,
  classifierReader,
  probabilisticReader,
  patchReader,
  pipelineReader,
  conformalReader,
  linearSvmReader,
  ...scalerReaders,
];
