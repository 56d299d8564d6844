/** One filter a class for 20 Newsgroups: what weights of words and Savage scores bring. */

import { type Labels, RankSimilarityClassifier } from "@ranksim/core";
import { TfidfVectorizer } from "@ranksim/data";
import { f1 } from "@ranksim/learn";
import { timed } from "../../runner/stopwatch.ts";
import type { AccuracyTable, Figures } from "../table.ts";

const WORDS = 10_000;
const REMOVED = { remove: ["headers", "footers", "quotes"] } as const;

export const newsgroups: AccuracyTable = {
  name: "newsgroups",
  title: "One filter a class for text",
  columns: {
    usualRank: "tf-idf, ranks",
    rank: "weighted, ranks",
    usualSavage: "tf-idf, Savage",
    savage: "weighted, Savage",
    fitCpu: "fit, s",
    predictCpu: "predict, s",
  },
  rows: [
    {
      name: "20 Newsgroups, one filter a class",
      least: { savage: 0.68 },
      measure: async (seed, { shelf, backend, quick }): Promise<Figures> => {
        const part = async (name: string) => {
          const { text, y } = await shelf.text(`20newsgroups:${name}`, REMOVED);
          const every = quick ? 25 : 1; // rows come class by class
          return { text: text.filter((_, r) => r % every === 0), y: y.filter((_, r) => r % every === 0) as Labels };
        };
        const [train, test] = [await part("train"), await part("test")];
        const figures: Record<string, number> = {};
        for (const usual of [true, false]) {
          const weighting = usual ? {} : { logTf: true, idfPower: 2 };
          const words = await new TfidfVectorizer({ maxFeatures: WORDS, ...weighting }).fit(train.text);
          const [x, unseen] = [await words.transform(train.text), await words.transform(test.text)];
          for (const distribution of ["rank", "savage"] as const) {
            const recipe = new RankSimilarityClassifier({ filters: 20, classWeight: "uniform", distribution, seed });
            const fit = await timed(() => recipe.fit(x, train.y, { backend }));
            const predict = await timed(() => fit.value.predict(unseen, { backend }));
            const name = usual ? `usual${distribution === "rank" ? "Rank" : "Savage"}` : distribution;
            figures[name] = f1(test.y, predict.value, { average: "macro" });
            figures.fitCpu = fit.cpu;
            figures.predictCpu = predict.cpu;
          }
        }
        return figures;
      },
    },
  ],
};
