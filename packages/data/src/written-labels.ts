/** The labels of a file that is read in blocks, of which nothing else stays: a column of any content is read as if it held the labels. */

import { type BlockOptions, readBlocks } from "./blocks.ts";
import type { RowLabels } from "./data-set.ts";
import { type InBlocks, LabelBlocks } from "./readers/label-blocks.ts";
import type { ByteSource } from "./source.ts";

/** Labels block by block, as they are written: whether words are numbers is known after the last. A file without any is left at once. */
export async function* writtenLabels(
  source: ByteSource,
  options: BlockOptions,
  labels = new LabelBlocks(),
): AsyncGenerator<RowLabels> {
  const reading: BlockOptions & InBlocks = { ...options, labelBlocks: labels };
  for await (const { data } of readBlocks(source, reading)) {
    if (!data.y) return;
    yield data.y;
  }
}

/** All labels, with the types that they have where the file is read whole; undefined where it has none. */
export async function labelsInBlocks(source: ByteSource, options: BlockOptions): Promise<RowLabels | undefined> {
  const labels = new LabelBlocks();
  for await (const y of writtenLabels(source, options, labels)) labels.add(y);
  return labels.finish();
}
