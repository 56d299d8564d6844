/** Rows written to the output of a command: the ending of the name decides the format, .gz is packed, "-" is svmlight. */

import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { type WritableRows, writeBlocks, writeFormatOf } from "@ranksim/data";
import type { Io } from "../io.ts";
import { writeTo } from "./output.ts";

/** Writes rows that come in blocks, or all at once as one. An ending that names no format is refused before anything is written. */
export async function writeBlocksTo(
  path: string,
  blocks: Iterable<WritableRows> | AsyncIterable<WritableRows>,
  io: Io,
): Promise<void> {
  const chunks = writeBlocks(blocks, path === "-" ? "svmlight" : writeFormatOf(path));
  await writeTo(path, /\.gz$/i.test(path) ? Readable.from(chunks).pipe(createGzip()) : chunks, io);
}
