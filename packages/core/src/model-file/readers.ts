/** The kinds of models a file can hold without further help, in one list. A new kind adds its reader here. */

import type { ModelReader } from "../estimators/estimator.ts";

export const builtInReaders: readonly ModelReader[] = [];
