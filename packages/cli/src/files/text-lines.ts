/** Plain text with one document on each line: what people pipe into a command. */

import { type ByteSource, type ReadDataOptions, readTextBlocks, type TextData } from "@ranksim/data";

/** Reads the lines of a source as texts. */
export async function readTextLines(source: ByteSource, { encoding }: ReadDataOptions): Promise<TextData> {
  const text: string[] = [];
  for await (const { data } of readTextBlocks(source, encoding)) {
    for (const line of (data as TextData).text) text.push(line);
  }
  return { form: "text", text };
}
