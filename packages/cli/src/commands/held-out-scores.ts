/** `train --test-share`: some rows are held out, and the model is judged by them before anything is claimed. */

import type { Label, Model, Schema } from "@ranksim/core";
import { type AnySource, type DataSet, rowCount } from "@ranksim/data";
import type { Command } from "commander";
import type { ReadingOptions } from "../flags/reading-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import { type Baseline, baselinesOf, refuseSeveral, sourceBaselines } from "../model/baselines.ts";
import {
  addSplitFlags,
  addTestShare,
  holdOut,
  holdOutSource,
  type SplitFlags,
  splitColumn,
} from "../model/hold-out.ts";
import type { Interval } from "../model/intervals.ts";
import { JudgingTally, judge, predictAll } from "../model/judge.ts";
import { asPredicting } from "../model/parts.ts";
import { sourceBlocks } from "../model/source-rows.ts";
import type { ComputeOptions, Session } from "../session.ts";
import { counted, score } from "../terminal/numbers.ts";
import type { Style } from "../terminal/style.ts";
import { pairs } from "../terminal/table.ts";
import { intervalsIn } from "./evaluate.ts";
import { intervalText, showBaselines } from "./show-scores.ts";

/** The options as commander gives them. */
export interface HeldOutOptions extends SplitFlags {
  readonly testShare?: number;
  readonly baselines?: boolean;
  readonly seed?: unknown;
  readonly estimator?: unknown;
}

/** Scores on the rows that were held out. */
export interface HeldOut {
  readonly rows: number;
  readonly accuracy: number;
  readonly macroF1: number;
  readonly intervals?: { readonly accuracy: Interval; readonly macroF1: Interval };
  readonly baselines?: readonly Baseline[];
}

/** Adds --test-share, --group-column, --time-column and --baselines. */
export function addHeldOutFlags(command: Command): Command {
  return addSplitFlags(addTestShare(command)).option("--baselines", "with --test-share: compare with simple methods");
}

/** Refuses flags about rows held out where none are, or where they cannot be judged. */
export function checkHeldOutFlags({ testShare, groupColumn, timeColumn, baselines, estimator }: HeldOutOptions): void {
  if (testShare !== undefined) {
    if (estimator === "transform") throw usageError("--test-share: a transform has no classes to be judged by");
    return;
  }
  const stray = [
    [groupColumn, "--group-column"],
    [timeColumn, "--time-column"],
    [baselines, "--baselines"],
  ].find(([given]) => given !== undefined);
  if (stray) throw usageError(`${stray[1]} is about rows held out; add --test-share`);
}

/** The rows to train on; where --test-share asks for it, those held out, and which rows are trained on. */
export async function divided(
  what: readonly string[],
  set: DataSet,
  options: ReadingOptions & HeldOutOptions,
  session: Session,
): Promise<{ readonly train: DataSet; readonly test?: DataSet; readonly rows?: Uint32Array }> {
  if (options.testShare === undefined) return { train: set };
  if (options.baselines) refuseSeveral(set.y);
  const split = await splitColumn(what, options, session, rowCount(set));
  return holdOut(set, options.testShare, seedOf(options), split);
}

/** The same for rows that are read when they are needed. */
export async function dividedSource(
  what: readonly string[],
  data: AnySource,
  options: ReadingOptions & HeldOutOptions,
  session: Session,
): Promise<{ readonly train: AnySource; readonly test?: AnySource; readonly rows?: Uint32Array }> {
  if (options.testShare === undefined) return { train: data };
  if (options.baselines) refuseSeveral(data.y);
  const split = await splitColumn(what, options, session, data.x.rows);
  return holdOutSource(data, options.testShare, seedOf(options), split);
}

const seedOf = ({ seed }: HeldOutOptions): number => (typeof seed === "number" ? seed : 0);

/** Judges the model by the rows held out. */
export async function judgeHeldOut(
  model: Model,
  train: DataSet,
  test: DataSet,
  options: ComputeOptions & HeldOutOptions,
  session: Session,
): Promise<HeldOut> {
  return session.compute("judging", options, async (run) => {
    const answers = await predictAll(model, test, run);
    const { report } = judge(model, answers, test).judgement;
    const intervals = intervalsIn(answers, test);
    return {
      rows: answers.predicted.length,
      accuracy: report.accuracy,
      macroF1: report.macro.f1,
      ...(intervals ? { intervals } : {}),
      ...(options.baselines ? { baselines: await baselinesOf(model, train, test, run) } : {}),
    };
  });
}

/** Judges the model by rows held out that are read: as they come. */
export function judgeSource(
  model: Model,
  train: AnySource,
  test: AnySource,
  options: ComputeOptions & HeldOutOptions,
  session: Session,
): Promise<HeldOut> {
  return session.compute("judging", options, async ({ backend, signal, onShare }) => {
    const tally = new JudgingTally(model, asPredicting(model).classes);
    const quiet = { backend, ...(signal ? { signal } : {}) };
    for await (const block of sourceBlocks(test)) {
      const labels = (test.y as readonly Label[]).slice(tally.rows, tally.rows + rowCount(block));
      tally.add(await predictAll(model, block, quiet), labels);
      onShare(tally.rows / test.x.rows, "");
    }
    const { report } = tally.judged().judgement;
    const intervals = tally.intervals();
    return {
      rows: tally.rows,
      accuracy: report.accuracy,
      macroF1: report.macro.f1,
      ...(intervals ? { intervals } : {}),
      ...(options.baselines ? { baselines: await sourceBaselines(model, train, test, quiet) } : {}),
    };
  });
}

/** What of the scores is stored with the model. */
export const storedScores = ({ rows, accuracy, macroF1 }: HeldOut): NonNullable<Schema["heldOut"]> => ({
  rows,
  scores: { accuracy, macroF1 },
});

/** The scores for people. */
export function heldOutText(heldOut: HeldOut | undefined, style: Style): string {
  if (!heldOut) return "";
  const { rows, accuracy, macroF1, intervals, baselines } = heldOut;
  const within = (interval: Interval | undefined) => (interval ? style.faint(`  ${intervalText(interval)}`) : "");
  const scores = pairs(
    [
      ["judged by", `${counted(rows, "row")} held out of training`],
      ["accuracy", style.strong(score(accuracy)) + within(intervals?.accuracy)],
      ["macro F1", style.strong(score(macroF1)) + within(intervals?.macroF1)],
    ],
    style,
  );
  return `\n${scores}${baselines ? `\n${showBaselines(baselines, style)}` : ""}`;
}
