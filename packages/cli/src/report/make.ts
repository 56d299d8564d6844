/** @packageDocumentation A report from beginning to end: gathered, then drawn. Runs in Node and browsers. */

import type { Run } from "@ranksim/core";

export type { Judgement, Reliability, SetsJudged } from "@ranksim/learn";

import type { ReportContent } from "./content.ts";
import { gatherReport, type ReportSubject } from "./gather.ts";
import { reportPage } from "./page.ts";

export { knownNamer } from "../model/feature-names.ts";
export { greyOf, type PatchSheet, type Where, whereFound, wherePictures } from "../model/patch-view.ts";
export { type Picture, pictureOf } from "../pictures/picture.ts";
export { pngAddress } from "../pictures/png.ts";
export type { Provenance } from "../provenance.ts";
export { COLOURS, PLAYGROUND_COLOURS } from "./colours.ts";
export type {
  ClassFilters,
  Curve,
  Fact,
  FilterView,
  Look,
  RowView,
  StrongView,
  Tile,
} from "./content.ts";
export type { ReportContent, ReportSubject };

/** The page and what it says. */
export async function makeReport(
  subject: ReportSubject,
  run: Run,
): Promise<{ readonly page: string; readonly content: ReportContent }> {
  const content = await gatherReport(subject, run);
  return { page: reportPage(content), content };
}
