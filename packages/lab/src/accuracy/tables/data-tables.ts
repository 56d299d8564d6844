/** Tables of data, each in folds: presets with nothing said about the columns, and classifiers of scikit-learn. */

import { join } from "node:path";
import type { Dense, Label, Labels } from "@ranksim/core";
import { type DataSet, loadData } from "@ranksim/data/node";
import {
  accuracy,
  f1,
  gatherRows,
  type Preset,
  predictAll,
  ReliabilityTally,
  stratifiedFolds,
  train,
} from "@ranksim/learn";
import { dataFolder } from "../../runner/machine.ts";
import { measureInPython } from "../../runner/process.ts";
import { medianOf } from "../../runner/results.ts";
import { table } from "../../runner/show.ts";
import { timed } from "../../runner/stopwatch.ts";
import type { AccuracyRow, AccuracyTable, Bench } from "../table.ts";

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
/** The first rows of each table, and into how many folds they are divided. */
const MOST_ROWS = 5000;
const FOLDS = { few: 5, many: 3, manyRows: 2000 };
/** With `--quick`. */
const QUICK = { rows: 120, folds: 2 };

const PEERS: { readonly [system: string]: string } = {
  linear: "logistic regression",
  neighbours: "5 neighbours",
  forest: "random forest",
  boosting: "gradient boosting",
};

/** A table, and the folds that are the same for all methods. */
async function opened(name: string, seed: number, bench: Bench) {
  const path = join(dataFolder(bench.shelf.folder) ?? ".", "tables", `${name}.csv.gz`);
  const all = await loadData(path, { labelColumn: LABEL });
  const y = (all.y as Label[]).slice(0, bench.quick ? QUICK.rows : MOST_ROWS);
  const usual = y.length > FOLDS.manyRows ? FOLDS.many : FOLDS.few;
  const folds = stratifiedFolds(y, { folds: bench.quick ? QUICK.folds : usual, seed });
  return { path, all, y, folds };
}

/** A preset is trained on each fold's other rows, and judged by the answers to all rows together. */
const ours = (name: string, preset: Preset): AccuracyRow => ({
  name: rowOf(name, preset),
  runs: 1,
  measure: async (seed, bench) => {
    const { all, y, folds } = await opened(name, seed, bench);
    const found: Label[] = new Array(y.length);
    const figures: { [name: string]: number } = { rows: y.length, [`${preset}Cpu`]: 0 };
    let tally: ReliabilityTally | undefined;
    for (const { train: known, test } of folds) {
      const fit = await timed(() => train(part(all, y, known), { preset, seed, backend: bench.backend }));
      const asked = part(all, y, test);
      const { predicted, probabilities, classes } = await predictAll(fit.value.model, asked, bench);
      for (const [j, row] of test.entries()) found[row] = predicted[j] as Label;
      tally ??= new ReliabilityTally(classes as readonly Label[]);
      tally.add(asked.y as Labels, probabilities as Dense);
      figures[`${preset}Cpu`] += fit.cpu;
    }
    figures[preset] = accuracy(y as Labels, found);
    figures[`${preset}F1`] = f1(y as Labels, found, { average: "macro" });
    figures[`${preset}Error`] = (tally as ReliabilityTally).calibrationError();
    return figures;
  },
});

const peers = (name: string): AccuracyRow => ({
  name: rowOf(name, "peers"),
  runs: 1,
  measure: async (seed, bench) => {
    const { path, y, folds } = await opened(name, seed, bench);
    const job = { path, label: LABEL, rows: y.length, folds: folds.map(({ test }) => Array.from(test)), seed };
    const figures: { [name: string]: number } = {};
    for (const system of Object.keys(PEERS)) {
      const { figures: peer } = await measureInPython(bench.workshop, "table_peers.py", { ...job, system });
      figures[system] = peer.accuracy;
      figures[`${system}F1`] = peer.macroF1;
      figures[`${system}Error`] = peer.calibrationError;
      figures[`${system}Cpu`] = peer.cpu;
    }
    return figures;
  },
});

const rowOf = (name: string, what: string): string => `${name}, ${what}`;

type Rows = Extract<DataSet, { readonly form: "matrix" | "table" }>;

function part(all: DataSet, y: readonly Label[], rows: Uint32Array): Rows {
  const labels = gatherRows(y as Label[], rows);
  if (all.form === "table") return { ...all, table: all.table.gather(rows), y: labels };
  if (all.form === "matrix") return { ...all, x: all.x.gather(rows), y: labels };
  throw new Error(`expected a table, found ${all.form}`);
}

const METHODS: { readonly [figure: string]: string } = { balanced: "`balanced`", best: "`best`", ...PEERS };

export const dataTables: AccuracyTable = {
  name: "tables",
  title: "Tables of data",
  page: "TABLES.md",
  columns: {},
  rows: NAMES.flatMap((name) => [ours(name, "balanced"), peers(name), ours(name, "best")]),
  show(results) {
    const found = (name: string) =>
      this.rows.filter((row) => row.name.startsWith(`${name}, `)).map(results.find, results);
    const valueIn = (name: string, figure: string) =>
      found(name).reduce((value: number | undefined, row) => value ?? medianOf(row, figure), undefined);
    // Means are over the tables that a method was measured on, if these are all.
    const shown = NAMES.filter((name) => valueIn(name, "balanced") !== undefined);
    const mean = (figure: string) =>
      cell(shown.reduce((sum, name) => sum + (valueIn(name, figure) ?? Number.NaN), 0) / shown.length);
    const cell = (value: number | undefined) => (value === undefined || Number.isNaN(value) ? "–" : value.toFixed(4));
    const figures = Object.keys(METHODS);
    const titles = Object.values(METHODS);
    return [
      table(
        ["accuracy", "rows", ...titles],
        [
          ...shown.map((name) => [
            name,
            String(valueIn(name, "rows")),
            ...figures.map((figure) => cell(valueIn(name, figure))),
          ]),
          ["mean", "", ...figures.map(mean)],
        ],
      ),
      table(
        ["mean over tables", ...titles],
        [
          ["macro F1", ...figures.map((figure) => mean(`${figure}F1`))],
          ["calibration error", ...figures.map((figure) => mean(`${figure}Error`))],
          ["processor seconds of all fits", ...figures.map((figure) => mean(`${figure}Cpu`))],
        ],
      ),
    ].join("\n\n");
  },
};
