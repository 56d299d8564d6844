/** Pixels that a program holds become the rows that readers make of the same image in a file. */

import { expect, it } from "vitest";
import { bytesSource, imageRows, readData } from "../src/index.ts";

const image = (width: number, height: number, values: number) => ({
  width,
  height,
  data: Uint8ClampedArray.from({ length: width * height * values }, (_, e) => (e * 37) % 256),
});

it.each([
  [1, [100], {}, [100]],
  [1, [100], { invert: true }, [155]],
  [2, [100, 255], {}, [100]],
  [2, [100, 0], {}, [255]], // see-through: white
  [3, [255, 0, 0], {}, [76]],
  [4, [255, 0, 0, 255], {}, [76]],
  [4, [0, 0, 0, 128], {}, [127]], // half a shade
  [4, [255, 0, 0, 255], { colour: true }, [255, 0, 0]],
  [4, [0, 0, 0, 0], { colour: true, invert: true }, [0, 0, 0]],
])("a pixel of %i values %j with %j is %j", (_, data, options, expected) => {
  expect(Array.from(imageRows({ width: 1, height: 1, data }, options).x.values)).toEqual(expected);
});

it("makes images one size, each new pixel the mean of those it covers", () => {
  const halves = { width: 2, height: 2, data: [0, 0, 100, 200] };
  expect(imageRows([halves, image(4, 6, 4)], { imageSize: { width: 1, height: 1 } }).x.values[0]).toBe(75);
});

it("gives the rows of an IDX file of the same images", async () => {
  const images = [image(3, 2, 1), image(3, 2, 1)];
  const head = [0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3];
  const file = Uint8Array.from([...head, ...images.flatMap(({ data }) => [...data])]);
  const read = await readData(bytesSource(file, "a.idx3-ubyte"));
  expect(imageRows(images)).toMatchObject({ x: (read as { x: unknown }).x, imageSize: { width: 3, height: 2 } });
});

it.each([
  [[], /expected at least 1 image, found none/],
  [
    [image(2, 2, 4), image(2, 3, 4)],
    /row 1: expected an image of 2 x 2, as the first, found one of 2 x 3; give all one size with `imageSize`/,
  ],
  [[{ width: 2, height: 2, data: [1, 2, 3] }], /row 0: expected an image: .*found 3 values for 2 x 2 pixels/],
  [[{ width: 1, height: 1, data: [-1] }], /row 0: expected 0 to 255, found -1/],
  [[{ width: 1, height: 1, data: [Number.NaN] }], /expected 0 to 255, found NaN/],
])("refuses %j", (images, message) => {
  expect(() => imageRows(images)).toThrow(message);
});
