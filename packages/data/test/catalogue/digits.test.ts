import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { loadDigits } from "../../src/index.ts";

const original = "/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz";

test("digits are 1,797 rows of 64 bytes in 0..16 with a digit each", async () => {
  const { x, y, imageSize } = await loadDigits();
  expect([x.rows, x.features, y.length]).toEqual([1797, 64, 1797]);
  expect(x.values).toBeInstanceOf(Uint8Array);
  expect(imageSize).toEqual({ width: 8, height: 8 });
  expect(Math.max(...x.values)).toBe(16);
  // Class counts as the repository's own page of the data set gives them for the test part.
  const counts = Array.from({ length: 10 }, (_, digit) => y.filter((label) => label === digit).length);
  expect(counts).toEqual([178, 182, 177, 183, 181, 182, 181, 179, 174, 180]);
});

test("digits are the bytes numpy packs from scikit-learn's file", async () => {
  const { x, y } = await loadDigits();
  // numpy: sha256 of uint8 x.tobytes() followed by uint8 y.tobytes().
  const digest = createHash("sha256").update(x.values).update(Uint8Array.from(y)).digest("hex");
  expect(digest).toBe("87ff0c9e40dc7e2c0e34e7257799c2e3f3aec1a016363bb11cad869ec428a826");
});

test.skipIf(!existsSync(original))("digits equal scikit-learn's file, line by line", async () => {
  const { x, y } = await loadDigits();
  const lines = gunzipSync(readFileSync(original)).toString("ascii").trim().split("\n");
  lines.forEach((line, r) => {
    expect([...x.row(r), y[r]]).toEqual(line.split(",").map(Number));
  });
});
