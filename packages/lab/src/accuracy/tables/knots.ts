/**
 * How many knots and voters suit tables. Judged on drawn tables, so that iris, wine and breast cancer, which the tests report,
 * have no part in the choice.
 */

import { Pipeline, type PredictingModel, RankSimilarityClassifier } from "@ranksim/core";
import { TableEncoder, type TableLike } from "@ranksim/data";
import { medianOf, type Results } from "../../runner/results.ts";
import { table } from "../../runner/show.ts";
import type { AccuracyRow, AccuracyTable } from "../table.ts";
import { drawTable } from "./draw-table.ts";
import { neighbourAccuracy } from "./neighbours.ts";

const KNOTS = [3, 5, 7, 9, 13, 17];
const VOTERS = [1, 3, 5, 9];
const SIZES = [100, 300, 1000, 3000];
const TABLES = 24;
const JUDGED = 1000;

/** Mean accuracy on rows that were not trained on, over all tables. */
const knotsOf = (rows: number): AccuracyRow => ({
  name: `drawn tables, ${rows} rows`,
  runs: 1,
  measure: async (_seed, { backend, quick }) => {
    const figures: { [name: string]: number } = { neighbours: 0 };
    const [tables, judged] = quick ? [1, 50] : [TABLES, JUDGED];
    const run = { backend };
    for (let number = 0; number < tables; number++) {
      const { x, y } = drawTable(number, rows + judged);
      const [known, asked] = [x.slice(0, rows), x.slice(rows, rows + judged)];
      const [learned, truth] = [y.slice(0, rows), y.slice(rows)];
      figures.neighbours += (await neighbourAccuracy(known, learned, asked, truth)) / tables;
      for (const knots of quick ? [5] : KNOTS) {
        for (const voters of quick ? [9] : VOTERS) {
          const steps = [new TableEncoder({ knots }), new RankSimilarityClassifier({ voters })] as const;
          const model = await new Pipeline<TableLike, PredictingModel>(steps as never).fit(known, learned, run);
          const key = figureOf(knots, voters);
          figures[key] = (figures[key] ?? 0) + (await model.score(asked, truth, run)) / tables;
        }
      }
    }
    return figures;
  },
});

const figureOf = (knots: number, voters: number): string => `knots${knots}voters${voters}`;

export const knots: AccuracyTable = {
  name: "knots",
  title: "Knots and voters",
  page: "TABLES.md",
  columns: {},
  rows: SIZES.map(knotsOf),
  show(results: Results) {
    const mean = (figures: readonly string[]) =>
      this.rows.map((row) => {
        const values = figures.flatMap((figure) => medianOf(results.find(row), figure) ?? []);
        return values.length === 0 ? "–" : (values.reduce((sum, value) => sum + value, 0) / values.length).toFixed(4);
      });
    const heads = SIZES.map((rows) => `${rows} rows`);
    return [
      table(
        ["knots, mean over voters", ...heads],
        [
          ...KNOTS.map((knots) => [String(knots), ...mean(VOTERS.map((voters) => figureOf(knots, voters)))]),
          ["5 nearest neighbours, scaled", ...mean(["neighbours"])],
        ],
      ),
      table(
        ["voters, mean over knots", ...heads],
        VOTERS.map((voters) => [String(voters), ...mean(KNOTS.map((knots) => figureOf(knots, voters)))]),
      ),
    ].join("\n\n");
  },
};
