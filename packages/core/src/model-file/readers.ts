/** The kinds of models a file can hold without further help, in one list. A new kind adds its reader here. */

import { blendReader } from "../models/blend.ts";
import { classifierReader } from "../models/classifier-model.ts";
import { conformalReader } from "../models/conformal.ts";
import type { ModelReader } from "../models/estimator.ts";
import { linearReader, linearSvmReader } from "../models/linear-model.ts";
import { pairReader } from "../models/pairs.ts";
import { patchReader } from "../models/patches.ts";
import { pipelineReader } from "../models/pipeline.ts";
import { probabilisticReader } from "../models/probabilistic-model.ts";
import { rowScalerReader } from "../models/row-scaler.ts";
import { scalerReaders } from "../models/scalers.ts";
import { transformReader } from "../models/transform.ts";
import { unionReader } from "../models/union.ts";

export const builtInReaders: readonly ModelReader[] = [
  transformReader,
  classifierReader,
  probabilisticReader,
  patchReader,
  pipelineReader,
  conformalReader,
  linearReader,
  unionReader,
  pairReader,
  blendReader,
  linearSvmReader,
  rowScalerReader,
  ...scalerReaders,
];
