/** Pooled patches on every back end: the numbers of the plain loops, on shapes either side of every threshold of the kernel. */

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Backend } from "../../src/backends/contract.ts";
import {
  byteFactor,
  byteOf,
  cellOf,
  copyWindow,
  LARGEST_SUM,
  poolLayers,
  windowFeatures,
  windowsOf,
} from "../../src/kernels/patches.ts";
import { rankSums } from "../../src/kernels/rank-sums.ts";
import { sourceOf } from "../../src/kernels/rows.ts";
import type { DenseBank, DenseRows, PatchLayer, Windows } from "../../src/kernels/shapes.ts";
import { platforms } from "../platforms.ts";
import { draws } from "./csr-data.ts";

type Look = "noise" | "few" | "flat" | "ends";

/** Images of one look: noise, two values, mostly one value, or only the least and largest byte. */
function someImages(rows: number, features: number, look: Look, seed: number): DenseRows {
  const draw = draws(seed);
  const value = (): number => {
    if (look === "few") return draw() < 0.5 ? 10 : 11;
    if (look === "flat") return draw() < 0.97 ? 0 : 200;
    if (look === "ends") return draw() < 0.5 ? 0 : 255;
    return Math.floor(draw() * 256);
  };
  return { form: "dense", rows, features, values: Uint8Array.from({ length: rows * features }, value) };
}

/** Filters that are ranks of random rows with ties. */
function someBank(filters: number, features: number, seed: number): DenseBank {
  const draw = draws(seed);
  const values = Uint8Array.from({ length: filters * features }, () => Math.floor(draw() * 20));
  const offsets = Uint32Array.from({ length: filters + 1 }, (_, f) => f);
  const groups = { offsets, rows: Uint32Array.from({ length: filters }, (_, f) => f) };
  return rankSums({ form: "dense", rows: filters, features, values }, groups, undefined) as DenseBank;
}

interface Shape {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
}

function layer(shape: Shape, patch: number, stride: number, grid: number, nBest: number, filters: number): PatchLayer {
  const windows = windowsOf(shape, { patch, stride, grid, nBest });
  return { windows, bank: someBank(filters, windowFeatures(windows), 7 + filters) };
}

/** The same layer with sums as bytes. */
const limited = ({ bank, windows }: PatchLayer, limit: number): PatchLayer => ({
  bank,
  windows: { ...windows, limit },
});

const size = ({ width, height, channels }: Shape): number => width * height * channels;

describe.each(platforms)("pooled patches on $title", ({ open }) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await open();
  });
  afterAll(() => backend.close());

  async function expectPlain(images: DenseRows, layers: readonly PatchLayer[]): Promise<void> {
    const expected = poolLayers(images, layers);
    const held = await backend.hold(sourceOf(images));
    const { values: found } = await held.pool(layers).finally(() => held.release());
    expect(found.length).toBe(expected.length);
    expect(found.BYTES_PER_ELEMENT).toBe(layers[0].windows.limit ? 1 : 2);
    expect(Buffer.compare(Buffer.from(found.buffer), Buffer.from(expected.buffer))).toBe(0);
  }

  it.each([2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64])("with %i filters", async (filters) => {
    const shape = { width: 9, height: 8, channels: 1 };
    for (const nBest of [2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17, 40]) {
      for (const look of ["noise", "few"] as const) {
        await expectPlain(someImages(5, 72, look, nBest), [layer(shape, 3, 1, 2, nBest, filters)]);
      }
    }
  });

  it.each([1, 2, 3, 4, 5, 7, 8, 9, 12])("with patches of %i pixels", async (patch) => {
    for (const channels of [1, 2, 3]) {
      for (const stride of [1, 2, 3]) {
        const shape = { width: 11, height: 10, channels };
        for (const look of ["noise", "flat", "ends"] as const) {
          await expectPlain(someImages(3, size(shape), look, patch), [layer(shape, patch, stride, 3, 5, 20)]);
        }
      }
    }
  });

  it("with signals, one image, none, and images as small as a patch", async () => {
    await expectPlain(someImages(6, 40, "noise", 1), [layer({ width: 40, height: 1, channels: 1 }, 9, 1, 4, 6, 19)]);
    await expectPlain(someImages(6, 80, "noise", 1), [layer({ width: 40, height: 1, channels: 2 }, 5, 2, 4, 6, 19)]);
    await expectPlain(someImages(6, 40, "noise", 1), [layer({ width: 1, height: 40, channels: 1 }, 9, 1, 4, 6, 19)]);
    await expectPlain(someImages(1, 25, "noise", 1), [layer({ width: 5, height: 5, channels: 1 }, 5, 1, 5, 6, 19)]);
    await expectPlain(someImages(0, 25, "noise", 1), [layer({ width: 5, height: 5, channels: 1 }, 3, 1, 5, 6, 19)]);
  });

  it("with several layers side by side", async () => {
    const shape = { width: 12, height: 12, channels: 1 };
    const layers = [layer(shape, 3, 1, 4, 5, 9), layer(shape, 5, 1, 3, 8, 17), layer(shape, 8, 2, 2, 12, 33)];
    await expectPlain(someImages(40, 144, "noise", 3), layers);
  });

  it("with responses too large to be packed with a filter's number", async () => {
    // 128·n²·2^bits reaches 2^31 at n = 1,024 and 16 filters.
    const shape = { width: 33, height: 33, channels: 1 };
    for (const look of ["noise", "ends"] as const) {
      await expectPlain(someImages(3, size(shape), look, 4), [layer(shape, 32, 1, 2, 4, 16)]);
      await expectPlain(someImages(3, size(shape), look, 4), [layer(shape, 31, 1, 2, 4, 16)]);
    }
  });

  it("with sums that need bits left out", async () => {
    const shape = { width: 40, height: 40, channels: 1 };
    const one = layer(shape, 3, 1, 1, 8, 12);
    expect(one.windows.shift).toBeGreaterThan(0);
    await expectPlain(someImages(3, 1600, "noise", 5), [one]);
  });

  // Vectors of the kernel have 16 sums: 4 cells of so many filters are some of them and a rest, or not one.
  it.each([2, 3, 4, 5, 7, 8, 11, 12, 13, 16, 17])("as bytes with %i filters", async (filters) => {
    const shape = { width: 9, height: 8, channels: 1 };
    const one = layer(shape, 3, 1, 2, 6, filters);
    const images = someImages(5, 72, "noise", filters);
    const largest = Math.max(...poolLayers(images, [one]));
    expect(largest).toBeGreaterThan(300);
    for (const limit of [1, 2, 254, 255, 256, 300, largest - 1, largest, largest + 1, 30_000, LARGEST_SUM]) {
      await expectPlain(images, [limited(one, limit)]);
    }
    await expectPlain(someImages(5, 72, "flat", filters), [limited(one, 255)]);
    await expectPlain(someImages(0, 72, "noise", filters), [limited(one, 255)]);
  });

  it("as bytes with an odd number of sums, bits left out and responses that are not packed", async () => {
    await expectPlain(someImages(3, 64, "noise", 2), [
      limited(layer({ width: 8, height: 8, channels: 1 }, 3, 1, 3, 4, 19), 700),
    ]);
    await expectPlain(someImages(3, 1600, "noise", 5), [
      limited(layer({ width: 40, height: 40, channels: 1 }, 3, 1, 1, 8, 12), 9000),
    ]);
    await expectPlain(someImages(3, 1089, "ends", 4), [
      limited(layer({ width: 33, height: 33, channels: 1 }, 32, 1, 2, 4, 17), 200),
    ]);
  });

  it("as bytes with several layers of their own limits side by side", async () => {
    const shape = { width: 12, height: 12, channels: 1 };
    const layers = [
      limited(layer(shape, 3, 1, 4, 5, 9), 700),
      limited(layer(shape, 5, 1, 3, 8, 17), 1),
      limited(layer(shape, 8, 2, 2, 12, 33), LARGEST_SUM),
    ];
    await expectPlain(someImages(40, 144, "noise", 3), layers);
  });

  it("as bytes for several at once", async () => {
    const shape = { width: 9, height: 8, channels: 1 };
    const one = layer(shape, 3, 1, 2, 6, 13);
    const all = [0, 300, 1, 0, 900].map((limit) =>
      expectPlain(someImages(30, 72, "noise", limit), [limited(one, limit)]),
    );
    await Promise.all(all);
  });

  it("with any shape", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 14 }),
        fc.integer({ min: 1, max: 14 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 15 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 2, max: 20 }),
        fc.integer({ min: 2, max: 50 }),
        fc.constantFrom<Look>("noise", "few", "flat", "ends"),
        fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: LARGEST_SUM })),
        async (width, height, channels, patch, stride, grid, nBest, filters, look, limit) => {
          const shape = { width, height, channels };
          const one = limited(layer(shape, patch, stride, grid, nBest, filters), limit);
          if (one.bank.features < 2) return;
          await expectPlain(someImages(3, size(shape), look, filters), [one]);
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe("a sum as a byte", () => {
  /** The definition in whole numbers of any size. */
  const stated = (sum: number, limit: number): number => {
    const factor = (255n << 24n) / BigInt(limit);
    const cut = BigInt(Math.min(sum, limit));
    return Number((cut * factor * 2n + (1n << 24n)) >> 25n);
  };
  const limits = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: LARGEST_SUM }));

  it("is ⌊min(sum, limit) · ⌊255 · 2^24 / limit⌋ / 2^24 + ½⌋, in 32 bits, and within one of the share of the limit", () => {
    fc.assert(
      fc.property(limits, fc.integer({ min: 0, max: LARGEST_SUM }), (limit, sum) => {
        const byte = byteOf(sum, limit);
        expect(byte).toBe(stated(sum, limit));
        expect(Math.min(sum, limit) * byteFactor(limit) + 2 ** 23).toBeLessThan(2 ** 32);
        expect(Math.abs(byte - (255 * Math.min(sum, limit)) / limit)).toBeLessThanOrEqual(0.5 + 2 ** -9);
      }),
      { numRuns: 2000 },
    );
  });

  it("is 0 for none, 255 from the limit on, for every limit, and never less for more", () => {
    for (let limit = 1; limit <= LARGEST_SUM; limit++) {
      expect([byteOf(0, limit), byteOf(limit, limit), byteOf(LARGEST_SUM, limit)]).toEqual([0, 255, 255]);
    }
    fc.assert(
      fc.property(limits, fc.integer({ min: 0, max: LARGEST_SUM - 1 }), (limit, sum) => {
        expect(byteOf(sum + 1, limit)).toBeGreaterThanOrEqual(byteOf(sum, limit));
      }),
    );
  });

  it("is the sum itself where the limit is 255", () => {
    for (let sum = 0; sum <= 255; sum++) expect(byteOf(sum, 255)).toBe(sum);
  });
});

describe("windows", () => {
  const shapes: readonly [string, Windows, object][] = [
    [
      "of square images",
      windowsOf({ width: 28, height: 28, channels: 1 }, { patch: 5, stride: 1, grid: 5, nBest: 8 }),
      { across: 24, down: 24, cellsAcross: 5, cellsDown: 5, shift: 0 },
    ],
    [
      "of signals are as high as the signal",
      windowsOf({ width: 100, height: 1, channels: 1 }, { patch: 9, stride: 2, grid: 6, nBest: 8 }),
      { patchWidth: 9, patchHeight: 1, across: 46, down: 1, cellsAcross: 6, cellsDown: 1, shift: 0 },
    ],
    [
      "of large images leave out bits: 128 x 128 x 255 has 22",
      windowsOf({ width: 128, height: 128, channels: 1 }, { patch: 1, stride: 1, grid: 1, nBest: 8 }),
      { shift: 7 },
    ],
  ];
  it.each(shapes)("%s", (_, windows, expected) => {
    expect(windows).toMatchObject(expected);
  });

  it("lie in the cell of their corner, and every cell has some", () => {
    const windows = windowsOf({ width: 11, height: 7, channels: 1 }, { patch: 3, stride: 1, grid: 4, nBest: 2 });
    const cells = Array.from({ length: windows.across * windows.down }, (_, w) =>
      cellOf(windows, w % windows.across, Math.floor(w / windows.across)),
    );
    // 9 windows across in 4 cells: 3, 2, 2, 2. 5 down in 4 cells: 2, 1, 1, 1.
    expect(cells.slice(0, 9)).toEqual([0, 0, 0, 1, 1, 2, 2, 3, 3]);
    expect(new Set(cells).size).toBe(16);
    expect(cells.filter((cell) => cell < 4)).toHaveLength(18);
  });

  it("are copied row by row, channels last", () => {
    const windows = windowsOf({ width: 3, height: 2, channels: 2 }, { patch: 2, stride: 1, grid: 1, nBest: 2 });
    const images = Uint8Array.from({ length: 24 }, (_, i) => i);
    const out = new Uint8Array(8);
    expect(copyWindow(images, 12, windows, 1, 0, out)).toBe(true);
    expect([...out]).toEqual([14, 15, 16, 17, 20, 21, 22, 23]);
    expect(copyWindow(new Uint8Array(12).fill(9), 0, windows, 1, 0, out)).toBe(false);
  });
});
