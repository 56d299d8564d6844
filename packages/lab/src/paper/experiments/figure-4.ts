/** Figure 4: RSPC on RCV1, where a story has several topics: against training rows, and beside other classifiers. */

import * as Observable from "@observablehq/plot";
import { rowsFor } from "../../runner/data.ts";
import { table } from "../../runner/show.ts";
import { chart, type NamedPoint } from "../drawing/chart.ts";
import { COLORS, LINES, sheet } from "../drawing/plot.ts";
import { meanAndDeviation, pointOf, showSeconds, summarize } from "../drawing/spread.ts";
import { type Experiment, judge } from "../experiment.ts";
import type { Measured, Params, Point } from "../spec.ts";
import { ours, peer, seedsFor, some } from "./plan.ts";
import { secondsOf } from "./score-and-time.ts";

/** Training on one of this many parts. */
const PARTS = [14, 7, 4, 2, 1];

const PEERS: readonly {
  readonly name: string;
  readonly system: string;
  readonly params: Params;
  readonly late?: boolean;
}[] = [
  { name: "chance", system: "DummyClassifier", params: { strategy: "stratified", random_state: 0 } },
  { name: "MultinomialNB", system: "MultinomialNB", params: { alpha: 0.01 } },
  { name: "LinearSVC", system: "LinearSVC", params: { C: 1, random_state: 0 } },
  { name: "SGD", system: "SGDClassifier", params: { loss: "hinge", random_state: 0 } },
  { name: "KNN", system: "KNeighborsClassifier", params: { n_neighbors: 5, algorithm: "brute" } },
  { name: "DecisionTree", system: "DecisionTreeClassifier", params: { random_state: 0 }, late: true },
];

function rspcPoints(quick: boolean, parts: number): readonly Point[] {
  return seedsFor(quick).map((seed) => {
    const rows = rowsFor(quick, "rcv1", parts === 1 ? { seed: 0 } : { trainParts: parts, seed });
    return ours(`RSPC, 1/${parts} of the rows, seed ${seed}`, "rcv1", rows, "rspc", { seed });
  });
}

/** Nearly a filter for each row: filters that mix few stories keep their rarer topics. */
const MANY_FILTERS = 14_000;

function manyFilters(quick: boolean): readonly Point[] {
  const rows = rowsFor(quick, "rcv1", { seed: 0 });
  return seedsFor(quick).map((seed) =>
    ours(`RSPC, ${MANY_FILTERS} filters, seed ${seed}`, "rcv1", rows, "rspc", {
      filters: quick ? 350 : MANY_FILTERS,
      seed,
    }),
  );
}

function peerPoints(quick: boolean): readonly { readonly name: string; readonly point: Point }[] {
  const rows = rowsFor(quick, "rcv1", { seed: 0 });
  const peers = quick ? PEERS.filter(({ name }) => ["chance", "LinearSVC", "KNN"].includes(name)) : PEERS;
  return peers.map(({ name, system, params, late }) => ({
    name,
    point: peer(name, "rcv1", rows, system, params, late ? { late } : {}),
  }));
}

export const figure4: Experiment = {
  panels: ["figure-4a", "figure-4b", "figure-4c"],
  title: "Figure 4: RSPC on RCV1, several topics a story",
  points: (quick) => [
    ...some(quick, PARTS).flatMap((parts) => rspcPoints(quick, parts)),
    ...manyFilters(quick),
    ...peerPoints(quick).map(({ point }) => point),
  ],
  section: ({ find, quick, source }) => {
    const parts = some(quick, PARTS);
    const measured = parts.map((part) => rspcPoints(quick, part).map(find));
    const sizes = parts.map((part, j) => {
      const rows = measured[j].find((run) => run)?.facts?.trainRows;
      return typeof rows === "number" ? rows : Math.round((source("rcv1")?.trainRows ?? 0) / part);
    });
    const pick = (value: (run: (typeof measured)[number][number]) => number | undefined) =>
      sizes.flatMap((x, j) => pointOf(x, measured[j].map(value)));
    const x = { label: "training rows", log: true, ticks: [1000, 2000, 5000, 10_000, 14_000] };
    const scatter = sizes.flatMap((_, j) => {
      const [time, f1] = [summarize(measured[j].map(secondsOf)), summarize(measured[j].map((run) => run?.macroF1))];
      return time && f1 ? [{ x: time.mean, y: f1.mean }] : [];
    });
    const together = (runs: readonly (Measured | undefined)[]) => ({
      f1: summarize(runs.map((run) => run?.macroF1)),
      micro: summarize(runs.map((run) => run?.microF1)),
      seconds: summarize(runs.map(secondsOf)),
      train: summarize(runs.map((run) => run?.seconds?.train)),
      apply: summarize(runs.map((run) => run?.seconds?.apply)),
    });
    const rspc = together(measured[measured.length - 1]);
    const many = together(manyFilters(quick).map(find));
    const peers = peerPoints(quick).flatMap(({ name, point }) => {
      const run = find(point);
      const seconds = secondsOf(run);
      return run?.macroF1 !== undefined && seconds !== undefined ? [{ name, run, f1: run.macroF1, seconds }] : [];
    });
    const chance = peers.find(({ name }) => name === "chance");
    const rivals = peers.filter(({ name }) => name !== "chance");
    const own = (name: string, { f1, seconds }: typeof rspc): NamedPoint[] =>
      f1 && seconds
        ? [{ x: seconds.mean, y: f1.mean, name, color: COLORS.blue, sign: "diamond", size: 6, bold: true }]
        : [];
    const named: NamedPoint[] = [
      ...own("RSPC", rspc),
      ...own("RSPC, 14,000 filters", many),
      ...rivals.map(({ name, f1, seconds }) => ({
        x: seconds,
        y: f1,
        name,
        color: COLORS.grey,
        sign: "circle" as const,
      })),
    ];
    const time = { label: "processor time, s", log: true };
    const plot = sheet(
      "figure-4.svg",
      "RSPC on RCV1: F1 and time against training rows, F1 against time, and other classifiers",
      [
        {
          title: "A  F1",
          ...chart({
            x,
            y: { label: "F1", format: ".2f" },
            width: 330,
            lines: [
              { name: "", ...LINES[0], points: pick((run) => run?.macroF1) },
              { name: "", ...LINES[1], points: pick((run) => run?.microF1) },
            ],
          }),
        },
        {
          title: "A  time",
          ...chart({
            x,
            y: { label: "processor time, s", log: true },
            width: 330,
            lines: [{ name: "", color: COLORS.green, sign: "triangle", points: pick(secondsOf) }],
          }),
        },
        {
          title: "B  macro F1 against time",
          ...chart({
            x: time,
            y: { label: "macro F1", format: ".2f" },
            width: 330,
            lines: [{ name: "", ...LINES[0], points: scatter }],
          }),
        },
        {
          title: "C  macro F1 against time, all classifiers",
          ...chart({
            x: time,
            y: { label: "macro F1", format: ".2f", domain: [0, 0.65] },
            width: 330,
            marks: chance ? [Observable.ruleY([chance.f1], { stroke: COLORS.grey, strokeDasharray: "4 3" })] : [],
            named,
          }),
        },
      ],
      [
        { name: "RSPC, macro F1", ...LINES[0] },
        { name: "RSPC, micro F1", ...LINES[1] },
        { name: "RSPC, processor time (train and predict)", color: COLORS.green, sign: "triangle" },
        { name: "scikit-learn", color: COLORS.grey, sign: "circle", dash: "none" },
        { name: "chance", color: COLORS.grey, dash: "4 3" },
      ],
      2,
    );
    const faster = rspc.seconds ? rivals.filter(({ seconds }) => rspc.seconds && seconds > rspc.seconds.mean) : [];
    const better = rspc.f1 ? rivals.filter(({ f1 }) => rspc.f1 && f1 > rspc.f1.mean) : [];
    /** A statement about each peer; undefined where it was not measured. */
    const each = (holds: (one: (typeof rivals)[number]) => boolean | undefined) =>
      peerPoints(quick)
        .filter(({ name }) => name !== "chance")
        .map(({ name }) => {
          const one = rivals.find((rival) => rival.name === name);
          return one && holds(one);
        });
    const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name).join(", ") || "none";
    return {
      text: [
        table(
          ["classifier", "macro F1", "micro F1", "train", "predict", "together"],
          [
            ...[
              { name: "RSPC", runs: rspc },
              { name: "RSPC, 14,000 filters", runs: many },
            ].map(({ name, runs }) => [
              name,
              meanAndDeviation(runs.f1, 3),
              meanAndDeviation(runs.micro, 3),
              showSeconds(runs.train?.mean),
              showSeconds(runs.apply?.mean),
              showSeconds(runs.seconds?.mean),
            ]),
            ...peers.map(({ name, run, seconds }) => [
              name,
              run.macroF1?.toFixed(3) ?? "–",
              run.microF1?.toFixed(3) ?? "–",
              showSeconds(run.seconds?.train),
              showSeconds(run.seconds?.apply),
              showSeconds(seconds),
            ]),
          ],
        ),
        `All training rows; RSPC: default parameters, 3 seeds. Macro F1 counts all ${source("rcv1")?.classes ?? 101} topics alike, also those that no test story has. scikit-learn: one topic against the rest where the class does not take several labels itself; chance draws each topic by its frequency. With default parameters a filter stands for ten stories or so; a topic that fewer than half of them have is given to none, and macro F1 falls as rows are added. With a filter for nearly every story it does not.`,
      ].join("\n\n"),
      plots: rspc.f1 ? [plot] : [],
      claims: [
        {
          paper: "RSPC on RCV1 is well above chance",
          ours: `macro F1 ${rspc.f1?.mean.toFixed(3) ?? "–"} against ${chance?.f1.toFixed(3) ?? "–"}`,
          verdict: judge([rspc.f1 && chance ? rspc.f1.mean > 2 * chance.f1 : undefined]),
        },
        {
          paper: "Other classifiers have a higher F1 on RCV1",
          ours: `higher: ${names(better)}; not higher: ${names(rivals.filter((one) => !better.includes(one)))}`,
          verdict: judge(each(({ f1 }) => rspc.f1 && f1 > rspc.f1.mean)),
        },
        {
          paper: "RSPC is much faster on RCV1 than the alternatives",
          ours: `slower than RSPC (${showSeconds(rspc.seconds?.mean)}): ${names(faster)}; faster: ${names(rivals.filter((one) => !faster.includes(one)))}`,
          verdict: judge(each(({ seconds }) => rspc.seconds && seconds > rspc.seconds.mean)),
        },
      ],
    };
  },
};
