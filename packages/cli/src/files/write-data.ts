/** Data sets written to the output of a command: the ending of the name decides the format, .gz is packed, "-" is svmlight. */

import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { type DataSet, type WritableRows, writeBlocks, writeData, writeFormatOf } from "@ranksim/data";
import type { Io } from "../io.ts";
import { writeTo } from "./output.ts";

/** Writes a data set. An ending that names no format is refused before anything is written. */
export async function writeDataTo(path: string, data: DataSet, io: Io): Promise<void> {
  await writeChunks(path, writeData(data, formatFor(path)), io);
}

/** The same for rows that come in blocks. */
export async function writeBlocksTo(path: string, blocks: AsyncIterable<WritableRows>, io: Io): Promise<void> {
  await writeChunks(path, writeBlocks(blocks, formatFor(path)), io);
}

const formatFor = (path: string) => (path === "-" ? "svmlight" : writeFormatOf(path));

function writeChunks(path: string, chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>, io: Io): Promise<unknown> {
  return writeTo(path, /\.gz$/i.test(path) ? gzip(chunks) : chunks, io);
}

function gzip(chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return Readable.from(chunks).pipe(createGzip());
}
