/** Scores for people: tables on a terminal, and the same as plain values for programs. */

import type { Label } from "@ranksim/core";
import type {
  Baseline,
  ClassScores,
  ConfusionMatrix,
  Interval,
  Judgement,
  Reliability,
  SetsJudged,
} from "@ranksim/learn";
import type { ResultOf } from "../output.ts";
import type { Session } from "../session.ts";
import { count, score } from "../terminal/numbers.ts";
import { cut, printable, type Style } from "../terminal/style.ts";
import { pairs, table } from "../terminal/table.ts";

/** Classes beyond this many are cut from the tables; programs get all. */
const SHOWN_CLASSES = 60;
/** A matrix of more classes does not fit a terminal: the most frequent mistakes are listed instead. */
const MATRIX_CLASSES = 20;
const LISTED_MISTAKES = 10;
const HEAD = "true \\ predicted";

/** The scores as text. */
export function showScores(
  judgement: Judgement,
  rows: number,
  nameOf: (label: Label) => string,
  { style, io }: Session,
  intervals?: { readonly accuracy: Interval; readonly macroF1: Interval },
): string {
  const within = (interval: Interval | undefined) => (interval ? style.faint(`  ${intervalText(interval)}`) : "");
  const { report, confusion } = judgement;
  const parts = [
    pairs(
      [
        ["rows", count(rows)],
        [confusion ? "accuracy" : "exact match", style.strong(score(report.accuracy)) + within(intervals?.accuracy)],
        ["most frequent class", judgement.majority && majorityText(judgement.majority, nameOf)],
        ["macro F1", style.strong(score(report.macro.f1)) + within(intervals?.macroF1)],
        ["weighted F1", score(report.weighted.f1)],
        ["micro F1", confusion ? undefined : score(report.micro.f1)],
        ["balanced accuracy", judgement.balancedAccuracy === undefined ? undefined : score(judgement.balancedAccuracy)],
        ["log loss", judgement.logLoss === undefined ? undefined : score(judgement.logLoss)],
        ["calibration error", judgement.reliability && calibration(judgement.reliability)],
        [`sets of ${judgement.sets?.coverage}`, judgement.sets && setsText(judgement.sets)],
        ["Hamming loss", judgement.hammingLoss === undefined ? undefined : score(judgement.hammingLoss)],
      ],
      style,
    ),
    classTable(report.classes, nameOf, style),
  ];
  if (confusion) parts.push(matrix(confusion, nameOf, style, io.stdout.columns));
  return parts.join("\n");
}

/** What always answering the most frequent class would reach. */
export const majorityText = (
  { label, accuracy }: NonNullable<Judgement["majority"]>,
  nameOf: (label: Label) => string,
): string => `${score(accuracy)}  always ${cut(printable(nameOf(label)), 40)}`;

/** The coverage that sets of classes guarantee, and what it is on these rows. */
const setsText = ({ held, meanSize }: SetsJudged): string =>
  `hold the class of ${score(held)} of the rows, with ${meanSize.toFixed(2)} classes on average`;

/** In 95 of 100 cases the score on other rows of the kind lies in between. */
export const intervalText = ([low, high]: Interval): string => `95 %: ${score(low)} to ${score(high)}`;

/** What simple methods reach, as a table. */
export function showBaselines(found: readonly Baseline[], style: Style): string {
  const right = { align: "right" } as const;
  return table(
    [
      { head: "for comparison" },
      { head: "accuracy", ...right },
      { head: "95 %", ...right },
      { head: "macro F1", ...right },
      { head: "trained on, judged by" },
    ],
    found.map(({ name, accuracy, interval, macroF1, rows }) => [
      name,
      score(accuracy),
      style.faint(`${score(interval[0])} to ${score(interval[1])}`),
      score(macroF1),
      `${count(rows[0])}, ${count(rows[1])} rows`,
    ]),
    style,
  );
}

/** The error, and what it was before probabilities were fitted. */
function calibration({ calibrationError, before }: Reliability): string {
  if (!before) return score(calibrationError);
  const loss = before.logLoss === undefined ? "" : `, log loss ${score(before.logLoss)}`;
  return `${score(calibrationError)} (before fitting: ${score(before.calibrationError)}${loss})`;
}

/** The scores as values. */
export function scoresAsJson(judgement: Judgement, rows: number): ResultOf<"evaluate"> {
  const { report, confusion, ...rest } = judgement;
  const { accuracy, classes, macro, micro, weighted } = report;
  const c = confusion?.classes.length ?? 0;
  return {
    rows,
    accuracy,
    ...rest,
    macro,
    micro,
    weighted,
    classes,
    ...(confusion
      ? {
          confusion: {
            classes: confusion.classes,
            counts: confusion.classes.map((_, t) => Array.from(confusion.counts.subarray(t * c, (t + 1) * c))),
          },
        }
      : {}),
  };
}

function classTable(classes: readonly ClassScores[], nameOf: (label: Label) => string, style: Style): string {
  const shown = classes.slice(0, SHOWN_CLASSES);
  const right = { align: "right" } as const;
  const text = table(
    [
      { head: "class" },
      { head: "precision", ...right },
      { head: "recall", ...right },
      { head: "F1", ...right },
      { head: "rows", ...right },
    ],
    shown.map((row) => [
      cut(printable(nameOf(row.label)), 40),
      score(row.precision),
      score(row.recall),
      score(row.f1),
      count(row.support),
    ]),
    style,
  );
  return shown.length === classes.length ? text : `${text}… ${count(classes.length - shown.length)} more with --json\n`;
}

function matrix(confusion: ConfusionMatrix, nameOf: (label: Label) => string, style: Style, columns: number): string {
  const { classes, counts } = confusion;
  const c = classes.length;
  const names = classes.map((label) => printable(nameOf(label)));
  const room = Math.floor((columns - HEAD.length) / c) - 2;
  const widest = Math.max(...counts).toLocaleString("en-US").length;
  if (c > MATRIX_CLASSES || room < widest) return mistakes(confusion, nameOf, style);
  const head = [
    { head: HEAD },
    ...classes.map((label) => ({
      head: cut(printable(String(label)), Math.max(room, widest)),
      align: "right" as const,
    })),
  ];
  const lines = names.map((name, t) => [
    cut(name, HEAD.length),
    ...names.map((_, p) => {
      const found = counts[t * c + p];
      const text = count(found);
      return found === 0 ? style.faint("·") : t === p ? style.good(text) : text;
    }),
  ]);
  return table(head, lines, style);
}

function mistakes({ classes, counts }: ConfusionMatrix, nameOf: (label: Label) => string, style: Style): string {
  const c = classes.length;
  const found = Array.from(counts, (rows, at) => ({ truth: Math.floor(at / c), guess: at % c, rows }))
    .filter(({ truth, guess, rows }) => truth !== guess && rows > 0)
    .sort((a, b) => b.rows - a.rows || a.truth - b.truth || a.guess - b.guess);
  if (found.length === 0) return "no mistakes\n";
  return table(
    [{ head: "most frequent mistakes" }, { head: "taken for" }, { head: "rows", align: "right" }],
    found
      .slice(0, LISTED_MISTAKES)
      .map(({ truth, guess, rows }) => [
        cut(printable(nameOf(classes[truth])), 40),
        cut(printable(nameOf(classes[guess])), 40),
        count(rows),
      ]),
    style,
  );
}
