/** The digits in ten folds: the preset, the paper's plain method and one nearest neighbour, on the same folds. */

import type { Dense, Label, PredictingModel } from "@ranksim/core";
import { loadDigits } from "@ranksim/data";
import { accuracy, type Preset, stratifiedFolds, train } from "@ranksim/learn";
import type { AccuracyTable, Bench, Figures } from "../table.ts";

const FOLDS = 10;

/** The label of the nearest training row by squared distance, the first of equals. */
function nearest(known: Dense, labels: readonly Label[], asked: Dense): Label[] {
  return Array.from({ length: asked.rows }, (_, r) => {
    const row = asked.row(r);
    let best = { distance: Number.POSITIVE_INFINITY, label: labels[0] };
    for (let t = 0; t < known.rows; t++) {
      const other = known.row(t);
      let distance = 0;
      for (let i = 0; i < row.length && distance < best.distance; i++) distance += (row[i] - other[i]) ** 2;
      if (distance < best.distance) best = { distance, label: labels[t] };
    }
    return best.label;
  });
}

async function measure(seed: number, { backend, quick }: Bench): Promise<Figures> {
  const digits = await loadDigits();
  const rows = quick ? 300 : digits.x.rows;
  const [x, y] = [digits.x.slice(0, rows), digits.y.slice(0, rows)];
  const answers: { [method: string]: Label[] } = { balanced: [], paper: [], neighbour: [] };
  const truth: Label[] = [];
  for (const fold of stratifiedFolds(y, { folds: FOLDS, seed })) {
    const of = (list: Uint32Array) => ({ x: x.gather(list), y: Array.from(list, (r) => y[r]) });
    const [seen, asked] = [of(fold.train), of(fold.test)];
    truth.push(...asked.y);
    for (const preset of ["balanced", "paper"] satisfies Preset[]) {
      const data = { form: "matrix" as const, ...seen, imageSize: digits.imageSize };
      const { model } = await train(data, { preset, seed, backend });
      answers[preset].push(...((await (model as unknown as PredictingModel).predict(asked.x, { backend })) as Label[]));
    }
    answers.neighbour.push(...nearest(seen.x, seen.y, asked.x));
  }
  return Object.fromEntries(Object.entries(answers).map(([method, found]) => [method, accuracy(truth, found)]));
}

export const digitsFolds: AccuracyTable = {
  name: "digits-folds",
  title: "Digits in ten folds",
  columns: { balanced: "balanced", paper: "paper", neighbour: "1 nearest neighbour" },
  rows: [{ name: "Digits, ten folds", least: { balanced: "neighbour" }, most: { paper: "balanced" }, measure }],
};
