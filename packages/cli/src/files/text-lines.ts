/** Plain text with one document on each line: what people pipe into a command. */

import { RanksimError } from "@ranksim/core";
import type { ByteSource, ReadDataOptions, TextData } from "@ranksim/data";

/** Reads the lines of a source as texts; the last one may lack its end. Empty lines inside are documents too. */
export async function readTextLines(source: ByteSource, { encoding }: ReadDataOptions): Promise<TextData> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source.stream()) chunks.push(chunk);
  const text = new TextDecoder(encoding ?? "utf-8").decode(Buffer.concat(chunks));
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  if (lines.length === 0)
    throw new RanksimError("empty-input", `${source.name}: expected a text on each line, found nothing`);
  return { form: "text", text: lines };
}
