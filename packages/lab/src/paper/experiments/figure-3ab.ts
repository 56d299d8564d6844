/** Figure 3 A and B: F1 and processor time of RSC against the number of training rows of Fashion-MNIST. */

import { rowsFor } from "../../runner/data.ts";
import { table } from "../../runner/show.ts";
import { chart } from "../drawing/chart.ts";
import { COLORS, LINES, sheet } from "../drawing/plot.ts";
import { meanAndDeviation, pointOf, showSeconds, summarize } from "../drawing/spread.ts";
import { type Experiment, judge } from "../experiment.ts";
import type { Measured, Point } from "../spec.ts";
import { count, tally } from "../wording.ts";
import { rawSvm, transformSvm } from "./figure-2ab.ts";
import { ours, seedsFor, some } from "./plan.ts";
import { secondsOf } from "./score-and-time.ts";

const TRAIN_ROWS = 60_000;
const SIZES = [1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000];

/** RSC at one size, all seeds. */
export function rscPoints(quick: boolean, size: number): readonly Point[] {
  return seedsFor(quick).map((seed) => {
    const parts = TRAIN_ROWS / size;
    const rows = rowsFor(quick, "fashion", parts === 1 ? { seed: 0 } : { trainParts: parts, seed });
    return ours(`RSC, ${size} rows, seed ${seed}`, "fashion", rows, "rsc", { seed });
  });
}

export const figure3ab: Experiment = {
  panels: ["figure-3a", "figure-3b"],
  title: "Figure 3 A, B: RSC against the number of training rows",
  points: (quick) => some(quick, SIZES).flatMap((size) => rscPoints(quick, size)),
  section: ({ find, quick }) => {
    const sizes = some(quick, SIZES);
    const measured = sizes.map((size) => rscPoints(quick, size).map(find));
    const f1 = measured.map((runs) => runs.map((run) => run?.macroF1));
    const seconds = measured.map((runs) => runs.map(secondsOf));
    const size = { label: "training rows", log: true, ticks: [1000, 3000, 10_000, 30_000, 60_000] };
    const time = { label: "processor time, s", log: true };
    const score = { label: "macro F1", format: ".2f" };
    const dots = sizes.flatMap((_, j) => {
      const x = summarize(seconds[j]);
      return x ? pointOf(x.mean, f1[j]) : [];
    });
    const plot = sheet(
      "figure-3ab.svg",
      "F1 and processor time of RSC both rise with the number of training rows",
      [
        {
          title: "A  F1",
          ...chart({
            x: size,
            y: score,
            width: 300,
            lines: [{ name: "", ...LINES[0], points: sizes.flatMap((x, j) => pointOf(x, f1[j])) }],
          }),
        },
        {
          title: "A  time",
          ...chart({
            x: size,
            y: time,
            width: 300,
            lines: [
              {
                name: "",
                color: COLORS.green,
                sign: "triangle",
                points: sizes.flatMap((x, j) => pointOf(x, seconds[j])),
              },
            ],
          }),
        },
        {
          title: "B  F1 against time",
          ...chart({
            x: time,
            y: score,
            width: 300,
            lines: [{ name: "", ...LINES[0], points: dots }],
          }),
        },
      ],
      [
        { name: "RSC, macro F1", ...LINES[0] },
        { name: "RSC, processor time of training and predicting 10,000 rows", color: COLORS.green, sign: "triangle" },
      ],
    );
    const compared = (quick ? [] : [1000, 10_000, 60_000]).map((rows) => {
      const runs = {
        rsc: measured[sizes.indexOf(rows)],
        rst: transformSvm(quick, rows, 1500).map(find),
        raw: rawSvm(quick, rows, "none").map(find),
      };
      const mean = (system: keyof typeof runs, value: (run: Measured | undefined) => number | undefined) =>
        summarize(runs[system].map(value))?.mean;
      return {
        f1: (system: keyof typeof runs) => mean(system, (run) => run?.macroF1),
        seconds: (system: keyof typeof runs) => mean(system, secondsOf),
      };
    });
    const ahead = (than: "rst" | "raw") =>
      compared.map(({ f1: of }) => {
        const [own, other] = [of("rsc"), of(than)];
        return own === undefined || other === undefined ? undefined : own > other;
      });
    const quicker = compared.map(({ seconds: of }) => {
      const [own, other] = [of("rsc"), of("rst")];
      return own === undefined || other === undefined ? undefined : own < other;
    });
    const all = dots.length === sizes.length;
    const steps = (values: Runs, test: (before: Runs[number], after: Runs[number]) => boolean | undefined) =>
      values.slice(1).map((after, j) => test(values[j], after));
    return {
      text: [
        table(
          ["training rows", "macro F1", "train", "predict 10,000"],
          sizes.map((rows, j) => [
            count(rows),
            meanAndDeviation(summarize(f1[j])),
            showSeconds(summarize(measured[j].map((run) => run?.seconds?.train))?.mean),
            showSeconds(summarize(measured[j].map((run) => run?.seconds?.apply))?.mean),
          ]),
        ),
        "Fashion-MNIST, default parameters. Mean ± standard deviation of 3 seeds, each with a sample of its own of the training rows.",
      ].join("\n\n"),
      plots: [plot],
      claims: [
        {
          paper: "F1 and time rise together as training rows are added",
          ours: all
            ? `from ${dots[0].y.toFixed(3)} in ${showSeconds(dots[0].x)} to ${dots[dots.length - 1].y.toFixed(3)} in ${showSeconds(dots[dots.length - 1].x)}; the mean F1 rises at ${tally(steps(f1, risesOnAverage))} steps and the mean time at ${tally(steps(seconds, risesOnAverage))}; a fall counts where the ranges of the seeds lie apart`
            : "–",
          verdict: judge([...steps(f1, rises), ...steps(seconds, rises)]),
        },
        {
          paper: "RSC has a higher F1 than the linear SVM, alone and behind RST, at every number of rows",
          ours: `above the SVM on bytes at ${tally(ahead("raw"))} sizes, above RST (1,500 filters) + SVM at ${tally(ahead("rst"))}; RSC / RST + SVM / SVM at 1,000, 10,000, 60,000 rows: ${compared.map(({ f1: of }) => (["rsc", "rst", "raw"] as const).map((system) => of(system)?.toFixed(3) ?? "–").join(" / ")).join("; ")}`,
          verdict: judge([...ahead("rst"), ...ahead("raw")]),
        },
        {
          paper: "RSC takes less time than RST with the SVM, although it has more filters",
          ours: `RSC / RST (1,500) + SVM: ${compared.map(({ seconds: of }) => `${showSeconds(of("rsc"))} / ${showSeconds(of("rst"))}`).join("; ")}`,
          verdict: judge(quicker),
        },
      ],
    };
  },
};

/** A number for each size and seed. */
type Runs = readonly (readonly (number | undefined)[])[];

function risesOnAverage(before: Runs[number], after: Runs[number]): boolean | undefined {
  const [a, b] = [summarize(before), summarize(after)];
  return a && b && b.mean > a.mean;
}

/** Rises, or falls by less than the ranges of the seeds tell apart. */
function rises(before: Runs[number], after: Runs[number]): boolean | undefined {
  const [a, b] = [before, after].map((values) => values.filter((value) => value !== undefined));
  return a.length === 0 || b.length === 0 ? undefined : Math.max(...b) > Math.min(...a);
}
