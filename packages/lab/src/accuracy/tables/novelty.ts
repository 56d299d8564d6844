/** Rows of another kind: characters of KMNIST given to models of Fashion-MNIST, told apart by how novel they are. */

import { type ConformalModel, conformalOf, Dense, type Label, type Matrix, toDense } from "@ranksim/core";
import { type Preset, train } from "@ranksim/learn";
import type { AccuracyTable, Bench, Figures } from "../table.ts";

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

/** The values of each row in the other order: stands for other rows where there is but one data set. */
function reversed(x: Dense): Dense {
  return Dense.fromRows(Array.from({ length: x.rows }, (_, r) => Array.from(x.row(r)).reverse()));
}

export const novelty: AccuracyTable = {
  name: "novelty",
  title: "Rows of another kind",
  columns: {
    paper: "AUROC, paper",
    balanced: "AUROC, balanced",
    neighbour: "AUROC, nearest neighbour",
    known: "refused, Fashion-MNIST",
    novel: "refused, KMNIST",
  },
  rows: [{ name: "KMNIST among Fashion-MNIST", least: { balanced: "neighbour" }, measure }],
};
