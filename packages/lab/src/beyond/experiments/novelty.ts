/** Rows of another world: characters of KMNIST given to models of Fashion-MNIST, told apart by how novel they are. */

import { type ConformalModel, conformalOf, Dense, type Label, type Matrix, toDense } from "@ranksim/core";
import { type Preset, train } from "@ranksim/data";
import { median } from "../../bench/results.ts";
import { type Bench, type Experiment, type Figures, figuresOf } from "../experiment.ts";

/** Training rows, rows held out to know what is usual, and rows asked of each kind; of the training rows, those that are neighbours. */
const SIZES = { train: 20_000, held: 2_000, asked: 1_000, neighbours: 10_000 };
const QUICK = { train: 700, held: 200, asked: 100, neighbours: 300 };
const REJECT = 0.05;

/** The probability that a known row is told from a novel one: the share of pairs in which the novel row scores more. */
function auroc(known: ArrayLike<number>, novel: ArrayLike<number>): number {
  const sorted = Float64Array.from(known).sort();
  let sum = 0;
  for (let r = 0; r < novel.length; r++) {
    // Pairs of equal scores count half.
    sum += (below(sorted, novel[r], false) + below(sorted, novel[r], true)) / 2;
  }
  return sum / (known.length * novel.length);
}

/** How many of ascending values are less than a value, or at most it. */
function below(sorted: Float64Array, value: number, orEqual: boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value || (orEqual && sorted[middle] === value)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Squared distance to the nearest of the training rows. */
function distances(rows: Dense, training: Dense): Float64Array {
  return Float64Array.from({ length: rows.rows }, (_, r) => {
    const row = rows.row(r);
    let nearest = Number.POSITIVE_INFINITY;
    for (let t = 0; t < training.rows; t++) {
      const other = training.row(t);
      let sum = 0;
      for (let i = 0; i < row.length && sum < nearest; i++) sum += (row[i] - other[i]) ** 2;
      nearest = Math.min(nearest, sum);
    }
    return nearest;
  });
}

async function measure(seed: number, { shelf, backend, quick }: Bench): Promise<Figures> {
  const sizes = quick ? QUICK : SIZES;
  const own = quick ? "digits" : "fashion-mnist";
  const [seen, test] = [await shelf.numbers(`${own}:train`), await shelf.numbers(`${own}:test`)];
  const known = toDense(test.x.slice(0, sizes.asked));
  const novel = quick ? reversed(known) : toDense((await shelf.numbers("kmnist:test")).x.slice(0, sizes.asked));
  const part = (from: number, to: number) => ({ x: seen.x.slice(from, to), y: seen.y.slice(from, to) });
  const [fitted, held] = [part(0, sizes.train), part(sizes.train, sizes.train + sizes.held)];
  const side = Math.sqrt(seen.x.features);
  const imageSize = { width: side, height: side };
  const run = { backend };
  const ask = async (preset: Preset) => {
    const { model } = await train({ form: "matrix", ...fitted, imageSize }, { preset, seed, ...run });
    const told = (await conformalOf(model as never, held.x, held.y as Label[], run)) as ConformalModel<Matrix>;
    const [a, b] = [await told.novelty(known, run), await told.novelty(novel, run)];
    const refused = (scores: Float64Array) => scores.filter((score) => score > 1 - REJECT).length / scores.length;
    return { auroc: auroc(a, b), known: refused(a), novel: refused(b) };
  };
  const [paper, balanced] = [await ask("paper"), await ask("balanced")];
  const training = toDense(seen.x.slice(0, sizes.neighbours));
  return {
    paper: paper.auroc,
    balanced: balanced.auroc,
    neighbour: auroc(distances(known, training), distances(novel, training)),
    known: balanced.known,
    novel: balanced.novel,
  };
}

/** The values of each row in the other order: stands for another world where there is but one data set. */
function reversed(x: Dense): Dense {
  return Dense.fromRows(Array.from({ length: x.rows }, (_, r) => Array.from(x.row(r)).reverse()));
}

export const novelty: Experiment = {
  name: "novelty",
  title: "Rows of another world",
  about: `Models of 20,000 Fashion-MNIST images asked about 1,000 test images of Fashion-MNIST and 1,000 of KMNIST. AUROC of the novelty of a row (\`novelty\`, deviation 35, from 2,000 further training rows), for the presets paper and balanced, beside the distance to the nearest of 10,000 training rows. Refused: rows that \`predict(x, { reject: ${REJECT} })\` gives no class, preset balanced. The score was chosen on training rows of both sets.`,
  columns: [
    { figure: "paper", title: "AUROC, paper" },
    { figure: "balanced", title: "AUROC, balanced" },
    { figure: "neighbour", title: "AUROC, nearest neighbour" },
    { figure: "known", title: "refused, Fashion-MNIST" },
    { figure: "novel", title: "refused, KMNIST" },
  ],
  measure,
  targets: (runs) => {
    const middle = (figure: string) => median(figuresOf(runs, figure)) ?? Number.NaN;
    return [
      {
        name: "AUROC of the balanced preset, beside the nearest neighbour's",
        wanted: `≥ ${middle("neighbour").toFixed(4)}`,
        measured: middle("balanced").toFixed(4),
        met: middle("balanced") >= middle("neighbour"),
      },
    ];
  },
};
