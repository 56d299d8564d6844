/** Processor time that grows with the classes, and not with their square. */

import { expect, test } from "vitest";
import { Dense, loadModel, RankSimilarityClassifier, saveModel } from "../../src/index.ts";

test("100,000 classes of one row each are trained, saved and loaded in a minute", async () => {
  const classes = 100_000;
  const x = Dense.of(
    Uint8Array.from({ length: 8 * classes }, (_, i) => (i * 16_807) % 199),
    classes,
    8,
  );
  const y = Array.from({ length: classes }, (_, r) => `class ${r}`);
  const began = process.cpuUsage();
  const model = await new RankSimilarityClassifier({ filters: "auto" }).fit(x, y);
  expect(loadModel(saveModel(model)).kind).toBe("classifier");
  const { user, system } = process.cpuUsage(began);
  expect(model.classes).toHaveLength(classes);
  expect((user + system) / 1e6).toBeLessThan(60);
}, 300_000);
