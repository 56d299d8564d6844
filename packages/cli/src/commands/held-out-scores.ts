/** `train --test-share`: some rows are held out, and the model is judged by them before anything is claimed. */

import type { ClassScores, HeldOut, Interval } from "@ranksim/learn";
import { type Command, Option } from "commander";
import { called } from "../flags/parameters.ts";
import type { ReadingOptions } from "../flags/reading-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import { addTestShare } from "../model/hold-out.ts";
import type { HeldOutScores } from "../output-parts.ts";
import { counted, score } from "../terminal/numbers.ts";
import { cut, printable, type Style } from "../terminal/style.ts";
import { pairs } from "../terminal/table.ts";
import { intervalText, majorityText, showBaselines } from "./show-scores.ts";

/** The options as commander gives them. */
export interface HeldOutOptions extends Pick<ReadingOptions, "groupColumn" | "timeColumn" | "weightColumn"> {
  readonly testShare?: number;
  readonly baselines?: boolean;
  readonly seed?: unknown;
  readonly estimator?: unknown;
}

/** Adds --test-share and --baselines. */
export function addHeldOutFlags(command: Command): Command {
  return addTestShare(command).addOption(
    new Option("--baselines", "with --test-share: compare with simple methods").helpGroup("Judging:"),
  );
}

/** Refuses flags about rows held out where none are, or where they cannot be judged. */
export function checkHeldOutFlags({ testShare, groupColumn, timeColumn, baselines, estimator }: HeldOutOptions): void {
  if (testShare !== undefined) {
    if (estimator === "transform") throw usageError("--test-share: a transform has no classes to be judged by");
    return;
  }
  const stray = [
    [groupColumn, called("groupColumn")],
    [timeColumn, called("timeColumn")],
    [baselines, "--baselines"],
  ].find(([given]) => given !== undefined);
  if (stray) throw usageError(`${stray[1]} is about rows held out; add --test-share`);
}

/** The scores for programs. */
export function heldOutAsJson({ rows, judgement: { report, majority }, intervals, baselines }: HeldOut): HeldOutScores {
  return {
    rows,
    accuracy: report.accuracy,
    macroF1: report.macro.f1,
    ...(majority ? { majority, recall: report.classes.map(({ label, recall }) => ({ label, recall })) } : {}),
    ...(intervals ? { intervals } : {}),
    ...(baselines ? { baselines } : {}),
  };
}

/** Classes whose recall is told; `evaluate` has all. */
const MOST_CLASSES = 8;

/** How much of each class is found; of the worst ones where there are many. */
function recallText(classes: readonly ClassScores[]): string {
  const found = classes.filter(({ support }) => support > 0);
  const worst =
    found.length > MOST_CLASSES ? found.toSorted((a, b) => a.recall - b.recall).slice(0, MOST_CLASSES) : found;
  const list = worst.map(({ label, recall }) => `${cut(printable(String(label)), 20)} ${score(recall)}`).join(", ");
  return worst.length < found.length ? `lowest: ${list}` : list;
}

/** The scores for people. */
export function heldOutText(heldOut: HeldOut | undefined, style: Style): string {
  if (!heldOut) return "";
  const { rows, judgement, intervals, baselines } = heldOut;
  const { report } = judgement;
  const within = (interval: Interval | undefined) => (interval ? style.faint(`  ${intervalText(interval)}`) : "");
  const scores = pairs(
    [
      ["judged by", `${counted(rows, "row")} held out of training`],
      ["accuracy", style.strong(score(report.accuracy)) + within(intervals?.accuracy)],
      ["most frequent class", judgement.majority && majorityText(judgement.majority, String)],
      ["macro F1", style.strong(score(report.macro.f1)) + within(intervals?.macroF1)],
      ["recall", judgement.majority && recallText(report.classes)],
    ],
    style,
  );
  return `\n${scores}${baselines ? `\n${showBaselines(baselines, style)}` : ""}`;
}
