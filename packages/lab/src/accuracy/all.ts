/** All tables of accuracy, in the order of the pages. */

import type { AccuracyTable } from "./table.ts";
import { calibration } from "./tables/calibration.ts";
import { dataTables } from "./tables/data-tables.ts";
import { digitsFolds } from "./tables/digits-folds.ts";
import { fewRows } from "./tables/few-rows.ts";
import { imagePeers } from "./tables/image-peers.ts";
import { knots } from "./tables/knots.ts";
import { multilabel } from "./tables/multilabel.ts";
import { newsgroups } from "./tables/newsgroups.ts";
import { novelty } from "./tables/novelty.ts";
import { partialFit } from "./tables/partial-fit.ts";
import { presets } from "./tables/presets.ts";
import { refined } from "./tables/refined.ts";
import { tunedText } from "./tables/tuned-text.ts";
import { codes } from "./tables/vq/codes.ts";
import { maps, reduction } from "./tables/vq/maps.ts";
import { neighbours } from "./tables/vq/neighbours.ts";

export const TABLES: readonly AccuracyTable[] = [
  presets,
  imagePeers,
  refined,
  newsgroups,
  tunedText,
  calibration,
  multilabel,
  partialFit,
  novelty,
  digitsFolds,
  fewRows,
  dataTables,
  knots,
  neighbours,
  maps,
  reduction,
  codes,
];
