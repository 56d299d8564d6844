/** Data sets to files. */

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { DataSet } from "../data-set.ts";
import { type WriteFormat, writeData, writeFormatOf } from "../write.ts";
import { writeWhole } from "./write-whole.ts";

/** Writes a data set; the format is given or taken from the path's ending, and a path that ends in .gz is packed. Old or new, never half. */
export async function saveData(path: string, data: DataSet, format: WriteFormat = writeFormatOf(path)): Promise<void> {
  const plain = writeData(data, format);
  await writeWhole(path, /\.gz$/i.test(path) ? gzip(plain) : plain);
}

async function* gzip(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const packed = createGzip();
  const written = pipeline(Readable.from(chunks), packed);
  // A failure also ends the loop below; it is to be thrown once.
  written.catch(() => undefined);
  yield* packed as AsyncIterable<Uint8Array>;
  await written;
}
