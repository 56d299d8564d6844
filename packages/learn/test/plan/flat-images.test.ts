/** Images that nobody said are some are seen by their neighbours; spectra, columns and noise of a square length are not. */

import { Dense } from "@ranksim/core";
import { loadDigits } from "@ranksim/data";
import { expect, test } from "vitest";
import { flatImageSize } from "../../src/plan/flat-images.ts";

const rows = (features: number, at: (r: number, i: number) => number) =>
  Dense.of(Float64Array.from({ length: 40 * features }, (_, e) => at(Math.floor(e / features), e % features)), 40, features); // biome-ignore format: one line
const draw = (r: number, i: number) => (((r * 7919 + i * 104729 + r * i * 31) % 1009) + 1009) % 1009;
/** A bright disc, somewhere. */
const disc = (r: number, x: number, y: number) =>
  (x - 4 - (r % 8)) ** 2 + (y - 4 - ((r * 3) % 8)) ** 2 < 16 ? 200 : 10;

test("images are seen, grey and in colour", async () => {
  expect(await flatImageSize((await loadDigits()).x)).toEqual({ width: 8, height: 8 });
  expect(await flatImageSize(rows(256, (r, i) => disc(r, i % 16, i >> 4)))).toEqual({ width: 16, height: 16 });
  const colour = rows(768, (r, i) => disc(r, Math.floor(i / 3) % 16, Math.floor(i / 48)) + 40 * (i % 3));
  expect(await flatImageSize(colour)).toEqual({ width: 16, height: 16 });
});

test.each([
  ["noise", rows(256, draw)],
  [
    "spectra, whose neighbours are alike in one direction",
    rows(256, (r, i) => 100 * Math.sin(i / 9 + r) + 50 * Math.sin(i / 31)),
  ],
  ["steps, which are more alike nearer by", rows(256, (r, i) => (i < 90 + 4 * r ? 1 : 5))],
  ["rows of another length", rows(250, (r, i) => disc(r, i % 16, i >> 4))],
  ["few columns", rows(49, (r, i) => disc(r, i % 7, Math.floor(i / 7)))],
])("%s are none", async (_, x) => {
  expect(await flatImageSize(x)).toBeUndefined();
});
