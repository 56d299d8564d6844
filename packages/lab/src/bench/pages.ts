/** The results as Markdown: a short table for the front page, one for each piece of work for the lab's. */

import { withPart } from "../runner/page.ts";
import type { Figure, Results, Row } from "../runner/results.ts";
import { megabytes, number, spread, table } from "../runner/show.ts";
import { AUTHORS, ONE_CORE, WORKS } from "./rows.ts";

export const TABLE = "bench";

/** Titles of figures, and how they are shown. */
const COLUMNS: { readonly [figure: string]: readonly [title: string, show?: (value: number) => string] } = {
  read: ["read, s"],
  readClock: ["read on the clock, s"],
  fit: ["fit, s"],
  fitClock: ["fit on the clock, s"],
  predict: ["predict, s"],
  probabilities: ["probabilities, s"],
  transform: ["transform, s"],
  first: ["from the first line of the program, s"],
  born: ["from the birth of the process, s"],
  commandClock: ["command on the clock, s"],
  requests: ["requests a second"],
  request: ["processor time of a request, s"],
  calm: ["99 % of answers within, before, s"],
  later: ["after, s"],
  memory: ["memory before, MB", megabytes],
  memoryLater: ["after, MB", megabytes],
  overload: ["overload, s"],
  refused: ["refused in it", String],
  cpu: ["processor time, s"],
  macroF1: ["macro F1", (value) => value.toFixed(4)],
  peakFit: ["peak in fit, MB", megabytes],
  peak: ["peak, MB", megabytes],
};

/** Figures of the front page: what is added up, and of which work. */
const FRONT: readonly (readonly [title: string, work: string, figure: string])[] = [
  ["classifier, fit 60,000 images", "classifier", "fit"],
  ["classifier, predict 10,000", "classifier", "predict"],
  ["probabilistic classifier, fit 60,000", "probabilistic", "fit"],
  ["probabilistic classifier, predict 10,000", "probabilistic", "predict"],
  ["transform 10,000", "transform", "transform"],
  ["classifier, 101,631 words: fit 11,314 posts", "newsgroups", "fit"],
  ["classifier, 101,631 words: predict 7,532", "newsgroups", "predict"],
];

/** Whether the front page shows figures of this row. */
export const isOnFrontPage = (work: string, system: string): boolean =>
  (system === ONE_CORE || system === AUTHORS) && FRONT.some(([, shown]) => shown === work);

const workOf = ({ spec }: Row): string => (spec as { readonly work: string }).work;

/** Both pages with their tables made from results, by their paths from the lab. */
export const PAGES: { readonly [path: string]: (text: string, results: Results) => string } = {
  "../../README.md": (text, results) => withPart(text, "bench", frontPage(results)),
  "README.md": (text, results) => withPart(text, "bench", allTables(results)),
};

/** This project beside the authors' package, on one core. */
export function frontPage(results: Results): string {
  const rows = results.rows(TABLE);
  const of = (work: string, system: string) => rows.find((row) => workOf(row) === work && row.name === system);
  const shown = rows.filter((row) => isOnFrontPage(workOf(row), row.name));
  const lines = FRONT.map(([title, work, figure]) => {
    const [theirs, ours] = [of(work, AUTHORS)?.figures[figure], of(work, ONE_CORE)?.figures[figure]];
    return [title, spread(theirs), spread(ours), ratio(theirs, ours)];
  });
  const commits = [...new Set(shown.map(({ commit }) => commit))].join(", ");
  return [
    `Processor seconds on one core, median (range) of runs taken in turns, at commit ${commits}; ${results.machine(TABLE)}. [All tables](packages/lab/README.md).`,
    table(["work", AUTHORS, "ranksim", "ratio"], lines),
  ].join("\n\n");
}

/** A table for each piece of work. */
export function allTables(results: Results): string {
  const rows = results.rows(TABLE);
  const tables = Object.entries(WORKS).flatMap(([work, title]) => {
    const own = rows.filter((row) => workOf(row) === work);
    return own.length === 0 ? [] : [`### ${title}`, workTable(own)];
  });
  return [`Measured on ${results.machine(TABLE)}.`, ...tables].join("\n\n");
}

function workTable(rows: readonly Row[]): string {
  const cells = ({ figures }: Row) =>
    Object.entries(COLUMNS).map(([figure, [, show = number]]) => spread(figures[figure], show));
  return table(
    ["system", ...Object.values(COLUMNS).map(([title]) => title), "failed", "runs", "commit"],
    rows.map((row) => [row.name, ...cells(row), row.failure ?? "–", String(row.runs), row.commit]),
  );
}

function ratio(theirs: Figure | undefined, ours: Figure | undefined): string {
  if (theirs === undefined || ours === undefined) return "–";
  const [a, b] = [theirs, ours].map((figure) => (typeof figure === "number" ? figure : figure[0]));
  return `${number(a / b)}×`;
}
