import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { Budget, bytesSource, openPath, readData, readLabels } from "../../src/node.ts";
import { scratch } from "../python.ts";
import { expectRefusal, read, readMatrix, rowsOf } from "../rows.ts";

const images = Uint8Array.of(0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 10, 20, 30, 40);
const labels = Uint8Array.of(0, 0, 8, 1, 0, 0, 0, 2, 7, 3);

test("images, packed or not, told by content", async () => {
  for (const file of [images, gzipSync(images)]) {
    const data = await readMatrix("some-file", file);
    expect(rowsOf(data)).toEqual([
      [10, 20],
      [30, 40],
    ]);
    expect(data.imageSize).toEqual({ width: 2, height: 1 });
  }
});

test("labels from a file of their own, given or found beside the images", async () => {
  expect(await readLabels(bytesSource(labels))).toEqual([7, 3]);
  expect((await read("images", images, { labels: bytesSource(gzipSync(labels)) })).y).toEqual([7, 3]);
  const folder = scratch();
  mkdirSync(join(folder, "sub"));
  writeFileSync(join(folder, "sub", "train-images-idx3-ubyte.gz"), gzipSync(images));
  writeFileSync(join(folder, "sub", "train-labels-idx1-ubyte.gz"), gzipSync(labels));
  expect((await readData(await openPath(join(folder, "sub", "train-images-idx3-ubyte.gz")))).y).toEqual([7, 3]);
});

test("labels as text, one a line, or several", async () => {
  const text = (content: string) => bytesSource(new TextEncoder().encode(content), "labels.txt");
  expect(await readLabels(text('label\ncat\n"d, e"\n'))).toEqual(["cat", "d, e"]);
  expect(await readLabels(text("1\n2\n"))).toEqual([1, 2]);
  expect(await readLabels(text("1,2\n\n3\n"), { multilabel: true })).toEqual([[1, 2], [], [3]]);
  expect(await readLabels(text("9007199254740993\n3\n"))).toEqual(["9007199254740993", "3"]);
  await expectRefusal(readLabels(text("1\n\n3\n")), "bad-file", "line 2");
});

test("wider types are big-endian", async () => {
  const values = new Uint8Array(12 + 16);
  values.set([0, 0, 13, 2, 0, 0, 0, 2, 0, 0, 0, 2]);
  [1.5, -2, 0.25, 8].forEach((value, i) => {
    new DataView(values.buffer).setFloat32(12 + 4 * i, value);
  });
  expect(rowsOf(await readMatrix("a.idx", values))).toEqual([
    [1.5, -2],
    [0.25, 8],
  ]);
  const short = Uint8Array.of(0, 0, 11, 2, 0, 0, 0, 1, 0, 0, 0, 2, 255, 254, 1, 0);
  expect(rowsOf(await readMatrix("a.idx", short))).toEqual([[-2, 256]]);
});

test("refusals say what was found", async () => {
  await expectRefusal(read("a.idx", images.subarray(0, 19)), "bad-file", "a.idx, byte 16", "4 bytes", "found 3");
  const claim = images.slice();
  claim.fill(255, 4, 16);
  await expectRefusal(read("a.idx", claim), "bad-file", "byte 16", "found 4");
  await expectRefusal(read("a.idx", Uint8Array.of(0, 0, 8, 3, 0)), "bad-file", "found the end");
  await expectRefusal(read("x", images, { labels: bytesSource(labels.slice(0, 9), "l") }), "bad-file", "l, byte 8");
  const three = Uint8Array.of(0, 0, 8, 1, 0, 0, 0, 3, 7, 3, 1);
  await expectRefusal(
    read("x", images, { labels: bytesSource(three, "l") }),
    "bad-file",
    "l: expected 2 labels",
    "found 3",
  );
  await expectRefusal(read("a.gz", gzipSync(images).subarray(0, 25)), "bad-file", "a.gz", "gzip");
  const bent = gzipSync(images);
  bent[bent.length - 6] ^= 1;
  await expectRefusal(read("a.gz", bent), "bad-file", "a.gz", "gzip");
});

test("what unpacks beyond the budget is refused", async () => {
  const bomb = gzipSync(Buffer.concat([Uint8Array.of(0, 0, 8, 2, 0, 0, 16, 0, 0, 0, 16, 0), new Uint8Array(1 << 24)]));
  const options = { budget: new Budget(4e6), format: "idx" } as const;
  await expectRefusal(read("a.gz", bomb, options), "bad-file", "a.gz", "4 MB of memory", "--memory");
});

const debian = "/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz";
test.skipIf(!existsSync(debian))("Debian's Fashion-MNIST", async () => {
  const data = await readData(await openPath(debian));
  expect(data.form === "matrix" && [data.x.rows, data.x.features, data.imageSize]).toEqual([
    10000,
    784,
    { width: 28, height: 28 },
  ]);
  // The set has 1,000 test images of each class.
  const counts = Array.from({ length: 10 }, (_, c) => (data.y as number[]).filter((label) => label === c).length);
  expect(counts).toEqual(Array(10).fill(1000));
});
