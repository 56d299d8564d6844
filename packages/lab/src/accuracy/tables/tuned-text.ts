/** What `tune` chooses for 20 Newsgroups on the training texts alone, judged once on the test texts. */

import { type Labels, Pipeline, type PredictingModel, RankSimilarityClassifier } from "@ranksim/core";
import { TfidfVectorizer } from "@ranksim/data";
import { f1, tune } from "@ranksim/learn";
import { timed } from "../../runner/stopwatch.ts";
import type { AccuracyTable, Figures } from "../table.ts";

type Texts = readonly string[];

export const tunedText: AccuracyTable = {
  name: "tuned-text",
  title: "Tuning on text",
  columns: {
    usual: "tf-idf and defaults",
    tuned: "tuned",
    filters: "filters chosen",
    tuneCpu: "tuning, s",
  },
  rows: [
    {
      name: "20 Newsgroups, tuned",
      least: { tuned: 0.68 },
      measure: async (seed, { shelf, backend, quick }): Promise<Figures> => {
        const remove = { remove: ["headers", "footers", "quotes"] } as const;
        const part = async (name: string) => {
          const { text, y } = await shelf.text(`20newsgroups:${name}`, remove);
          const every = quick ? 25 : 1; // rows come class by class
          const some = <T>(list: readonly T[]) => list.filter((_, r) => r % every === 0);
          return { text: some(text), y: some(y) };
        };
        const [train, test] = [await part("train"), await part("test")];
        const usual = new Pipeline<Texts, PredictingModel>([
          ["words", new TfidfVectorizer({ maxFeatures: 10_000 })],
          ["classify", new RankSimilarityClassifier({ seed })],
        ]);
        const run = { backend };
        const judge = async (model: { predict(x: Texts, run?: object): Promise<unknown[]> }) =>
          f1(test.y as Labels, (await model.predict(test.text, run)) as Labels, { average: "macro" });
        const tuning = await timed(() =>
          tune(usual as never, train.text, train.y as Labels, { scoring: "f1Macro", seed, ...run }),
        );
        const { estimator } = tuning.value.best;
        const chosen = await estimator.fit(train.text as never, train.y as Labels, run);
        const last = (chosen as unknown as { steps: { bank: { filters: number } }[] }).steps[1];
        return {
          usual: await judge((await usual.fit(train.text, train.y as Labels, run)) as never),
          tuned: await judge(chosen as never),
          filters: last.bank.filters,
          tuneCpu: tuning.cpu,
        };
      },
    },
  ],
};
