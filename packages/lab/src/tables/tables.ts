/**
 * `npm run tables`: how many knots and voters suit tables. Chosen on drawn tables, so that iris, wine and breast cancer, which
 * the tests report, have no part in the choice.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { argv, stderr, stdout } from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type ClassifierModel, Pipeline, RankSimilarityClassifier } from "@ranksim/core";
import { TableEncoder, type TableLike } from "@ranksim/data";
import { drawTable } from "./draw-table.ts";
import { neighbourAccuracy } from "./neighbours.ts";

const HELP = `Judges numbers of knots and voters on drawn tables.

  npm run tables

  --tables N      drawn tables (24)
  --columns N     columns of each, all of which tell something (3 to 20, some of them noise)
  --rows LIST     training rows (100,300,1000,3000)
  --test-rows N   rows to judge by (1000)
  --results FILE  where to write what was found; the page TABLES.md is made from results/tables.json
  --help          this text
`;

const { values } = parseArgs({
  args: argv.slice(2),
  options: {
    tables: { type: "string", default: "24" },
    columns: { type: "string" },
    rows: { type: "string", default: "100,300,1000,3000" },
    "test-rows": { type: "string", default: "1000" },
    results: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

const KNOTS = [3, 5, 7, 9, 13, 17];
const VOTERS = [1, 3, 5, 9];

/** Mean accuracy on rows that were not trained on. */
interface Found {
  readonly tables: number;
  readonly testRows: number;
  readonly byRows: readonly {
    readonly rows: number;
    readonly neighbours: number;
    readonly ours: readonly { readonly knots: number; readonly voters: number; readonly accuracy: number }[];
  }[];
}

if (values.help) stdout.write(HELP);
else await main();

async function main(): Promise<void> {
  const tables = Number(values.tables);
  const testRows = Number(values["test-rows"]);
  const columns = values.columns === undefined ? undefined : Number(values.columns);
  const byRows: Found["byRows"][number][] = [];
  for (const rows of values.rows.split(",").map(Number)) {
    const sums = new Map<string, number>();
    let neighbours = 0;
    for (let table = 0; table < tables; table++) {
      const { x, y } = drawTable(table, rows + testRows, columns);
      const [known, asked] = [x.slice(0, rows), x.slice(rows, rows + testRows)];
      const [learned, truth] = [y.slice(0, rows), y.slice(rows)];
      neighbours += (await neighbourAccuracy(known, learned, asked, truth)) / tables;
      for (const knots of KNOTS) {
        for (const voters of VOTERS) {
          const steps = [new TableEncoder({ knots }), new RankSimilarityClassifier({ voters })];
          const model = (await new Pipeline<TableLike, ClassifierModel>(steps as never).fit(
            known,
            learned,
          )) as unknown as {
            score(x: TableLike, y: readonly number[]): Promise<number>;
          };
          const key = `${knots} ${voters}`;
          sums.set(key, (sums.get(key) ?? 0) + (await model.score(asked, truth)) / tables);
        }
      }
      stderr.write(`\r${rows} rows: table ${table + 1} of ${tables}  `);
    }
    stderr.write("\n");
    const ours = Array.from(sums, ([key, accuracy]) => {
      const [knots, voters] = key.split(" ").map(Number);
      return { knots, voters, accuracy: rounded(accuracy) };
    });
    byRows.push({ rows, neighbours: rounded(neighbours), ours });
  }
  const found: Found = { tables, testRows, byRows };
  stdout.write(pageOf(found));
  if (values.results === undefined) return;
  writeFileSync(values.results, `${JSON.stringify(found, undefined, 1)}\n`);
  const page = fileURLToPath(new URL("../../TABLES.md", import.meta.url));
  const [head] = readFileSync(page, "utf8").split("<!-- tables -->");
  writeFileSync(page, `${head}<!-- tables -->\n${pageOf(found)}`);
}

function rounded(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}

/** One table for the knots, with the voters of the rule, and one for the voters, with its knots. */
function pageOf({ tables, testRows, byRows }: Found): string {
  const heads = byRows.map(({ rows }) => `${rows} rows`);
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
  const mean = (pick: (one: { knots: number; voters: number }) => boolean) =>
    byRows.map(({ ours }) => {
      const chosen = ours.filter(pick);
      return (chosen.reduce((sum, { accuracy }) => sum + accuracy, 0) / chosen.length).toFixed(4);
    });
  return [
    `\nMean accuracy on ${testRows} rows that were not trained on, of ${tables} drawn tables.\n\n`,
    line(["knots, mean over voters", ...heads]),
    line(["---", ...heads.map(() => "---:")]),
    ...KNOTS.map((knots) => line([String(knots), ...mean((one) => one.knots === knots)])),
    line(["5 nearest neighbours, scaled", ...byRows.map(({ neighbours }) => neighbours.toFixed(4))]),
    "\n",
    line(["voters, mean over knots", ...heads]),
    line(["---", ...heads.map(() => "---:")]),
    ...VOTERS.map((voters) => line([String(voters), ...mean((one) => one.voters === voters)])),
  ].join("");
}
