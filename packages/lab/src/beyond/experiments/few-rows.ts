/** Few rows: those that probabilities are fitted on left out of training, or trained on as well. Training rows and drawn tables only. */

import { calibrationError, type Label, type Labels, type PredictingModel } from "@ranksim/core";
import { type DataSet, train } from "@ranksim/data";
import { median } from "../../bench/results.ts";
import { table } from "../../bench/show.ts";
import { drawTable } from "../../tables/draw-table.ts";
import { type Bench, type Experiment, type Figures, figuresOf, timed } from "../experiment.ts";

const SIZES = [500, 2000, 5000, 10_000];
const QUICK_SIZE = 250;
const JUDGED = 2000;
const TABLES = 12;
/** Plain numbers are trained in one bank of 30 filters a class, where the preset has five of 15. */
const ONE_BANK = 300;
const KINDS = { images: "images", numbers: "the same as plain numbers, one bank", tables: "drawn tables" };
const WAYS = { left: {}, again: { calibrateOn: "drawn" } };

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

async function measure(seed: number, bench: Bench): Promise<Figures> {
  const figures: { [name: string]: number } = {};
  for (const kind of Object.keys(KINDS)) {
    for (const rows of bench.quick ? [QUICK_SIZE] : SIZES) {
      for (const [way, on] of Object.entries(WAYS)) {
        const sums = { right: 0, error: 0, cpu: 0 };
        let count = 0;
        for await (const { known, asked } of partsOf(kind, rows, seed, bench)) {
          const bank = kind === "numbers" ? { filters: Math.min(ONE_BANK, rows / 2), committee: 1 } : {};
          const params = { ...bank, calibrate: "temperature", calibrateOn: undefined, ...on };
          const fit = await timed(() => train(known, { seed, params, backend: bench.backend }));
          const model = fit.value.model as unknown as PredictingModel;
          const { x, y } = asked;
          const probabilities = await model.predictProbabilities?.(x, { backend: bench.backend });
          sums.right += await model.score(x, y as Labels, { backend: bench.backend });
          sums.error += probabilities ? calibrationError(y as Labels, probabilities, model.classes) : Number.NaN;
          sums.cpu += fit.cpu;
          count++;
        }
        for (const [name, sum] of Object.entries(sums)) figures[`${kind}${rows}${way}${name}`] = sum / count;
      }
    }
  }
  return figures;
}

const sizesIn = (runs: readonly Figures[]): number[] =>
  [QUICK_SIZE, ...SIZES].filter((rows) => figuresOf(runs, `images${rows}leftright`).length > 0);

export const fewRows: Experiment = {
  name: "few-rows",
  title: "Few rows",
  about: `Whether the rows that fit probabilities are left out of training, or trained on as well by a second fit (\`calibrateOn: "drawn"\`). \`balanced\`, trained on some training rows of Fashion-MNIST and KMNIST and judged by their last ${JUDGED}, as images and as plain numbers, and on drawn tables; no test rows. Presets train again with at most 10,000 rows, and on any table.`,
  columns: [],
  measure,
  show: (runs) => {
    const middle = (name: string) => median(figuresOf(runs, name)) ?? Number.NaN;
    const lines = Object.entries(KINDS).flatMap(([kind, title]) =>
      sizesIn(runs).map((rows) => {
        const both = (name: string, digits: number) =>
          Object.keys(WAYS).map((way) => middle(`${kind}${rows}${way}${name}`).toFixed(digits));
        return [title, String(rows), ...both("right", 4), ...both("error", 4), ...both("cpu", 2)];
      }),
    );
    const ways = (what: string) => [`${what}, left out`, "trained on"];
    return table(["rows of", "rows", ...ways("accuracy"), ...ways("calibration error"), ...ways("fit, s")], lines);
  },
  targets: () => [],
};
