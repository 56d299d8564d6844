/** PNG images: pixels written down by hand, every kind of file, and files that lie. */

import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { Budget } from "../../src/index.ts";
import { decodePng } from "../../src/readers/png.ts";
import { chunk, type Kind, pngOf } from "./png-files.ts";

const pixelsOf = (bytes: Uint8Array, budget = new Budget()) =>
  Array.from(decodePng("x.png", bytes, budget.of("x.png")).pixels);
const packed = (...lines: number[][]) => chunk("IDAT", deflateSync(Uint8Array.from(lines.flat())));
const grey = (width: number, height: number): Kind => ({ width, height, depth: 8, type: 0 });

describe("palettes", () => {
  const palette = chunk("PLTE", Uint8Array.from([10, 20, 30, 40].flatMap((level) => [level, level, level])));
  const kind: Kind = { width: 2, height: 2, depth: 8, type: 3 };
  const lines = packed([0, 0, 1], [0, 2, 3]);

  test.each([
    ["without tRNS", []],
    ["with a tRNS for every entry", [0, 255, 128, 1]],
    ["with a tRNS for some entries", [7, 0]],
  ])("%s are the colours they name", (_, transparency) => {
    const chunks = transparency.length === 0 ? [] : [chunk("tRNS", Uint8Array.from(transparency))];
    expect(pixelsOf(pngOf(kind, palette, ...chunks, lines))).toEqual([10, 20, 30, 40]);
  });

  test("of 1, 2 and 4 bits", () => {
    expect(pixelsOf(pngOf({ ...kind, depth: 2 }, palette, packed([0, 0b00_01_0000], [0, 0b10_11_0000])))).toEqual([
      10, 20, 30, 40,
    ]);
    expect(pixelsOf(pngOf({ ...kind, depth: 4 }, palette, packed([0, 0x01], [0, 0x23])))).toEqual([10, 20, 30, 40]);
    expect(pixelsOf(pngOf({ ...kind, depth: 1 }, palette, packed([0, 0b01_000000], [0, 0b10_000000])))).toEqual([
      10, 20, 20, 10,
    ]);
  });

  test("that lack an entry are refused", () => {
    expect(() => pixelsOf(pngOf(kind, palette, packed([0, 0, 1], [0, 2, 4])))).toThrow(/found number 4 of 4/);
  });
});

describe("kinds", () => {
  test("grey of few bits is spread over 0..255", () => {
    expect(pixelsOf(pngOf({ ...grey(3, 1), depth: 1 }, packed([0, 0b101_00000])))).toEqual([255, 0, 255]);
    expect(pixelsOf(pngOf({ ...grey(4, 1), depth: 2 }, packed([0, 0b00_01_10_11])))).toEqual([0, 85, 170, 255]);
    expect(pixelsOf(pngOf({ ...grey(2, 1), depth: 4 }, packed([0, 0x1f])))).toEqual([17, 255]);
  });

  test("16 bits, colours, transparency", () => {
    expect(pixelsOf(pngOf({ ...grey(2, 1), depth: 16 }, packed([0, 1, 2, 255, 255])))).toEqual([258, 65535]);
    expect(pixelsOf(pngOf({ ...grey(1, 1), type: 4 }, packed([0, 77, 3])))).toEqual([77]);
    // 0.299 red + 0.587 green + 0.114 blue
    expect(pixelsOf(pngOf({ ...grey(3, 1), type: 2 }, packed([0, 200, 0, 0, 0, 200, 0, 0, 0, 200])))).toEqual([
      60, 117, 23,
    ]);
    expect(pixelsOf(pngOf({ ...grey(1, 1), type: 6 }, packed([0, 200, 0, 0, 9])))).toEqual([60]);
  });

  test("all five filters", () => {
    // The same lines 10 20 30 each time, after a line of 10 20 30.
    for (const [filter, ...bytes] of [
      [0, 10, 20, 30],
      [1, 10, 10, 10],
      [2, 0, 0, 0],
      [3, 5, 5, 5], // half of left and above: 5, 15, 25
      [4, 0, 0, 0], // left, above, corner: above is nearest each time
    ]) {
      expect(pixelsOf(pngOf(grey(3, 2), packed([0, 10, 20, 30], [filter, ...bytes])))).toEqual([
        10, 20, 30, 10, 20, 30,
      ]);
    }
  });

  test("interlaced images", () => {
    // 9 x 9 pixels, each its own number below 81. Pass by pass: first column and line, steps.
    const passes = [
      [0, 0, 8, 8],
      [4, 0, 8, 8],
      [0, 4, 4, 8],
      [2, 0, 4, 4],
      [0, 2, 2, 4],
      [1, 0, 2, 2],
      [0, 1, 1, 2],
    ];
    const lines: number[][] = [];
    for (const [left, top, right, down] of passes) {
      for (let y = top; y < 9; y += down) {
        const line = [0];
        for (let x = left; x < 9; x += right) line.push(9 * y + x);
        if (line.length > 1) lines.push(line);
      }
    }
    expect(pixelsOf(pngOf({ ...grey(9, 9), interlaced: true }, packed(...lines)))).toEqual([...Array(81).keys()]);
  });
});

describe("files that lie", () => {
  test("unpack to no more than their size", () => {
    const bomb = chunk("IDAT", deflateSync(new Uint8Array(2 ** 26)));
    expect(() => pixelsOf(pngOf(grey(1, 1), bomb))).toThrow(/expected 2 bytes of pixels, found more/);
  });

  test("with a profile that nobody needs are read without it", () => {
    const profile = chunk("iCCP", Buffer.concat([Buffer.from("x\0\0"), deflateSync(new Uint8Array(2 ** 26))]));
    expect(pixelsOf(pngOf(grey(1, 1), profile, packed([0, 9])), new Budget(1e5))).toEqual([9]);
  });

  test("about their size are refused before there is room for it", () => {
    expect(() => pixelsOf(pngOf(grey(40_000, 40_000), packed([0])), new Budget(1e9))).toThrow(/1 GB of memory/);
    expect(() => pixelsOf(pngOf(grey(2 ** 31, 2 ** 31), packed([0])))).toThrow(/of memory/);
  });

  test("or end early, or have odd headers, are refused", () => {
    const good = pngOf(grey(2, 2), packed([0, 1, 2], [0, 3, 4]));
    for (let length = 8; length < good.length; length++) {
      expect(() => pixelsOf(good.subarray(0, length)), String(length)).toThrow(/x\.png: cannot be read as PNG/);
    }
    expect(() => pixelsOf(pngOf({ ...grey(1, 1), depth: 3 }, packed([0, 1])))).toThrow(/of 3 bits, colour type 0/);
    expect(() => pixelsOf(pngOf(grey(2, 1), packed([0, 1])))).toThrow(/expected 3 bytes of pixels, found 2/);
    expect(() => pixelsOf(pngOf(grey(2, 1), packed([9, 1, 2])))).toThrow(/one of 5 ways, found 9/);
  });
});
