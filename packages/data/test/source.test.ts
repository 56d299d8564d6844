import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import {
  Budget,
  type ByteSource,
  blobSource,
  bytesSource,
  filesFolder,
  readBlocks,
  readData,
  readLabels,
} from "../src/index.ts";
import { openSource, readAll } from "../src/source.ts";
import { expectRefusal, read, rowsOf } from "./rows.ts";

const csv = new TextEncoder().encode("a,b\n1,2\n");

test("a browser's file reads as bytes do", async () => {
  const expected = await readData(bytesSource(csv, "t.csv"));
  expect(await readData(blobSource(new File([csv], "t.csv")))).toEqual(expected);
  expect(await readData(blobSource(new Blob([gzipSync(csv)]), "t.csv.gz"))).toEqual(expected);
  const slice = await blobSource(new Blob([csv])).slice?.(2, 5);
  expect(slice).toEqual(csv.slice(2, 5));
});

test("a browser's chosen folder loses its own name", async () => {
  const file = (path: string, text: string) =>
    Object.defineProperty(new File([text], path.split("/").at(-1) as string), "webkitRelativePath", { value: path });
  const data = await readData(filesFolder([file("chosen/b/2", "two"), file("chosen/a/1", "one")]));
  expect(data).toEqual({ form: "text", text: ["one", "two"], y: ["a", "b"], rowNames: ["a/1", "b/2"] });
});

test("a long source streams in pieces and comes out whole, packed or not", async () => {
  const long = Uint8Array.from({ length: 5_000_000 }, (_, i) => (i * i) >> 7);
  for (const stored of [long, gzipSync(long)]) {
    const opened = await openSource(bytesSource(stored, "x"));
    expect(opened.head.length).toBeGreaterThanOrEqual(4096);
    expect(Buffer.from(await readAll(opened.stream, new Budget().of("x"))).equals(Buffer.from(long))).toBe(true);
  }
});

test("a reader that refuses lets go of its source", async () => {
  let released = false;
  const source: ByteSource = {
    name: "t.csv",
    async *stream() {
      try {
        for (let i = 0; ; i++) yield new TextEncoder().encode(i < 2000 ? "1,2\n" : "1,2,3\n");
      } finally {
        released = true;
      }
    },
  };
  await expectRefusal(readData(source), "bad-file", "line 2001", "found 3");
  expect(released).toBe(true);
});

test("formats are told by content before endings, and endings before looks", async () => {
  const npy = Buffer.from(
    "\x93NUMPY\x01\x00\x3e\x00{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2), }  \n\x05\x06",
    "latin1",
  );
  expect(await read("wrong.csv", npy).then((data) => data.form === "matrix" && rowsOf(data))).toEqual([[5, 6]]);
  expect((await read("data.svm", "1 2:3\n")).form).toBe("matrix");
  const looks = await read("data", "+1 2:3 4:5\n-1 1:2\n");
  expect(looks.form === "matrix" && [looks.x.form, looks.y]).toEqual(["csr", [1, -1]]);
  expect((await read("data", '{"text":"hi"}\n')).form).toBe("text");
  const forced = await read("data.txt", "1 2\n3 4\n", { format: "csv", delimiter: " " });
  expect(forced.form === "matrix" && forced.x.features).toBe(2);
});

test("files of lines are text: one of zeros is refused by its first bytes, however long it is", async () => {
  let pieces = 0;
  const stream = async function* () {
    for (; pieces < 1000; pieces++) yield new Uint8Array(1 << 16);
  };
  for (const format of ["csv", "tsv", "jsonl", "svmlight"] as const) {
    await expectRefusal(readData({ name: "a", stream }, { format }), "bad-file", "a, byte 0", "lines of text");
    const blocks = readBlocks({ name: "a", byteLength: 2 ** 40, stream }, { format });
    await expectRefusal(blocks.next(), "bad-file", "a, byte 0", "lines of text");
  }
  expect(pieces).toBeLessThan(20);
  await expectRefusal(readLabels({ name: "y", stream }), "bad-file", "y, byte 0", "lines of text");
});

test("known formats that are not read are named", async () => {
  const bytes = (text: string) => Buffer.from(text, "latin1");
  await expectRefusal(read("a.bz2", bytes("BZh91AY")), "bad-file", "bzip2", "bunzip2");
  await expectRefusal(read("a.xz", bytes("\xfd7zXZ\0")), "bad-file", "xz");
  await expectRefusal(read("a.h5", bytes("\x89HDF\r\n")), "bad-file", "HDF5");
  await expectRefusal(read("a.png", bytes("\x89PNG\r\n")), "bad-file", "folder");
  await expectRefusal(read("a", bytes("x"), { format: "excel" as never }), "bad-params", "excel");
  await expectRefusal(read("a.csv", bytes("%PDF-1.4\n1 0 obj\n")), "bad-file", "PDF", "CSV");
  const xlsx = `PK\x03\x04${"\0".repeat(22)}\x13\0\0\0[Content_Types].xml`;
  await expectRefusal(read("a.docx", bytes(xlsx)), "bad-file", "Office", "CSV");
});
