/** Supplementary Figure S1: PCA and kernel PCA before the linear SVM, beside RST. */

import { rowsFor } from "../../runner/data.ts";
import { table } from "../../runner/show.ts";
import type { Line } from "../drawing/chart.ts";
import { COLORS, LINES, type Panel, sheet } from "../drawing/plot.ts";
import { pointOf, showSeconds, summarize } from "../drawing/spread.ts";
import { type Claim, type Experiment, type Found, judge, whether } from "../experiment.ts";
import type { Measured, Point, Scale } from "../spec.ts";
import { count, largest, ratio, rowCounts, signed, tally } from "../wording.ts";
import { transformSvm } from "./figure-2ab.ts";
import { peer, some } from "./plan.ts";
import { scoreAndTime, secondsOf } from "./score-and-time.ts";

const TRAIN_ROWS = 60_000;
const COMPONENTS = [10, 25, 50, 150];
const LINEAR = { loss: "hinge", C: 1, random_state: 0 } as const;
/** Numbers of rows, in the order of their colours. */
const SIZES = [1000, 3000, 10_000, TRAIN_ROWS];
/** Sizes and filters at which figure 2 has measured RST before the SVM. */
const RST_SIZES = [1000, 10_000, TRAIN_ROWS];
const RST_FILTERS = [25, 50, 150];

interface Reduction {
  readonly name: string;
  readonly system: "PCA" | "KernelPCA";
  readonly sizes: readonly number[];
  readonly scale: Scale;
}

const PCA: Reduction = { name: "PCA", system: "PCA", sizes: SIZES, scale: "unit" };
const KERNEL_PCA: Reduction = { name: "kernel PCA", system: "KernelPCA", sizes: [1000, 3000], scale: "unit" };
/** As the paper has it: pixels as they come. */
const PCA_OF_BYTES: Reduction = { name: "PCA of bytes", system: "PCA", sizes: [10_000], scale: "none" };
const REDUCTIONS = [PCA, KERNEL_PCA, PCA_OF_BYTES];

const OF_BYTES = { color: COLORS.black, sign: "star" } as const;

/** F1 that counts as a gain. */
const GAIN = 0.005;
/** F1 within this of another is like it. */
const ALIKE = 0.02;
/** Times faster that no one would call slight. */
const SLIGHT = 2;

function sizesOf(quick: boolean, { sizes }: Reduction): readonly number[] {
  return quick ? sizes.slice(0, 1) : sizes;
}

function choice(quick: boolean, size: number) {
  return rowsFor(quick, "fashion", size === TRAIN_ROWS ? { seed: 0 } : { trainParts: TRAIN_ROWS / size, seed: 0 });
}

function reduced(quick: boolean, { system, scale }: Reduction, size: number, components: number): Point {
  const params = system === "PCA" ? { random_state: 0 } : { kernel: "rbf", random_state: 0 };
  const name = `${system} ${components}${scale === "none" ? " of bytes" : ""} + SVM, ${size} rows`;
  return peer(name, "fashion", choice(quick, size), "LinearSVC", LINEAR, {
    scale,
    before: { system, params: { ...params, n_components: components } },
  });
}

function plain(quick: boolean, { scale }: Reduction, size: number): Point {
  const name = `SVM${scale === "none" ? " on bytes" : ""}, ${size} rows`;
  return peer(name, "fashion", choice(quick, size), "LinearSVC", LINEAR, { scale, late: size === TRAIN_ROWS });
}

/** A number with the reduction and without, where both were measured. */
type Pair = readonly [own: number, alone: number] | undefined;

/** Every size and number of components beside the same rows without reduction. */
function compare(
  { find, quick }: Found,
  reduction: Reduction,
  value: (run: Measured | undefined) => number | undefined,
  components: readonly number[] = some(quick, COMPONENTS),
): readonly Pair[] {
  return sizesOf(quick, reduction).flatMap((size) => {
    const alone = value(find(plain(quick, reduction, size)));
    return components.map((at) => pair(value(find(reduced(quick, reduction, size, at))), alone));
  });
}

function pair(a: number | undefined, b: number | undefined): Pair {
  return a === undefined || b === undefined ? undefined : [a, b];
}

function f1Of(run: Measured | undefined): number | undefined {
  return run?.macroF1;
}

/** Times faster with the reduction, for each size. */
function speedUps(found: Found, reduction: Reduction, components: number): readonly (number | undefined)[] {
  return compare(found, reduction, secondsOf, [components]).map((both) => both && both[1] / both[0]);
}

function lines(found: Found, reduction: Reduction, value: (point: Point) => number | undefined): Line[] {
  const { quick } = found;
  const components = some(quick, COMPONENTS);
  return sizesOf(quick, reduction).flatMap((size) => {
    const { color, sign } = reduction === PCA_OF_BYTES ? OF_BYTES : LINES[SIZES.indexOf(size)];
    const alone = value(plain(quick, reduction, size));
    const rst = RST_FILTERS.flatMap((filters) => pointOf(filters, transformSvm(quick, size, filters).map(value)));
    return [
      {
        name: "",
        color,
        sign,
        points: components.flatMap((at) => pointOf(at, [value(reduced(quick, reduction, size, at))])),
      },
      {
        name: "",
        color,
        dash: "2 3",
        points: alone === undefined ? [] : [components[0], components.at(-1) ?? 0].map((x) => ({ x, y: alone })),
      },
      ...(RST_SIZES.includes(size) && reduction !== PCA_OF_BYTES && !quick
        ? [{ name: "", color, dash: "8 4", points: rst }]
        : []),
    ];
  });
}

/** F1 and time of one reduction, or of several in the same panels. */
function panels(
  found: Found,
  reductions: readonly Reduction[],
  letters: readonly [string, string],
): (Panel & { title: string })[] {
  const [{ name }] = reductions;
  const x = { label: "components, or filters of RST", log: true, ticks: COMPONENTS };
  const all = (value: (point: Point) => number | undefined) => reductions.flatMap((one) => lines(found, one, value));
  return scoreAndTime(found, [`${letters[0]}  ${name}, F1`, `${letters[1]}  ${name}, time`], x, "reduce", all, 360);
}

function cells({ find, quick }: Found): string[][] {
  const show = (point: Point) => {
    const run = find(point);
    return run ? `${run.macroF1?.toFixed(3)}; ${showSeconds(secondsOf(run))}` : "–";
  };
  return REDUCTIONS.flatMap((reduction) =>
    sizesOf(quick, reduction).map((size) => [
      `${reduction.name}, ${count(size)} rows`,
      ...some(quick, COMPONENTS).map((at) => show(reduced(quick, reduction, size, at))),
      show(plain(quick, reduction, size)),
    ]),
  );
}

function claims(found: Found): Claim[] {
  const { find, quick } = found;
  const f1 = (point: Point) => f1Of(find(point));
  const show = (values: readonly (number | undefined)[]) => values.map((value) => value?.toFixed(3) ?? "–").join(", ");
  const times = (values: readonly (number | undefined)[]) => values.map(ratio).join(", ");
  const gains = (reduction: Reduction) => compare(found, reduction, f1Of).map((both) => both && both[0] - both[1]);
  const noGain = (reduction: Reduction) => whether(gains(reduction), (gain) => gain <= GAIN);
  const [few, many] = [speedUps(found, PCA, 25), speedUps(found, PCA, 150)];
  const bytes = COMPONENTS.flatMap((at) => speedUps(found, PCA_OF_BYTES, at));
  const kernelSpeed = COMPONENTS.map((at) => speedUps(found, KERNEL_PCA, at));
  const rstAt = (size: number) => summarize(transformSvm(quick, size, 150).map(f1))?.mean;
  const belowRst = (reduction: Reduction, sizes: readonly number[]) =>
    sizes.map((size) => pair(f1(reduced(quick, reduction, size, 150)), rstAt(size))).map(ascending);
  const beside = (value: (run: Measured | undefined) => number | undefined) =>
    sizesOf(quick, KERNEL_PCA).flatMap((size) =>
      some(quick, COMPONENTS).map((at) =>
        pair(value(find(reduced(quick, PCA, size, at))), value(find(reduced(quick, KERNEL_PCA, size, at)))),
      ),
    );
  const slower = beside(secondsOf).map(ascending);
  const lower = beside(f1Of).map((both) => both && both[0] - both[1]);
  const rstSizes = quick ? [] : RST_SIZES;
  return [
    {
      paper: "PCA brings no gain in F1",
      ours: `largest difference: ${signed(largest(gains(PCA_OF_BYTES)))} on bytes, which are what the paper gives it; ${signed(largest(gains(PCA)))} on pixels of 0..1, where F1 falls with 10 and 25 components and gains with more`,
      verdict: judge([...noGain(PCA_OF_BYTES), ...noGain(PCA)]),
    },
    {
      paper: "PCA brings a slight speed-up, with fewer than about 50 components",
      ours: `time without / with on bytes: ${bytes.map(ratio).join(", ")} at ${COMPONENTS.join(", ")} components; on pixels of 0..1 the speed-up is larger, and there with 150 components too: ${times(few)} at 25, ${times(many)} at 150 (${rowCounts(sizesOf(quick, PCA))})`,
      verdict: judge([
        ...whether(bytes.slice(0, 2), (factor) => factor > 1),
        ...whether(bytes.slice(-1), (factor) => factor < SLIGHT),
        ...whether(few, (factor) => factor > 1),
        ...whether(many, (factor) => factor < SLIGHT),
      ]),
    },
    {
      paper: "Kernel PCA brings neither a gain in F1 nor a speed-up",
      ours: `largest difference in F1 ${signed(largest(gains(KERNEL_PCA)))}; time without / with: ${kernelSpeed.map(times).join("; ")} at ${COMPONENTS.join(", ")} components (${rowCounts(sizesOf(quick, KERNEL_PCA))})`,
      verdict: judge([...noGain(KERNEL_PCA), ...whether(kernelSpeed.flat(), (ratio) => ratio < 1)]),
    },
    {
      paper: "Kernel PCA takes longer than PCA, and its F1 is like that of PCA",
      ours: `longer at ${tally(slower)} sizes and numbers of components; F1 below that of PCA by up to ${show([largest(lower)])}`,
      verdict: judge([...slower, ...whether(lower, (difference) => Math.abs(difference) < ALIKE)]),
    },
    {
      paper: "Behind PCA and kernel PCA the SVM stays below RST",
      ours: `150 dimensions: PCA of bytes ${show([f1(reduced(quick, PCA_OF_BYTES, 10_000, 150))])} and RST ${show([rstAt(10_000)])} (10,000 rows), kernel PCA ${show([f1(reduced(quick, KERNEL_PCA, 1000, 150))])} and RST ${show([rstAt(1000)])} (1,000 rows); but PCA of pixels of 0..1 ${show(rstSizes.map((size) => f1(reduced(quick, PCA, size, 150))))} and RST ${show(rstSizes.map(rstAt))} (${rowCounts(rstSizes)})`,
      verdict: judge([
        ...belowRst(PCA_OF_BYTES, quick ? [] : PCA_OF_BYTES.sizes),
        ...belowRst(PCA, rstSizes),
        ...belowRst(KERNEL_PCA, rstSizes.slice(0, 1)),
      ]),
    },
  ];
}

function ascending(both: Pair): boolean | undefined {
  return both && both[0] < both[1];
}

export const figureS1: Experiment = {
  panels: ["figure-s1"],
  title: "Supplementary Figure S1: PCA and kernel PCA before the SVM",
  points: (quick) =>
    REDUCTIONS.flatMap((reduction) =>
      sizesOf(quick, reduction).flatMap((size) => [
        // Kernel PCA and PCA are compared with the same SVM.
        ...(reduction === KERNEL_PCA ? [] : [plain(quick, reduction, size)]),
        ...some(quick, COMPONENTS).map((components) => reduced(quick, reduction, size, components)),
      ]),
    ),
  section: (found) => ({
    text: [
      table(["", ...some(found.quick, COMPONENTS).map((at) => `${at} components`), "without"], cells(found)),
      "Macro F1; processor time of reduction, training and prediction together, one seed. scikit-learn's PCA, KernelPCA (RBF, gamma = 1/784) and LinearSVC (hinge loss, C = 1), pixels scaled to 0..1: on bytes, as the paper gives them, the RBF kernel of any two images is 0 and the SVM does not converge; PCA of bytes is added at one size. RST is that of figure 2, with our SVM. Kernel PCA of 10,000 rows and more was left out: its matrix grows with the square of the rows, to 14 GB (single precision) for all 60,000, which the paper's 8 GB could not hold either.",
    ].join("\n\n"),
    plots: [
      sheet(
        "figure-s1.svg",
        "F1 and time of a linear SVM behind PCA, kernel PCA and RST",
        [...panels(found, [PCA, PCA_OF_BYTES], ["A", "B"]), ...panels(found, [KERNEL_PCA], ["C", "D"])],
        [
          ...SIZES.map((size, j) => ({ name: `${count(size)} training rows`, ...LINES[j] })),
          { name: "10,000 training rows of bytes", ...OF_BYTES },
          { name: "RST in place of the reduction (3 seeds)", color: COLORS.grey, dash: "8 4" },
          { name: "pixels, not reduced", color: COLORS.grey, dash: "2 3" },
        ],
        2,
      ),
    ],
    claims: claims(found),
  }),
};
