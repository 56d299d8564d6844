/** LZ4 frames, as Arrow files carry them: blocks that may refer back to earlier blocks, and the check sums that a frame has. */

import { xxh32 } from "../xxh32.ts";

const MAGIC = 0x184d2204;

/** Unpacks one frame. Throws plain errors; the caller names the file. Output beyond `maxBytes` is refused. */
export function decodeLz4Frame(input: Uint8Array, maxBytes: number): Uint8Array {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  if (input.byteLength < 7 || view.getUint32(0, true) !== MAGIC) throw new Error("expected an LZ4 frame");
  const flags = input[4];
  let at = 7 + (flags & 0x08 ? 8 : 0) + (flags & 0x01 ? 4 : 0);
  const check = (isWhole: boolean) => {
    if (!isWhole) throw new Error("an LZ4 frame is damaged: a check sum is that of other bytes");
  };
  check(((xxh32(input.subarray(4, at - 1)) >>> 8) & 0xff) === input[at - 1]);
  const output = new Output(maxBytes);
  for (;;) {
    const header = view.getUint32(at, true);
    at += 4;
    if (header === 0) break;
    const size = header & 0x7fffffff;
    const block = input.subarray(at, at + size);
    if (block.byteLength !== size) throw new Error(`expected an LZ4 block of ${size} bytes, found ${block.byteLength}`);
    at += size;
    if (flags & 0x10) {
      check(view.getUint32(at, true) === xxh32(block));
      at += 4;
    }
    if (header >>> 31) output.append(block);
    else decodeBlock(block, output);
  }
  const content = output.bytes.slice(0, output.length);
  if (flags & 0x04) check(view.getUint32(at, true) === xxh32(content));
  return content;
}

class Output {
  bytes = new Uint8Array(1 << 16);
  length = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  append(part: Uint8Array): void {
    this.reserve(part.byteLength);
    this.bytes.set(part, this.length);
    this.length += part.byteLength;
  }

  /** Repeats `count` bytes from `distance` back; the copy may overlap itself. */
  repeat(distance: number, count: number): void {
    if (distance === 0 || distance > this.length)
      throw new Error(`LZ4 refers ${distance} bytes back of ${this.length}`);
    this.reserve(count);
    for (let i = 0; i < count; i++, this.length++) this.bytes[this.length] = this.bytes[this.length - distance];
  }

  reserve(more: number): void {
    const needed = this.length + more;
    if (needed > this.#maxBytes) throw new Error(`expected at most ${this.#maxBytes} bytes when unpacked, found more`);
    if (needed <= this.bytes.byteLength) return;
    const larger = new Uint8Array(Math.max(needed, this.bytes.byteLength * 2));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }
}

function decodeBlock(block: Uint8Array, output: Output): void {
  let at = 0;
  const longer = (length: number): number => {
    let total = length;
    if (length === 15) {
      let byte: number;
      do {
        if (at >= block.byteLength) throw new Error("an LZ4 block ends within a length");
        byte = block[at++];
        total += byte;
      } while (byte === 255);
    }
    return total;
  };
  while (at < block.byteLength) {
    const token = block[at++];
    const literals = longer(token >> 4);
    if (at + literals > block.byteLength) throw new Error("an LZ4 block ends within its literals");
    output.append(block.subarray(at, at + literals));
    at += literals;
    if (at >= block.byteLength) return;
    const distance = block[at] | (block[at + 1] << 8);
    at += 2;
    output.repeat(distance, longer(token & 15) + 4);
  }
}
