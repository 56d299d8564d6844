/** The labels of a file that is read in blocks, of which nothing else stays: a column of any content is read as if it held the labels. */

import { type BlockOptions, readBlocks } from "./blocks.ts";
import type { RowLabels } from "./data-set.ts";
import { type InBlocks, LabelBlocks } from "./readers/label-blocks.ts";
import type { ByteSource } from "./source.ts";

/** Labels block by block, as they are written: whether words are numbers is known after the last. A file without any is left at once. */
export function writtenLabels(source: ByteSource, options: BlockOptions): AsyncGenerator<RowLabels> {
  return labelBlocksOf(source, options, new LabelBlocks());
}

/** All labels, with the types that they have where the file is read whole; undefined where it has none. */
export async function labelsInBlocks(source: ByteSource, options: BlockOptions): Promise<RowLabels | undefined> {
  const labels = new LabelBlocks();
  for await (const y of labelBlocksOf(source, options, labels)) labels.add(y);
  return labels.finish();
}

async function* labelBlocksOf(
  source: ByteSource,
  options: BlockOptions,
  labelBlocks: LabelBlocks,
): AsyncGenerator<RowLabels> {
  const reading: BlockOptions & InBlocks = { ...options, labelBlocks };
  for await (const { data } of readBlocks(source, reading)) {
    if (!data.y) return;
    yield data.y;
  }
}
