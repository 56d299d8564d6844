/** All experiments beyond the paper, in the order of the page. */

import type { Experiment } from "../experiment.ts";
import { calibrations } from "./calibration.ts";
import { fewRows } from "./few-rows.ts";
import { imageFolder } from "./image-folder.ts";
import { imagePeers } from "./image-peers.ts";
import { multilabel } from "./multilabel.ts";
import { newsgroups } from "./newsgroups.ts";
import { novelty } from "./novelty.ts";
import { partialFit } from "./partial-fit.ts";
import { recipeDigits } from "./recipe-digits.ts";
import { recipes } from "./recipes.ts";
import { refinedExperiments } from "./refined.ts";
import { tunedText } from "./tuned-text.ts";

export const experiments: readonly Experiment[] = [
  ...refinedExperiments,
  newsgroups,
  tunedText,
  ...calibrations,
  multilabel,
  partialFit,
  novelty,
  recipeDigits,
  fewRows,
  ...recipes,
  imagePeers,
  imageFolder,
];
