/** Figure 1 D: confusion, Wasserstein distance and Kullback–Leibler divergence against the separation of two distributions. */

import { chart, type Line } from "../drawing/chart.ts";
import { COLORS, sheet } from "../drawing/plot.ts";
import { type Experiment, judge } from "../experiment.ts";
import { estimatedConfusion, exponential, exponentialConfusion, gaussian, integrateConfusion } from "./densities.ts";

const DEVIATIONS = [1, 2, 3];
const DASHES = ["", "7 4", "2 3"];
const SEPARATIONS = Array.from({ length: 41 }, (_, j) => j / 4);
/** Separations at which the library's estimate is compared. */
const ESTIMATED = [0, 2, 4, 6, 8, 10];

/** Distances are drawn up to this. */
const HIGHEST = 20;

interface Family {
  readonly name: string;
  readonly confusion: (separation: number, deviation: number) => number;
  /** Of the later from the earlier; the other way round it is infinite for exponentials. */
  readonly divergence: (separation: number, deviation: number) => number;
  readonly estimated: (separation: number, deviation: number) => number;
}

const FAMILIES: readonly Family[] = [
  {
    name: "two Gaussians",
    confusion: (separation, deviation) =>
      integrateConfusion(
        gaussian(0, deviation),
        gaussian(separation, deviation),
        -10 * deviation,
        separation + 10 * deviation,
        4000,
      ),
    divergence: (separation, deviation) => separation ** 2 / (2 * deviation ** 2),
    estimated: (separation, deviation) => estimatedConfusion(gaussian(0, deviation), gaussian(separation, deviation)),
  },
  {
    name: "two exponentials",
    confusion: exponentialConfusion,
    divergence: (separation, deviation) => separation / deviation,
    estimated: (separation, deviation) =>
      estimatedConfusion(exponential(0, deviation), exponential(separation, deviation)),
  },
];

export const figure1d: Experiment = {
  panels: ["figure-1d"],
  title: "Figure 1 D: confusion beside other distances",
  points: () => [],
  section: () => {
    const curves = FAMILIES.map(({ name, confusion, divergence, estimated }) => ({
      name,
      confusion: DEVIATIONS.map((deviation) => SEPARATIONS.map((separation) => confusion(separation, deviation))),
      divergence: DEVIATIONS.map((deviation) => SEPARATIONS.map((separation) => divergence(separation, deviation))),
      estimated: DEVIATIONS.map((deviation) => ESTIMATED.map((separation) => estimated(separation, deviation))),
    }));
    const line = (values: readonly number[], color: string, dash: string): Line => ({
      name: "",
      color,
      dash,
      points: SEPARATIONS.map((x, j) => ({ x, y: values[j] })).filter(({ y }) => y <= HIGHEST),
    });
    const x = { label: "separation of the means" };
    const panels = curves.flatMap((curve) => [
      {
        title: `${curve.name}: confusion`,
        ...chart({
          x,
          y: { label: "confusion", domain: [0, 0.5], format: ".1f" },
          width: 360,
          height: 260,
          lines: [
            ...curve.confusion.map((values, j) => line(values, COLORS.black, DASHES[j])),
            ...curve.estimated.map(
              (values): Line => ({
                name: "",
                color: COLORS.vermilion,
                sign: "circle",
                dash: "none",
                points: ESTIMATED.map((at, j) => ({ x: at, y: values[j] })),
              }),
            ),
          ],
        }),
      },
      {
        title: `${curve.name}: Wasserstein, Kullback–Leibler`,
        ...chart({
          x,
          y: { label: "distance; divergence, nats", domain: [0, HIGHEST] },
          width: 360,
          height: 260,
          lines: [
            line(SEPARATIONS, COLORS.orange, ""),
            ...curve.divergence.map((values, j) => line(values, COLORS.green, DASHES[j])),
          ],
        }),
      },
    ]);
    const plot = sheet(
      "figure-1d.svg",
      "Confusion, Wasserstein distance and Kullback–Leibler divergence against the separation of means",
      panels,
      [
        { name: "confusion", color: COLORS.black },
        {
          name: "confusion, estimated from 1,000 values by the library",
          color: COLORS.vermilion,
          sign: "circle",
          dash: "none",
        },
        { name: "Wasserstein distance (same for all)", color: COLORS.orange },
        { name: "Kullback–Leibler divergence", color: COLORS.green },
        ...DEVIATIONS.map((deviation, j) => ({
          name: `standard deviation ${deviation}`,
          color: COLORS.grey,
          dash: DASHES[j],
        })),
      ],
      2,
    );
    const errors = curves.flatMap((curve, family) =>
      curve.estimated.flatMap((values, s) =>
        values.map((value, j) => Math.abs(value - FAMILIES[family].confusion(ESTIMATED[j], DEVIATIONS[s]))),
      ),
    );
    const all = curves.flatMap(({ confusion }) => confusion.flat());
    const falling = curves.every(({ confusion }) =>
      confusion.every((values) => values.every((value, j) => j === 0 || value <= values[j - 1] + 1e-12)),
    );
    return {
      text: `Exponentials of one scale, one shifted against the other. The divergence is drawn up to 20 and taken from the later distribution to the earlier; the other way round it is infinite. The library's estimates (kernel densities of 1,000 quantiles) lie within ${Math.max(...errors).toFixed(3)} of the exact confusion; the largest difference is at the sharp edge of the exponential, which a Gaussian kernel rounds off.`,
      plots: [plot],
      claims: [
        {
          paper: "Confusion is bounded; Wasserstein distance and Kullback–Leibler divergence grow without bound",
          ours: `confusion from ${Math.max(...all).toFixed(3)} (no separation) to ${Math.min(...all).toFixed(3)}; at separation 10 and standard deviation 1 the distance is 10 and the divergence 50 (Gaussians)`,
          verdict: judge([Math.max(...all) <= 0.5 + 1e-6 && Math.min(...all) >= 0, falling]),
        },
        {
          paper: "The Wasserstein distance does not depend on the standard deviations, confusion and divergence do",
          ours: `confusion at separation 4: ${DEVIATIONS.map((deviation) => FAMILIES[0].confusion(4, deviation).toFixed(3)).join(", ")} for standard deviations 1, 2, 3 (Gaussians); the distance is 4 for all`,
          verdict: judge([
            FAMILIES.every(({ confusion }) => confusion(4, 1) < confusion(4, 2) && confusion(4, 2) < confusion(4, 3)),
          ]),
        },
      ],
      numbers: { separations: SEPARATIONS, deviations: DEVIATIONS, estimatedAt: ESTIMATED, curves },
    };
  },
};
