/** Zstandard frames by their headers: what the decoder would need, and what it would never come back from. */

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { cases } from "../../../core/test/tier.ts";
import { bytesSource, readData } from "../../src/index.ts";
import { zstdRoom } from "../../src/readers/zstd.ts";

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
/** A frame of one segment and one block: its size, its kind (0 stored, 1 repeated, 2 packed) and its bytes. */
const frame = (size: number, kind: number, length: number, ...bytes: number[]) => {
  const header = (length << 3) | (kind << 1) | 1;
  return Uint8Array.of(...MAGIC, 0x20, size, header & 255, (header >> 8) & 255, header >> 16, ...bytes);
};
/** Literals of 10 bytes by a code whose weights are described by `tree`. */
const packed = (...tree: number[]) => {
  const length = 1 + tree.length;
  const head = 2 | (10 << 4) | (length << 14);
  return frame(10, 2, 3 + length, head & 255, (head >> 8) & 255, head >> 16, tree.length, ...tree);
};

describe("frames", () => {
  test("need what their blocks can make", () => {
    expect(zstdRoom(frame(3, 0, 3, 1, 2, 3), 3)).toBe(3);
    expect(zstdRoom(frame(200, 1, 200, 7), 200)).toBe(200);
    const many = Uint8Array.from([...frame(200, 1, 200, 7), ...frame(9, 1, 100_000, 7), ...frame(3, 0, 3, 1, 2, 3)]);
    expect(zstdRoom(many, 200)).toBe(100_203);
  });

  test("that claim a large window are refused, the second as well as the first", () => {
    const wide = Uint8Array.of(...MAGIC, 0, 0xa0, 0x01, 0, 0, 0);
    expect(() => zstdRoom(wide, 10)).toThrow(/expected 10 bytes when unpacked, found a claim of 1073741824/);
    expect(() => zstdRoom(Uint8Array.from([...frame(3, 0, 3, 1, 2, 3), ...wide]), 10)).toThrow(/a claim of/);
  });

  test("whose code has one weight for everything are refused: the decoder would never end", () => {
    // Accuracy 5 in the low 4 bits, then 6 bits of ones: the first symbol has all 32 of 32.
    expect(() => zstdRoom(packed(0xf0, 0x03, 0xff, 0xff), 10)).toThrow(/weights of a code/);
    // The same for the second symbol, after a first of probability 0: 5 bits of 1, no more zeros, 6 bits of ones.
    expect(() => zstdRoom(packed(0x10, 0xf8, 0x01, 0xff), 10)).toThrow(/weights of a code/);
    // Half of it: no such thing.
    expect(zstdRoom(packed(0xf0, 0x00, 0xff, 0xff), 10)).toBe(2 ** 17);
  });
});

const fixtures = new URL("../fixtures/", import.meta.url);
test.each(readdirSync(fixtures).filter((name) => name.includes("zstd")))(
  "%s, in which one bit is flipped, is read or refused",
  async (name) => {
    const good = readFileSync(new URL(name, fixtures));
    for (let bit = 0; bit < 8 * good.length; bit += cases(31, 3)) {
      const bytes = Uint8Array.from(good);
      bytes[bit >> 3] ^= 1 << (bit & 7);
      await readData(bytesSource(bytes, name), { missing: 0 }).catch((error: Error) =>
        expect(error.name).toBe("RanksimError"),
      );
    }
  },
);
