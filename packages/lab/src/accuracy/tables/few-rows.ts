/** Few rows: those that probabilities are fitted on left out of training, or trained on as well. Training rows and drawn tables only. */

import type { Label, Labels, PredictingModel } from "@ranksim/core";
import type { DataSet } from "@ranksim/data";
import { calibrationError, train } from "@ranksim/learn";
import { timed } from "../../runner/stopwatch.ts";
import type { AccuracyRow, AccuracyTable, Bench } from "../table.ts";
import { drawTable } from "./draw-table.ts";

const SIZES = [500, 2000, 5000, 10_000];
const QUICK_SIZE = 250;
const JUDGED = 2000;
const TABLES = 12;
/** Plain numbers are trained in one bank of 30 filters a class, where the preset has five of 15. */
const ONE_BANK = 300;
const KINDS = { images: "images", numbers: "the same as plain numbers, one bank", tables: "drawn tables" };
/** What is done with the rows that probabilities are fitted on, and what its figures are called. */
const WAYS = { "": undefined, Again: "drawn" };

type Numbers = DataSet & { readonly form: "matrix" };

/** Rows to train on and rows to judge by. */
interface Parts {
  readonly known: Numbers;
  readonly asked: Numbers;
}

async function* partsOf(kind: string, rows: number, seed: number, { shelf, quick }: Bench): AsyncGenerator<Parts> {
  const judged = quick ? 100 : JUDGED;
  if (kind === "tables") {
    for (let number = TABLES * seed; number < TABLES * seed + (quick ? 1 : TABLES); number++) {
      const { x, y } = drawTable(number, rows + judged);
      yield cut({ form: "matrix", x, y }, 0, rows, rows, judged);
    }
    return;
  }
  for (const name of quick ? ["digits"] : ["fashion-mnist", "kmnist"]) {
    const { x, y } = await shelf.numbers(`${name}:train`);
    const side = Math.sqrt(x.features);
    const shape = kind === "images" ? { imageSize: { width: side, height: side } } : {};
    yield cut(
      { form: "matrix", x, y: y as Label[], ...shape },
      quick ? 0 : 10_000 * seed,
      rows,
      x.rows - judged,
      judged,
    );
  }
}

function cut(all: Numbers, from: number, rows: number, judgedFrom: number, judged: number): Parts {
  const of = (first: number, count: number) => ({
    ...all,
    x: all.x.slice(first, first + count),
    y: all.y?.slice(first, first + count) as Label[],
  });
  return { known: of(from, rows), asked: of(judgedFrom, judged) };
}

function fewRowsOf(kind: keyof typeof KINDS, rows: number): AccuracyRow {
  return {
    name: `${KINDS[kind]}, ${rows.toLocaleString("en-US")} rows`,
    measure: async (seed, bench) => {
      const { backend, quick } = bench;
      const figures: { [name: string]: number } = {};
      const known = quick ? QUICK_SIZE : rows;
      for (const [way, calibrateOn] of Object.entries(WAYS)) {
        const sums = { right: 0, error: 0, cpu: 0 };
        let count = 0;
        for await (const { known: seen, asked } of partsOf(kind, known, seed, bench)) {
          const bank = kind === "numbers" ? { filters: Math.min(ONE_BANK, known / 2), committee: 1 } : {};
          const params = { ...bank, calibrate: "temperature", calibrateOn };
          const fit = await timed(() => train(seen, { seed, params, backend }));
          const model = fit.value.model as unknown as PredictingModel;
          const probabilities = await model.predictProbabilities?.(asked.x, { backend });
          const y = asked.y as Labels;
          sums.right += await model.score(asked.x, y, { backend });
          sums.error += probabilities ? calibrationError(y, probabilities, model.classes) : Number.NaN;
          sums.cpu += fit.cpu;
          count++;
        }
        figures[`right${way}`] = sums.right / count;
        figures[`error${way}`] = sums.error / count;
        figures[`fit${way}Cpu`] = sums.cpu / count;
      }
      return figures;
    },
  };
}

export const fewRows: AccuracyTable = {
  name: "few-rows",
  title: "Few rows",
  columns: {
    right: "accuracy, left out",
    rightAgain: "trained on",
    error: "calibration error, left out",
    errorAgain: "trained on",
    fitCpu: "fit, s, left out",
    fitAgainCpu: "trained on",
  },
  rows: (Object.keys(KINDS) as (keyof typeof KINDS)[]).flatMap((kind) => SIZES.map((rows) => fewRowsOf(kind, rows))),
};
