/**
 * Undoes Zstandard, frame by frame: the decoder neither checks the sum of a frame's content nor its size. Both are checked here, where the
 * frame has them.
 */

import { asBadFile } from "./bad-file.ts";
import { isEndless, readFrameHeader, SKIPPABLE } from "./readers/zstd.ts";
import { Xxh64 } from "./xxh64.ts";

const MAGIC = 0xfd2fb528;
const REPEATED = 1;
const COMPRESSED = 2;
/** Bytes that the header of a frame has at most. */
const MOST_HEADER = 18;
const MOST_BLOCK = 2 ** 17;

/** Whether bytes begin as Zstandard does. */
export const isZstd = (head: Uint8Array): boolean => head.byteLength >= 4 && uint32(head) === MAGIC;

const uint32 = (bytes: Uint8Array): number => new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);

/** Undoes Zstandard; the decoder is fetched only by those who have some. A window beyond 128 MiB is refused. */
export async function* unzstd(name: string, stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const input = new Input(stream);
  try {
    const { Decompress } = await import("fzstd");
    for (let start = await input.upTo(4); start.byteLength > 0; start = await input.upTo(4)) {
      if (start.byteLength < 4) throw new Error(`expected the start of a frame, found ${start.byteLength} bytes`);
      if ((uint32(start) & 0xfffffff0) === SKIPPABLE) await input.skip(uint32(await input.exactly(4)));
      else if (uint32(start) === MAGIC) yield* unpacked(input, Decompress);
      else throw new Error("expected another frame or the end of the file, found other bytes");
    }
  } catch (error) {
    throw asBadFile(name, "Zstandard", error);
  } finally {
    await input.close();
  }
}

type Decoder = typeof import("fzstd").Decompress;

/** The content of one frame, of which the first four bytes are read. */
async function* unpacked(input: Input, Decompress: Decoder): AsyncGenerator<Uint8Array> {
  const descriptor = await input.exactly(1);
  const head = new Uint8Array(MOST_HEADER);
  new DataView(head.buffer).setUint32(0, MAGIC, true);
  head.set(descriptor, 4);
  const { length, size, hasSum } = readFrameHeader(head, 0);
  head.set(await input.exactly(length - 5), 5);
  const { size: claim } = readFrameHeader(head, 0);
  const ready: Uint8Array[] = [];
  const decoder = new Decompress((chunk) => ready.push(chunk));
  const sum = hasSum ? new Xxh64() : undefined;
  decoder.push(head.slice(0, length));
  let total = 0;
  for (let isLast = false; !isLast; ) {
    const header = await input.exactly(3);
    const block = header[0] | (header[1] << 8) | (header[2] << 16);
    const [kind, blockSize] = [(block >> 1) & 3, block >>> 3];
    isLast = (block & 1) === 1;
    if (kind > COMPRESSED || (kind === COMPRESSED && blockSize > MOST_BLOCK))
      throw new Error("expected a block, found none");
    const content = await input.exactly(kind === REPEATED ? 1 : blockSize);
    if (kind === COMPRESSED && isEndless(content, 0)) throw new Error("expected the weights of a code, found only one");
    decoder.push(header);
    decoder.push(content);
    const stored = isLast && hasSum ? await input.exactly(4) : new Uint8Array(0);
    if (isLast) decoder.push(stored, true);
    for (const chunk of ready.splice(0)) {
      sum?.update(chunk);
      total += chunk.byteLength;
      if (chunk.byteLength > 0) yield chunk;
    }
    if (isLast && sum && uint32(stored) !== sum.low)
      throw new Error("it is damaged: its check sum is that of other bytes");
  }
  if (size !== undefined && total !== claim) throw new Error(`expected a frame of ${claim} bytes, found ${total}`);
}

/** Bytes of a stream, as many as are asked for. */
class Input {
  readonly #iterator: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#iterator = stream[Symbol.asyncIterator]();
  }

  /** The next bytes; fewer at the end of the stream. */
  async upTo(count: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(count);
    let length = 0;
    while (length < count && (await this.#fill())) {
      const part = this.#rest.subarray(0, count - length);
      bytes.set(part, length);
      length += part.byteLength;
      this.#rest = this.#rest.subarray(part.byteLength);
    }
    return bytes.subarray(0, length);
  }

  async exactly(count: number): Promise<Uint8Array> {
    const bytes = await this.upTo(count);
    if (bytes.byteLength === count) return bytes;
    throw new Error(`expected ${count} more bytes, found ${bytes.byteLength}: the file is cut off`);
  }

  async skip(count: number): Promise<void> {
    for (let left = count; left > 0; ) {
      if (!(await this.#fill()))
        throw new Error(`expected ${left} more bytes to skip, found none: the file is cut off`);
      const length = Math.min(left, this.#rest.byteLength);
      this.#rest = this.#rest.subarray(length);
      left -= length;
    }
  }

  async close(): Promise<void> {
    await this.#iterator.return?.();
  }

  /** Whether there are more bytes. */
  async #fill(): Promise<boolean> {
    while (this.#rest.byteLength === 0) {
      const { done, value } = await this.#iterator.next();
      if (done) return false;
      this.#rest = value;
    }
    return true;
  }
}
