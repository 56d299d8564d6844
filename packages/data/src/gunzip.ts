/** Undoes gzip. A file may have several members, as bgzip and `cat a.gz b.gz` make them, and zeros after the last one. */

import { asBadFile } from "./bad-file.ts";
import { readStream } from "./read-stream.ts";

/** Bytes that Node's decoder gives at a time. */
const CHUNK = 1 << 17;

/** What is used of Node's decoder. This module runs in browsers too, so it imports nothing from Node. */
interface NodeDecoder extends AsyncIterable<Uint8Array> {
  readonly bytesWritten: number;
  readonly readableEnded: boolean;
  readonly destroyed: boolean;
  write(bytes: Uint8Array, taken: (error?: unknown) => void): void;
  end(): void;
  destroy(error?: Error): void;
  once(event: "close", listener: () => void): void;
}

interface NodeZlib {
  createGunzip(options: { chunkSize: number }): NodeDecoder;
}

/** Undoes gzip, each member checked against its check sum. */
export async function* gunzip(name: string, stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: "node:zlib"): NodeZlib } };
  const zlib = process?.getBuiltinModule?.("node:zlib");
  try {
    // Node's DecompressionStream takes several members in some versions and refuses or forgets them in others. Browsers refuse them.
    yield* zlib ? byNode(zlib, stream) : byBrowser(stream);
  } catch (error) {
    throw asBadFile(name, "gzip", error);
  }
}

async function* byNode(zlib: NodeZlib, stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = stream[Symbol.asyncIterator]();
  const decoder = zlib.createGunzip({ chunkSize: CHUNK });
  const ended = new Promise<void>((resolve) => void decoder.once("close", resolve));
  let given = 0;
  let last: Uint8Array = new Uint8Array(0);
  const feed = async () => {
    while (!decoder.readableEnded && !decoder.destroyed) {
      const { done, value } = await iterator.next();
      if (done) {
        decoder.end();
        return;
      }
      last = value;
      given += value.byteLength;
      // Where bytes are left over, the decoder ends and does not say that it took them.
      await Promise.race([new Promise((taken) => void decoder.write(value, taken)), ended]);
    }
  };
  const feeding = feed().catch((error: Error) => void decoder.destroy(error));
  try {
    yield* decoder;
    await feeding;
    // It ends before a zero. What follows is padding, or something that must not be left out in silence.
    let left: Uint8Array = last.subarray(last.byteLength - (given - decoder.bytesWritten));
    for (;;) {
      const other = left.findIndex((byte) => byte !== 0);
      if (other >= 0)
        throw new Error("expected the end of the file, or another gzip member, found zeros and other bytes");
      const { done, value } = await iterator.next();
      if (done) return;
      left = value;
    }
  } finally {
    decoder.destroy();
    await iterator.return?.();
  }
}

async function* byBrowser(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = stream[Symbol.asyncIterator]();
  const input = new ReadableStream<BufferSource>({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
  yield* readStream(input.pipeThrough(new DecompressionStream("gzip")));
}
