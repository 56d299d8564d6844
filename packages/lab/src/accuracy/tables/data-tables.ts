/** Tables of data, each in five folds: presets with nothing said about the columns, and classifiers of scikit-learn. */

import { join } from "node:path";
import type { Label, Labels } from "@ranksim/core";
import { type DataSet, loadData } from "@ranksim/data/node";
import { accuracy, f1, gatherRows, type Preset, predictAll, stratifiedFolds, train } from "@ranksim/learn";
import { dataFolder } from "../../runner/machine.ts";
import { measureInPython } from "../../runner/process.ts";
import { medianOf } from "../../runner/results.ts";
import { table } from "../../runner/show.ts";
import { timed } from "../../runner/stopwatch.ts";
import type { AccuracyRow, AccuracyTable } from "../table.ts";

/** Files `tables/NAME.csv.gz` of the data folder, whose labels are in the column `label`. */
const NAMES = [
  "ad_data",
  "attrition",
  "biopsy",
  "cells",
  "crabs",
  "credit_data",
  "hpc_data",
  "income",
  "kyphosis",
  "lending_club",
  "mlc_churn",
  "musk",
  "oils",
  "parabolic",
  "penguins",
  "promotergene",
  "scat",
  "spam",
  "stackoverflow",
  "stagec",
  "TitanicSurvival",
  "two_class_dat",
];
const LABEL = "label";
const FOLDS = 5;
/** The first rows of each table. */
const MOST_ROWS = 5000;
/** With `--quick`. */
const QUICK = { rows: 120, folds: 2 };

const PRESETS: readonly Preset[] = ["balanced", "fast", "best"];
const PEERS: { readonly [system: string]: string } = {
  linear: "logistic regression",
  neighbours: "5 neighbours",
  svm: "SVM (RBF)",
  forest: "random forest",
  boosting: "gradient boosting",
};

/** Every method is trained on each fold's other rows, and judged by the answers to all rows together. */
const dataTable = (name: string): AccuracyRow => ({
  name,
  measure: async (seed, bench) => {
    const path = join(dataFolder(bench.shelf.folder) ?? ".", "tables", `${name}.csv.gz`);
    const all = await loadData(path, { labelColumn: LABEL });
    const used = bench.quick ? { rows: QUICK.rows, folds: QUICK.folds } : { rows: MOST_ROWS, folds: FOLDS };
    const y = (all.y as Label[]).slice(0, used.rows);
    const folds = stratifiedFolds(y, { folds: used.folds, seed });
    const figures: { [name: string]: number } = { rows: y.length };
    for (const preset of PRESETS) {
      const found: Label[] = new Array(y.length);
      figures[`${preset}Cpu`] = 0;
      for (const { train: known, test } of folds) {
        const fit = await timed(() => train(part(all, y, known), { preset, seed, backend: bench.backend }));
        const asked = part(all, y, test);
        const { predicted } = await predictAll(fit.value.model, asked, { backend: bench.backend });
        for (const [j, row] of test.entries()) found[row] = predicted[j] as Label;
        figures[`${preset}Cpu`] += fit.cpu;
      }
      figures[preset] = accuracy(y as Labels, found);
      figures[`${preset}F1`] = f1(y as Labels, found, { average: "macro" });
    }
    const job = { path, label: LABEL, rows: y.length, folds: folds.map(({ test }) => Array.from(test)), seed };
    for (const system of Object.keys(PEERS)) {
      const { figures: peer } = await measureInPython(bench.workshop, "table_peers.py", { ...job, system });
      figures[system] = peer.accuracy;
      figures[`${system}F1`] = peer.macroF1;
      figures[`${system}Cpu`] = peer.cpu;
    }
    return figures;
  },
});

type Rows = Extract<DataSet, { readonly form: "matrix" | "table" }>;

function part(all: DataSet, y: readonly Label[], rows: Uint32Array): Rows {
  const labels = gatherRows(y as Label[], rows);
  if (all.form === "table") return { ...all, table: all.table.gather(rows), y: labels };
  if (all.form === "matrix") return { ...all, x: all.x.gather(rows), y: labels };
  throw new Error(`expected a table, found ${all.form}`);
}

const METHODS: { readonly [figure: string]: string } = {
  ...Object.fromEntries(PRESETS.map((preset) => [preset, `\`${preset}\``])),
  ...PEERS,
};

export const dataTables: AccuracyTable = {
  name: "tables",
  title: "Tables of data",
  page: "TABLES.md",
  columns: {},
  rows: NAMES.map(dataTable),
  show(results) {
    const figures = Object.keys(METHODS);
    const found = this.rows.flatMap((row) => results.find(row) ?? []).filter(({ failure }) => failure === undefined);
    const cell = (value: number | undefined) => value?.toFixed(4) ?? "–";
    const mean = (figure: string) =>
      cell(found.reduce((sum, row) => sum + (medianOf(row, figure) ?? Number.NaN), 0) / found.length);
    const titles = Object.values(METHODS);
    return [
      table(
        ["accuracy", "rows", ...titles],
        [
          ...found.map((row) => [
            row.name,
            String(medianOf(row, "rows")),
            ...figures.map((figure) => cell(medianOf(row, figure))),
          ]),
          ["mean", "", ...figures.map(mean)],
        ],
      ),
      table(
        ["mean over tables", ...titles],
        [
          ["macro F1", ...figures.map((figure) => mean(`${figure}F1`))],
          ["processor seconds of five fits", ...figures.map((figure) => mean(`${figure}Cpu`))],
        ],
      ),
    ].join("\n\n");
  },
};
