/** Tables that everybody knows: the encoder with filters that vote does as well as scaled nearest neighbours, on the same folds. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Dense, type Label, Pipeline, RankSimilarityClassifier, StandardScaler } from "@ranksim/core";
import { bytesSource, type MatrixData, readData, TableEncoder, type TableLike } from "@ranksim/data";
import { describe, expect, test } from "vitest";
import { pythonHas, runPython, scratch } from "../../../data/test/python.ts";
import { stratifiedFolds, TABLE_VOTERS } from "../../src/index.ts";

const hasSets = pythonHas("sklearn");

describe.skipIf(!hasSets)("in ten folds", () => {
  test.each(["iris", "wine", "breast_cancer"])("%s", async (name) => {
    const folder = scratch();
    const script = `import numpy as np
from sklearn import datasets
d = datasets.load_${name}()
np.savetxt("t.csv", np.column_stack([d.data, d.target]), delimiter=",", fmt="%.17g")`;
    runPython(folder, script);
    const bytes = readFileSync(join(folder, "t.csv"));
    const { x, y } = (await readData(bytesSource(bytes, "t.csv"), { labelColumn: -1 })) as MatrixData;
    const labels = y as readonly Label[];
    const pipeline = new Pipeline<TableLike, never>([
      new TableEncoder(),
      new RankSimilarityClassifier({ voters: TABLE_VOTERS }),
    ] as never);
    let [ours, theirs] = [0, 0];
    for (const { train, test: rest } of stratifiedFolds(labels, { folds: 10 })) {
      const known = Array.from(train, (r) => labels[r]);
      const model = (await pipeline.fit(x.gather(train), known)) as unknown as {
        predict(x: TableLike): Promise<Label[]>;
      };
      const predicted = await model.predict(x.gather(rest));
      const scaler = await new StandardScaler().fit(x.gather(train));
      const scaled = (await scaler.transform(x.gather(train))) as Dense;
      const asked = (await scaler.transform(x.gather(rest))) as Dense;
      rest.forEach((r, i) => {
        if (predicted[i] === labels[r]) ours++;
        if (neighbours(scaled, known, asked.row(i) as Float64Array) === labels[r]) theirs++;
      });
    }
    expect(ours / x.rows).toBeGreaterThanOrEqual(theirs / x.rows - 0.01);
  });
});

/** The label that most of the 5 nearest rows have; of equals the one that comes first. */
function neighbours(x: Dense, labels: readonly Label[], row: Float64Array): Label {
  const distance = Array.from({ length: x.rows }, (_, r) =>
    Array.from(x.row(r)).reduce((sum, value, i) => sum + (value - row[i]) ** 2, 0),
  );
  const nearest = distance
    .map((_, r) => r)
    .sort((a, b) => distance[a] - distance[b])
    .slice(0, 5);
  const counts = new Map<Label, number>();
  for (const r of nearest) counts.set(labels[r], (counts.get(labels[r]) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))[0][0];
}
