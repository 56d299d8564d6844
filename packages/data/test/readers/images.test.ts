/** JPEG, colours, sizes: what folders of photographs need, and the shape of images in arrays. */

import { RanksimError } from "@ranksim/core";
import { Budget, bytesSource, describeData, encodeNpy, type Folder, type MatrixData, readData } from "@ranksim/data";
import { encode } from "fast-png";
import jpeg from "jpeg-js";
import { describe, expect, it } from "vitest";
import { resized } from "../../src/readers/resize.ts";

type Colour = (x: number, y: number) => readonly [number, number, number];

function jpegOf(width: number, height: number, colour: Colour): Uint8Array {
  const data = new Uint8Array(width * height * 4);
  for (let p = 0; p < width * height; p++) data.set([...colour(p % width, Math.floor(p / width)), 255], 4 * p);
  return Uint8Array.from(jpeg.encode({ width, height, data }, 100).data);
}

const folderOf = (files: { readonly [path: string]: Uint8Array }): Folder => ({
  name: "memory",
  async *entries() {
    for (const [path, bytes] of Object.entries(files)) yield { path, bytes: async () => bytes };
  },
});

const slope: Colour = (x, y) => [8 * x, 8 * y, 100];
const flat: Colour = () => [40, 40, 40];
const read = async (files: { readonly [path: string]: Uint8Array }, options = {}) =>
  (await readData(folderOf(files), options)) as MatrixData;

describe("JPEG", () => {
  it("becomes grey by the rule of PNG, but for what JPEG loses", async () => {
    const { x, y, imageSize } = await read({ "a/1.jpg": jpegOf(24, 16, slope), "b/2.JPEG": jpegOf(24, 16, flat) });
    expect([y, imageSize, x.features]).toEqual([["a", "b"], { width: 24, height: 16 }, 24 * 16]);
    const values = (x as { values: Uint8Array }).values;
    for (let p = 0; p < 24 * 16; p++) {
      const [red, green, blue] = slope(p % 24, Math.floor(p / 24));
      expect(Math.abs(values[p] - (0.299 * red + 0.587 * green + 0.114 * blue))).toBeLessThan(4);
      expect(Math.abs(values[24 * 16 + p] - 40)).toBeLessThan(2);
    }
  });

  it("keeps colours where they are asked for, beside grey images", async () => {
    const grey = encode({ width: 24, height: 16, channels: 1, data: new Uint8Array(24 * 16).fill(90) });
    const { x } = await read({ "a/1.jpg": jpegOf(24, 16, slope), "a/2.png": grey }, { colour: true });
    expect(x.features).toBe(3 * 24 * 16);
    const values = (x as { values: Uint8Array }).values;
    for (const [p, c] of [
      [0, 0],
      [30, 1],
      [200, 2],
    ]) {
      const wanted = slope(p % 24, Math.floor(p / 24))[c];
      expect(Math.abs(values[3 * p + c] - wanted)).toBeLessThan(12); // colours are stored at half the size
    }
    expect([...values.subarray(x.features, x.features + 3)]).toEqual([90, 90, 90]);
  });

  it("tells of colours that become grey, in JPEG and PNG, unless they are kept or a model takes grey images", async () => {
    const png = (pixel: readonly number[]) =>
      encode({ width: 24, height: 16, channels: 3, data: Uint8Array.from({ length: 1152 }, (_, i) => pixel[i % 3]) });
    const files = { "1.jpg": jpegOf(24, 16, slope), "2.png": png([9, 9, 8]), "3.png": png([7, 7, 7]) };
    const { notes, ...data } = await read(files);
    expect(notes).toEqual(["memory: the colours of 2 of 3 images became grey; the option colour keeps them"]);
    expect((await read(files, { colour: true })).notes).toBeUndefined();
    expect((await read({ "3.png": files["3.png"] })).notes).toBeUndefined();
    expect((await read(files, { schema: describeData(data) })).notes).toBeUndefined();
  });

  it("refuses what is cut short or no JPEG, and sizes beyond the budget, before it makes room", async () => {
    const good = jpegOf(24, 16, slope);
    const refused = async (bytes: Uint8Array, options = {}) => {
      const error = await read({ "a/1.jpg": bytes }, options).catch((e) => e);
      expect(error).toBeInstanceOf(RanksimError);
      expect(error.code).toBe("bad-file");
      return error.message as string;
    };
    expect(await refused(good.subarray(0, 30))).toMatch(/a\/1\.jpg.*JPEG/);
    expect(await refused(good.subarray(0, good.length - 200))).toMatch(/a\/1\.jpg/);
    const huge = Uint8Array.from(good);
    const frame = huge.findIndex((byte, i) => byte === 0xff && huge[i + 1] === 0xc0);
    huge.set([0xff, 0xff, 0xff, 0xff], frame + 5);
    expect(await refused(huge, { budget: new Budget(2 ** 28) })).toMatch(/memory/);
  });
});

describe("images of different sizes", () => {
  const files = { "a/1.jpg": jpegOf(24, 16, flat), "a/2.jpg": jpegOf(12, 16, flat) };

  it("become the most usual size with a note, which a model remembers; one that knows one size takes no other", async () => {
    const three = { ...files, "b/0.jpg": jpegOf(24, 16, slope) };
    const data = await read(three);
    expect([data.imageSize, data.x.rows]).toEqual([{ width: 24, height: 16 }, 3]);
    expect(data.notes?.slice(1)).toEqual([
      expect.stringMatching(/1 of 3 images are not of 24 x 16 as most are.*the option resize takes another size/),
    ]);
    const told = await read(three, { resize: { width: 24, height: 16 } });
    expect(data.x).toEqual(told.x);
    const schema = describeData(data);
    expect((await read({ "a/1.jpg": files["a/2.jpg"] }, { schema })).imageSize).toEqual({ width: 24, height: 16 });
    const uniform = describeData(await read({ "a/1.jpg": files["a/1.jpg"] }));
    await expect(read(files, { schema: uniform })).rejects.toThrow(/`resize` makes images one size/);
  });

  it("are for folders: arrays keep their size, and the request is refused", async () => {
    const array = bytesSource(encodeNpy(new Uint8Array(2 * 6 * 6), [2, 6, 6]), "rows.npy");
    const resize = { width: 3, height: 3 };
    await expect(readData(array, { resize })).rejects.toThrow(/resize: expected a folder of images, found rows.npy/);
    const schema = { form: "numbers" as const, width: 36, reading: { resize: { width: 6, height: 6 } } };
    expect(await readData(array, { schema })).toMatchObject({ imageSize: { width: 6, height: 6 } });
  });

  it("are made one size on request, which a model remembers", async () => {
    const options = { resize: { width: 8, height: 4 } };
    const data = await read(files, options);
    expect([data.x.rows, data.x.features, data.imageSize]).toEqual([2, 32, { width: 8, height: 4 }]);
    const schema = describeData(data, { options });
    expect(schema.reading).toEqual(options);
    expect((await read(files, { schema })).x.features).toBe(32);
  });

  it("take no more of the budget than the small images", async () => {
    const budget = new Budget(2 ** 26);
    await read(files, { resize: { width: 8, height: 4 }, budget });
    expect(budget.taken).toBeLessThan(1000);
  });

  it("are means of what a pixel covers", () => {
    const picture = {
      width: 3,
      height: 2,
      largest: 255,
      channels: 1,
      pixels: Uint8Array.of(0, 30, 60, 90, 120, 150),
    } as const;
    expect([...resized(picture, 1, 1).pixels]).toEqual([75]);
    // Each covers one pixel and a half: (0 + 30 / 2) / 1.5 = 10, (30 / 2 + 60) / 1.5 = 50.
    expect([...resized(picture, 2, 2).pixels]).toEqual([10, 50, 100, 140]);
    expect([...resized(picture, 6, 2).pixels]).toEqual([0, 0, 30, 30, 60, 60, 90, 90, 120, 120, 150, 150]);
    expect(resized(picture, 3, 2)).toBe(picture);
  });
});

describe("the shape of images", () => {
  const npy = (shape: string, bytes: number[]): Uint8Array => {
    const fields = `{'descr': '|u1', 'fortran_order': False, 'shape': (${shape}), }`;
    const text = `${fields.padEnd(64 * Math.ceil((fields.length + 11) / 64) - 11)}\n`;
    return Buffer.concat([
      Buffer.from([0x93, ...Buffer.from("NUMPY"), 1, 0, text.length & 0xff, text.length >> 8]),
      Buffer.from(text),
      Buffer.from(bytes),
    ]);
  };
  const values = Array.from({ length: 48 }, (_, i) => i);
  const open = async (shape: string, options = {}) =>
    (await readData(bytesSource(npy(shape, values), "x.npy"), options)) as MatrixData;

  it.each<[string, object | undefined, number]>([
    ["2, 6, 4", { width: 4, height: 6 }, 24],
    ["2, 4, 2, 3", { width: 2, height: 4 }, 24],
    ["2, 4, 6, 1", { width: 6, height: 4 }, 24],
    ["2, 24", undefined, 24],
  ])("is kept of arrays of shape (%s)", async (shape, size, features) => {
    const data = await open(shape);
    expect([data.imageSize, data.x.features, data.x.rows]).toEqual([size, features, 2]);
  });

  it("is that of square rows, or another, where it is said", async () => {
    expect((await open("3, 16", { images: "square" })).imageSize).toEqual({ width: 4, height: 4 });
    expect((await open("3, 16", { images: { width: 8, height: 2 } })).imageSize).toEqual({ width: 8, height: 2 });
    await expect(open("2, 24", { images: "square" })).rejects.toThrow(
      "expected square images, found rows of 24 values",
    );
    await expect(open("3, 16", { images: { width: 3, height: 3 } })).rejects.toThrow("images of 3 x 3 pixels");
  });

  it("is refused where the last of four axes are no values of a pixel", async () => {
    await expect(open("2, 2, 2, 6")).rejects.toThrow("found numbers of shape (2, 2, 2, 6)");
  });
});

describe("images larger than patches need", () => {
  const files = { "a/1.jpg": jpegOf(96, 48, slope), "b/2.jpg": jpegOf(96, 48, flat) };

  it("are made several sizes on request, in their proportion", async () => {
    const { x, imageSize, scaled } = await read(files, { sizes: [16, 30] });
    expect(scaled?.from).toEqual({ width: 96, height: 48 });
    expect(scaled?.sizes.map((size) => size.imageSize)).toEqual([
      { width: 16, height: 8 },
      { width: 30, height: 15 },
    ]);
    expect([x, imageSize]).toEqual([scaled?.sizes[1].x, { width: 30, height: 15 }]);
    const small = await read(files, { resize: { width: 16, height: 8 } });
    expect(scaled?.sizes[0].x).toEqual(small.x);
  });

  it("are left as they are where they are small, or a size is given", async () => {
    const small = await read({ "a/1.jpg": jpegOf(64, 16, slope) }, { sizes: [16, 30] });
    expect([small.imageSize, small.scaled]).toEqual([{ width: 64, height: 16 }, undefined]);
    const given = await read(files, { sizes: [16, 30], resize: { width: 8, height: 4 } });
    expect([given.imageSize, given.scaled]).toEqual([{ width: 8, height: 4 }, undefined]);
  });

  it("become small ones of the usual proportions where they have several sizes", async () => {
    const odd = { ...files, "b/3.jpg": jpegOf(96, 50, flat) };
    const { imageSize, scaled, notes } = await read(odd, { sizes: [16, 48] });
    expect([imageSize, scaled]).toEqual([{ width: 32, height: 16 }, undefined]);
    expect(notes?.slice(1)).toEqual([expect.stringContaining("all were made 32 x 16")]);
  });
});
