/** Ten parts of Fashion-MNIST, one after the other, against all rows at once. */

import { type ClassifierModel, type Label, type Labels, RankSimilarityClassifier } from "@ranksim/core";
import { f1 } from "@ranksim/learn";
import { timed } from "../../runner/stopwatch.ts";
import type { AccuracyTable } from "../table.ts";

const SHARDS = 10;

export const partialFit: AccuracyTable = {
  name: "partial-fit",
  title: "Rows that come later",
  columns: {
    one: "one fit",
    shards: "ten parts",
    lower: "how much lower",
    oneCpu: "one fit, s",
    shardsCpu: "ten parts, s",
  },
  rows: [
    {
      name: "Fashion-MNIST in ten parts",
      most: { lower: 0.01 },
      measure: async (seed, { shelf, backend, quick }) => {
        const set = quick ? "digits" : "fashion-mnist";
        const [train, test] = [await shelf.numbers(`${set}:train`), await shelf.numbers(`${set}:test`)];
        const estimator = new RankSimilarityClassifier({ filters: quick ? 50 : 1000, seed, keepSums: true });
        const run = { backend };
        const judge = async (model: ClassifierModel) =>
          f1(test.y as Labels, (await model.predict(test.x, run)) as Labels, { average: "macro" });
        const whole = await timed(() => estimator.fit(train.x, train.y, run));
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
        const [one, shards] = [await judge(whole.value), await judge(grown.value)];
        return { one, shards, lower: one - shards, oneCpu: whole.cpu, shardsCpu: grown.cpu };
      },
    },
  ],
};
