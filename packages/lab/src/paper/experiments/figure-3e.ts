/** Figure 3 E: the distributions by confusion, by means and by ranks of the three data sets, each adding up to 1. */

import type { DataName } from "../../runner/data.ts";
import { rowsFor } from "../../runner/data.ts";
import { table } from "../../runner/show.ts";
import { chart } from "../drawing/chart.ts";
import { COLORS, sheet } from "../drawing/plot.ts";
import { type Experiment, judge } from "../experiment.ts";
import type { Point } from "../spec.ts";

const SETS: readonly DataName[] = ["fashion", "kuzushiji", "newsgroups-counts", "newsgroups"];

/** Where the largest share is this many times that of the ranks, the axis is logarithmic. */
const STEEP = 10;

const FORMS = [
  { form: "confusion", name: "confusion", color: COLORS.black, dash: "" },
  { form: "mean", name: "mean of the feature", color: COLORS.vermilion, dash: "6 3" },
  { form: "rank", name: "rank", color: COLORS.blue, dash: "2 3" },
] as const;

function point(quick: boolean, data: DataName): Point {
  return {
    name: `distributions of ${data}`,
    spec: { data, rows: rowsFor(quick, data, { seed: 0 }), task: "distributions", params: { seed: 0 } },
  };
}

function titleOf(data: DataName, title: string = data): string {
  if (data === "newsgroups") return `${title}, unit length`;
  return data === "newsgroups-counts" ? `${title}, counts` : title;
}

export const figure3e: Experiment = {
  panels: ["figure-3e"],
  title: "Figure 3 E: confusion, mean and rank distributions",
  points: (quick) => SETS.map((data) => point(quick, data)),
  section: ({ find, quick, source }) => {
    const found = SETS.map((data) => ({
      data,
      measured: find(point(quick, data)),
      title: titleOf(data, source(data)?.title),
    }));
    const panels = found.flatMap(({ measured, title }) => {
      const curves = measured?.curves;
      if (!curves) return [];
      const highest = (form: keyof typeof curves) => curves[form][curves[form].length - 1];
      const log = highest("mean") > STEEP * highest("rank");
      const lines = FORMS.map(({ form, name, color, dash }) => ({
        name,
        color,
        dash,
        points: curves.position.map((x, j) => ({ x, y: curves[form][j] })).filter(({ y }) => !log || y > 0),
      }));
      const x = { label: "feature, ascending by mean (share of all features)", format: ".1f" };
      const y = { label: "share of the sum", log, format: "~g" };
      return [{ title, ...chart({ x, y, lines, width: 380, height: 260 }) }];
    });
    const distance = (data: DataName, fact: string) => {
      const value = found.find((one) => one.data === data)?.measured?.facts?.[fact];
      return typeof value === "number" ? value : undefined;
    };
    const [fashion, kuzushiji, counts, unit] = SETS.map((data) => distance(data, "toRanks"));
    const further = (a: number | undefined, b: number | undefined) =>
      a === undefined || b === undefined ? undefined : a > b;
    return {
      text: [
        table(
          ["data set", "confusion and ranks", "confusion and means", "ranks and means"],
          found.map(({ data, title }) => [
            title,
            ...["toRanks", "toMeans", "ranksToMeans"].map((fact) => distance(data, fact)?.toFixed(3) ?? "–"),
          ]),
        ),
        "Largest difference between two cumulated distributions: 0 for equal ones, at most 1. Of 20 Newsgroups the axis is logarithmic, where zeros have no place: a few words make up most of the text (Zipf's law). The confusion distribution is drawn from 0 (a constant added to it changes no result) and comes from 1,000 training rows. For rows of unit length the library estimates densities by kernels, which smear the zeros that most words mostly are, and the result is close to ranks; for counts it takes exact shares.",
      ].join("\n\n"),
      plots:
        panels.length > 0
          ? [
              sheet(
                "figure-3e.svg",
                "Confusion, mean and rank distributions of the data sets",
                panels,
                FORMS.map(({ name, color, dash }) => ({ name, color, dash })),
                2,
              ),
            ]
          : [],
      claims: [
        {
          paper: "Ranks approximate confusion well on Fashion-MNIST and Kuzushiji-49, and diverge on 20 Newsgroups",
          ours: `largest difference of the cumulated distributions: ${[fashion, kuzushiji, counts, unit].map((value) => value?.toFixed(3) ?? "–").join(", ")} (Fashion-MNIST, ${source("kuzushiji")?.title ?? "Kuzushiji"}, 20 Newsgroups as counts and of unit length): on counts they diverge, on rows of unit length not, where kernels smear the zeros`,
          verdict: judge([counts, unit].flatMap((a) => [fashion, kuzushiji].map((b) => further(a, b)))),
        },
        {
          paper: "On 20 Newsgroups the rank distribution is far from that of the means",
          ours: `${distance("newsgroups", "ranksToMeans")?.toFixed(3) ?? "–"}, against ${distance("fashion", "ranksToMeans")?.toFixed(3) ?? "–"} on Fashion-MNIST`,
          verdict: judge([further(distance("newsgroups", "ranksToMeans"), distance("fashion", "ranksToMeans"))]),
        },
      ],
    };
  },
};
