/** Pictures that decoders accept. */

import { inflateSync } from "node:zlib";
import { expect, it } from "vitest";
import { pngAddress } from "../src/pictures/png.ts";

const pixels = Uint8Array.from([0, 10, 20, 30, 40, 255]);
const png = Buffer.from(pngAddress({ width: 3, height: 2, pixels }).replace("data:image/png;base64,", ""), "base64");

it("holds size, depth and the rows, most ink black", () => {
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  expect([png.readUInt32BE(16), png.readUInt32BE(20), png[24], png[25]]).toEqual([3, 2, 8, 0]);
  const at = png.indexOf("IDAT");
  const data = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)));
  expect(Array.from(data)).toEqual([0, 255, 245, 235, 0, 225, 215, 0]);
});

it("ends with the checksum that the standard gives for an empty IEND", () => {
  expect(png.subarray(-4).toString("hex")).toBe("ae426082");
});
