/** Models with patches whose pooled values are bytes by limits of the test's choosing, however training would choose them. */

import { type ClassifierModel, type MatrixLike, type Model, PatchModel, PipelineModel } from "@ranksim/core";

/** The model with a limit for each layer of its patches; the filters after them stay as they are. */
export function withLimits(
  model: PipelineModel<MatrixLike, ClassifierModel>,
  limits: readonly number[],
): PipelineModel<MatrixLike, ClassifierModel> {
  const [patches, ...others] = model.steps as readonly Model[];
  const { shape, layers, scale, params, report } = patches as PatchModel;
  const limited = layers.map(({ bank, windows }, j) => ({ bank, windows: { ...windows, limit: limits[j] } }));
  const steps = [new PatchModel(shape, limited, scale, { ...params, bytes: true }, report), ...others];
  return new PipelineModel([...model.names], steps as never);
}

/** For one layer or two: from nothing but 0 and 255 to the largest sum. */
export const LIMITS: readonly (readonly number[])[] = [
  [1, 2],
  [37, 255],
  [256, 1000],
  [32_767, 32_767],
];
