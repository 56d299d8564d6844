/** Files with check sums, in which bits are flipped: they are read as what they were, or refused; never as other data. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, inflateRawSync } from "node:zlib";
import { Dense, toDense } from "@ranksim/core";
import { zipSync } from "fflate";
import { expect, test } from "vitest";
import { bytesSource, type DataSet, encodeNpy, type ReadDataOptions, readData, rowCount } from "../src/index.ts";
import { decodeLz4Frame } from "../src/readers/lz4.ts";
import { xxh32 } from "../src/xxh32.ts";
import { equalStrings } from "./bomb-files.ts";
import { pythonHas, runPython, scratch } from "./python.ts";
import { expectRefusal, read } from "./rows.ts";

/** Rows and labels as text, to be compared. */
function contentOf(data: DataSet): string {
  if (data.form !== "matrix") return JSON.stringify(data);
  const { rows, features, values } = toDense(data.x);
  return JSON.stringify([rows, features, [...values], data.y]);
}

/** Flips one bit of each byte, another from byte to byte; how many files were refused. */
async function refusedOf(
  name: string,
  good: Uint8Array,
  { from = 0, to = good.byteLength, ...options }: ReadDataOptions & { from?: number; to?: number } = {},
): Promise<number> {
  const expected = contentOf(await read(name, good, options));
  let refused = 0;
  for (let at = from; at < to; at++) {
    const bytes = Uint8Array.from(good);
    bytes[at] ^= 1 << ((at + (at >> 3)) % 8);
    const found = await readData(bytesSource(bytes, name), options).then(contentOf, (error: Error) => {
      expect(error.name).toBe("RanksimError");
      refused++;
      return expected;
    });
    expect(found, `byte ${at}`).toBe(expected);
  }
  return refused;
}

const rows = Dense.fromRows(Array.from({ length: 20 }, (_, r) => [r, (r * r) % 17, (7 * r) % 11]));
const labels = Array.from({ length: 20 }, (_, r) => r % 3);

test.each([0, 9] as const)("a zip of arrays, packed at level %i", async (level) => {
  const arrays = { "x.npy": encodeNpy(rows.values, [20, 3]), "y.npy": encodeNpy(labels) };
  const packed = zipSync(arrays, { level });
  // What says nothing of the data, such as the time of writing, is a small part.
  expect(await refusedOf("a.npz", packed)).toBeGreaterThan(packed.byteLength * (level === 0 ? 0.85 : 0.6));
});

test("of a damaged zip the error says what is damaged, with the array's name", async () => {
  const packed = zipSync({ "x.npy": encodeNpy(rows.values, [20, 3]), "y.npy": encodeNpy(labels) }, { level: 0 });
  packed[packed.indexOf(0x93) + 130] ^= 1;
  await expectRefusal(read("a.npz", packed), "bad-file", "a.npz", "x.npy is damaged", "check sum");
});

test.skipIf(!pythonHas("numpy"))("a zip as numpy writes it, with sizes in fields for large files", async () => {
  const folder = scratch();
  runPython(
    folder,
    `
import numpy as np
x = np.arange(60).reshape(20, 3).astype(np.uint8)
np.savez("stored.npz", x=x, y=np.arange(20) % 3)
np.savez_compressed("packed.npz", x=x, y=np.arange(20) % 3)
`,
  );
  for (const name of ["stored.npz", "packed.npz"]) {
    expect(await refusedOf(name, readFileSync(join(folder, name)))).toBeGreaterThan(0);
  }
});

/** Made by `zstd -19 --check`. */
const frame = readFileSync(new URL("fixtures/rows.csv.zst", import.meta.url));

test("Zstandard with a check sum", async () => {
  expect(await refusedOf("rows.csv.zst", frame)).toBeGreaterThan(0.9 * frame.byteLength);
  const damaged = Uint8Array.from(frame);
  damaged[damaged.length - 1] ^= 1;
  await expectRefusal(read("rows.csv.zst", damaged), "bad-file", "rows.csv.zst", "Zstandard", "check sum");
});

test("Zstandard of several frames, without a check sum, skipped ones, and cut off", async () => {
  const stored = (text: string) => {
    const bytes = Buffer.from(text);
    return Buffer.concat([Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 0x20, bytes.length, (bytes.length << 3) | 1, 0, 0), bytes]);
  };
  const skipped = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
  const single = await read("a.csv", `${"1,2\n".repeat(3)}3,4\n`);
  const parts = [stored("1,2\n1"), skipped, stored(",2\n1,2\n"), stored("3,4\n"), skipped];
  const whole = Buffer.concat(parts);
  expect(contentOf(await read("a.csv.zst", whole))).toBe(contentOf(single));
  const twice = await read("a.csv.zst", Buffer.concat([frame, frame]), { header: false, table: true });
  expect(rowCount(twice)).toBe(82);
  await expectRefusal(read("a.csv.zst", whole.subarray(0, -1)), "bad-file", "cut off");
  await expectRefusal(read("a.csv.zst", Buffer.concat([whole, Buffer.from("more")])), "bad-file", "other bytes");
  const longer = Buffer.from(stored("1,2\n"));
  longer[5]++;
  await expectRefusal(read("a.csv.zst", longer), "bad-file", "a frame of 5 bytes, found 4");
});

test("Parquet, the pages of which have check sums, or are packed by gzip, which has one", async () => {
  const summed = equalStrings(2, 5, { hasSums: true });
  const options = { textColumn: "t" };
  const from = summed.indexOf("hi") - 4;
  expect(await refusedOf("a.parquet", summed, { ...options, from, to: from + 6 })).toBe(6);
  const packed = readFileSync(new URL("fixtures/gzip.parquet", import.meta.url));
  const start = packed.indexOf("\x1f\x8b\x08", 0, "latin1");
  // Ten bytes before what is packed, and eight after it.
  const inner = inflateRawSync(packed.subarray(start + 10), { info: true }) as unknown as {
    engine: { bytesWritten: number };
  };
  const to = start + 18 + inner.engine.bytesWritten;
  // What says nothing of the data is the time and the system.
  expect(await refusedOf("gzip.parquet", packed, { missing: 0, from: start, to })).toBeGreaterThan(0.9 * (to - start));
});

test("LZ4 frames", () => {
  // Sums as the makers of xxHash print them.
  const sums = ["", "abc", "Nobody inspects the spammish repetition"].map((text) => xxh32(Buffer.from(text)));
  expect(sums).toEqual([0x02cc5d05, 0x32d153ff, 0xe2293b2f]);
  const uint32 = (value: number) => new Uint8Array(Uint32Array.of(value).buffer);
  const text = Buffer.from("a stored block, with a sum of its own");
  const head = Uint8Array.of(0x74, 0x40);
  const begin = [uint32(0x184d2204), head, Uint8Array.of(xxh32(head) >>> 8)];
  const block = [uint32(text.length + 2 ** 31), text, uint32(xxh32(text))];
  const frame = Buffer.concat([...begin, ...block, uint32(0), uint32(xxh32(text))]);
  expect(Buffer.from(decodeLz4Frame(frame, 1000))).toEqual(text);
  for (let bit = 0; bit < 8 * frame.length; bit++) {
    const damaged = Uint8Array.from(frame);
    damaged[bit >> 3] ^= 1 << (bit & 7);
    expect(() => decodeLz4Frame(damaged, 1000), `bit ${bit}`).toThrow();
  }
});

test("gzip: several members and zeros after them are read, anything else is refused", async () => {
  const first = gzipSync("1,2\n3,4\n");
  const second = gzipSync("5,6\n");
  const zeros = new Uint8Array(3000);
  const expected = contentOf(await read("a.csv", "1,2\n3,4\n5,6\n"));
  for (const parts of [
    [first, second],
    [first, gzipSync(""), second, zeros],
    [first, second, Buffer.of(0)],
  ]) {
    expect(contentOf(await read("a.csv.gz", Buffer.concat(parts)))).toBe(expected);
    // The same, whatever the pieces that a file comes in.
    for (const size of [1, 7, first.length]) {
      const whole = Buffer.concat(parts);
      const stream = async function* () {
        for (let from = 0; from < whole.length; from += size) yield whole.subarray(from, from + size);
      };
      expect(contentOf(await readData({ name: "a.csv.gz", stream }))).toBe(expected);
    }
  }
  for (const rest of [[Buffer.of(0), second], [zeros, second], [zeros, Buffer.from("more")], [Buffer.from("more")]]) {
    await expectRefusal(read("a.csv.gz", Buffer.concat([first, ...rest])), "bad-file", "a.csv.gz", "gzip");
  }
  await expectRefusal(read("a.csv.gz", Buffer.concat([first, second.subarray(0, -3)])), "bad-file", "gzip");
  expect(await refusedOf("a.csv.gz", Buffer.concat([first, second]))).toBeGreaterThan(0);
});

test("a reader that stops early lets go of a packed source", async () => {
  for (const packed of [gzipSync("1,2\n1,2,3\n".repeat(100_000)), frame]) {
    let released = false;
    const stream = async function* () {
      try {
        for (;;) yield packed;
      } finally {
        released = true;
      }
    };
    await expectRefusal(readData({ name: "a", stream }, { format: "csv" }), "bad-file", "found");
    // Reading does not wait for it: a pipe that is silent would keep its reader for ever.
    await expect.poll(() => released).toBe(true);
  }
});
