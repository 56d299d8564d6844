/** All experiments beyond the paper, in the order of the page. */

import type { Experiment } from "../experiment.ts";
import { partialFit } from "./partial-fit.ts";
import { tunedText } from "./tuned-text.ts";

export const experiments: readonly Experiment[] = [tunedText, partialFit];
