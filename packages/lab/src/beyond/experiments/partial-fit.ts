/** Ten parts of Fashion-MNIST, one after the other, against all rows at once. */

import { type ClassifierModel, f1, type Label, type Labels, RankSimilarityClassifier } from "@ranksim/core";
import { median } from "../../bench/results.ts";
import { type Experiment, type Figures, figuresOf, timed } from "../experiment.ts";

const SHARDS = 10;
const WITHIN = 0.01;

export const partialFit: Experiment = {
  name: "partial-fit",
  title: "Rows that come later",
  about:
    "Fashion-MNIST, 1,000 filters. Ten parts (row r goes to part r mod 10): `fit` on the first, `partialFit` for each of the others, without the original rows. Test macro F1.",
  columns: [
    { figure: "one", title: "one fit" },
    { figure: "shards", title: "ten parts" },
    { figure: "oneCpu", title: "one fit, s" },
    { figure: "shardsCpu", title: "ten parts, s" },
  ],
  measure: async (seed, { shelf, backend, quick }): Promise<Figures> => {
    const [train, test] = quick
      ? [await shelf.numbers("digits:train"), await shelf.numbers("digits:test")]
      : [await shelf.numbers("fashion-mnist:train"), await shelf.numbers("fashion-mnist:test")];
    const estimator = new RankSimilarityClassifier({ filters: quick ? 50 : 1000, seed, keepSums: true });
    const run = { backend };
    const judge = async (model: ClassifierModel) =>
      f1(test.y as Labels, (await model.predict(test.x, run)) as Labels, { average: "macro" });
    const one = await timed(() => estimator.fit(train.x, train.y, run));
    const grown = await timed(async () => {
      let model: ClassifierModel | undefined;
      for (let shard = 0; shard < SHARDS; shard++) {
        const rows: number[] = [];
        for (let r = shard; r < train.x.rows; r += SHARDS) rows.push(r);
        const x = train.x.gather(rows);
        const y: Label[] = rows.map((r) => train.y[r]);
        model = model ? await model.partialFit(x, y, run) : await estimator.fit(x, y, run);
      }
      return model as ClassifierModel;
    });
    return {
      one: await judge(one.value),
      shards: await judge(grown.value),
      oneCpu: one.cpu,
      shardsCpu: grown.cpu,
    };
  },
  targets: (runs) => {
    const loss = median(figuresOf(runs, "one").map((one, j) => one - figuresOf(runs, "shards")[j])) ?? Number.NaN;
    const measured = `${loss.toFixed(4)} lower`;
    return [
      { name: "ten parts within 0.01 macro F1 of one fit", wanted: `≤ ${WITHIN}`, measured, met: loss <= WITHIN },
    ];
  },
};
