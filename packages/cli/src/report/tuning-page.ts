/** The page of `ranksim tune`: the choice, the trade-off as a plot, all candidates, and the rounds they went through. */

import { brief, bytes, count, counted, score, seconds } from "../terminal/numbers.ts";
import { svgOf } from "./charts.ts";
import { headline, htmlPage, section } from "./frame.ts";
import { escaped } from "./markup.ts";
import { tradeOffChart } from "./trade-off.ts";
import { type CandidateView, shownParam, type TuningView } from "./tuning-content.ts";

/** The page. */
export function tuningPage(view: TuningView): string {
  const sections = [summary(view), plot(view), table(view), ...beside(view), rounds(view)];
  const subtitle = `${counted(view.candidates.length, "candidate")} judged by ${view.scoring}, ${counted(view.folds, "fold")}`;
  return htmlPage(`Tuning on ${view.data}`, subtitle, sections, "Made by ranksim.");
}

function summary(view: TuningView): string {
  const [best] = view.candidates;
  const judged = best.judged as NonNullable<CandidateView["judged"]>;
  const cut = view.candidates.filter(({ outcome }) => outcome === "cut").length;
  const notes = [
    ...(view.complete
      ? []
      : [
          `The time was up before ${counted(cut, "candidate")} could be judged on more rows. More time may find a better one.`,
        ]),
    ...(best.outcome === "finished" ? [] : [`The best was judged on ${count(judged.rows)} rows, not on all.`]),
  ];
  return headline({
    headline: [
      { name: view.scoring, value: score(judged.score), about: `± ${score(judged.standardDeviation)} between folds` },
      { name: "cost of a row", value: brief(judged.multiplyAdds), about: "multiply-adds" },
      { name: "1,000 rows", value: seconds(judged.secondsPerThousand), about: "measured here" },
      { name: "size", value: bytes(judged.bytes) },
      { name: "time", value: roughly(view.seconds), about: "of the whole search" },
    ],
    notes: [`Best: ${best.title}.`, ...notes],
  });
}

/** Whole minutes where there are some: a tile has room for few letters. */
const roughly = (time: number): string => (time < 90 ? seconds(time) : `${count(time / 60)} min`);

function plot(view: TuningView): string {
  return section(
    "Trade-off",
    "Higher is better, further left is faster, smaller is lighter. Nothing on the line is beaten in all three by another candidate.",
    `<div class="chart">${svgOf(tradeOffChart(view))}</div>`,
  );
}

const OUTCOMES = { finished: "all rows", dropped: "dropped", cut: "cut", failed: "failed" } as const;

function table(view: TuningView): string {
  const names = Object.keys(view.candidates[0].params);
  const head = ["", ...names, view.scoring, "±", "multiply-adds", "1,000 rows", "size", "judged on", ""];
  const lines = view.candidates.map((candidate) => {
    const { place, params, judged, onFront, outcome, reason } = candidate;
    const cells = [
      ...names.map((name) => escaped(shownParam(params[name]))),
      judged ? score(judged.score) : "",
      judged ? score(judged.standardDeviation) : "",
      judged ? brief(judged.multiplyAdds) : "",
      judged ? seconds(judged.secondsPerThousand) : "",
      judged ? bytes(judged.bytes) : "",
      judged ? counted(judged.rows, "row") : "",
      onFront
        ? '<span class="activation">front</span>'
        : escaped(reason ?? (outcome === "finished" ? "" : OUTCOMES[outcome])),
    ];
    return `<tr><th scope="row">${place}</th>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  });
  return section(
    "Candidates",
    "Those that came furthest first, then by score. Multiply-adds are those of a search that skips nothing; the searches that run skip most and give the same answer.",
    `<div class="scroll candidates"><table><thead><tr>${head.map((text) => `<th scope="col">${escaped(text)}</th>`).join("")}</tr></thead><tbody>${lines.join("")}</tbody></table></div>`,
  );
}

function beside({ baselines }: TuningView): string[] {
  if (!baselines) return [];
  const lines = baselines.map(
    ({ name, accuracy, interval, macroF1, rows }) =>
      `<tr><th scope="row">${escaped(name)}</th><td>${score(accuracy)}</td><td>${score(interval[0])} to ${score(interval[1])}</td><td>${score(macroF1)}</td><td>${count(rows[0])}, ${count(rows[1])} rows</td></tr>`,
  );
  const head = ["", "accuracy", "95 %", "macro F1", "trained on, judged by"];
  return [
    section(
      "Simple methods",
      "What they reach in the same folds, on the numbers that filters are given.",
      `<table><thead><tr>${head.map((text) => `<th scope="col">${text}</th>`).join("")}</tr></thead><tbody>${lines.join("")}</tbody></table>`,
    ),
  ];
}

function rounds(view: TuningView): string {
  const lines = view.rounds.map(
    ({ rows, candidates, judged }, r) =>
      `<tr><th scope="row">${r + 1}</th><td>${count(rows)}</td><td>${count(candidates)}</td><td>${count(judged)}</td></tr>`,
  );
  return section(
    "Rounds",
    "After each round the better third goes on to more rows, together with every candidate that nothing cheaper equals.",
    `<table><thead><tr><th scope="col">round</th><th scope="col">rows</th><th scope="col">candidates</th><th scope="col">judged</th></tr></thead><tbody>${lines.join("")}</tbody></table>`,
  );
}
