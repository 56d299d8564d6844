/** Text that is not UTF-8 is refused or, where that was said, recoded: a word with a lost character is another word. */

import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { bytesSource, type ReadDataOptions, readBlocks, readData, readLabels } from "../../src/index.ts";
import { expectRefusal } from "../rows.ts";

const CSV = "town,kind\nKöln,x\nMünchen,y\nKöln – Süd €,x\n";
const UTF8 = new TextEncoder().encode(CSV);
/** As a spreadsheet stores it: Windows-1252, where the dash and the sign of the euro lie between 0x80 and 0x9f. */
const LATIN1 = Uint8Array.from(CSV, (c) => ({ "–": 0x96, "€": 0x80 })[c] ?? c.charCodeAt(0));
const options: ReadDataOptions = { labelColumn: "kind", table: true };
const read = (bytes: Uint8Array, more: ReadDataOptions = {}, name = "towns.csv") =>
  readData(bytesSource(bytes, name), { ...options, ...more });
const all = async <T>(blocks: AsyncIterable<T>) => {
  const found: T[] = [];
  for await (const block of blocks) found.push(block);
  return found;
};
const lines = (bytes: Uint8Array) => bytes.subarray(CSV.indexOf("\n") + 1);

describe("files of lines", () => {
  test("Latin-1 gives the words of UTF-8 where it is said, and is refused by its line where it is not", async () => {
    expect(await read(LATIN1, { encoding: "latin1" })).toEqual(await read(UTF8));
    await expectRefusal(read(LATIN1), "bad-file", "towns.csv, line 2", "UTF-8", "`encoding` latin1");
  });

  test.each([
    ["little endian", (bytes: Uint8Array) => bytes],
    ["big endian", (bytes: Uint8Array) => bytes.map((_, i) => bytes[i ^ 1])],
  ])("UTF-16, %s, gives the words of UTF-8, whole and in blocks, also packed", async (_, ordered) => {
    const codes = Uint16Array.from(`\ufeff${CSV}`, (c) => c.charCodeAt(0));
    const bytes = ordered(new Uint8Array(codes.buffer));
    const expected = await read(UTF8);
    expect(await read(bytes)).toEqual(expected);
    expect(await read(gzipSync(bytes), {}, "towns.csv.gz")).toEqual(expected);
    const pieces = {
      name: "towns.csv",
      stream: async function* () {
        for (const byte of bytes) yield Uint8Array.of(byte);
      },
    };
    expect(await readData(pieces, options)).toEqual(expected);
    expect(await all(readBlocks(bytesSource(bytes, "towns.csv"), options))).toEqual([expected]);
  });

  test("what was said of training rows is not believed of a file in UTF-8", async () => {
    await expectRefusal(read(UTF8, { encoding: "latin1" }), "bad-file", "towns.csv", "Latin-1", "`encoding` utf-8");
    const schema = {
      form: "table",
      columns: [{ name: "town", type: "category" }],
      reading: { encoding: "latin1" },
    } as const;
    const model = { schema, labelColumn: null } as const;
    expect(await read(LATIN1, model)).toEqual(await read(UTF8, { ...model, encoding: "utf-8" }));
    await expectRefusal(read(UTF8, model), "bad-file", "found UTF-8");
    const ascii = new TextEncoder().encode("town\nBonn\n");
    expect(await read(ascii, model)).toMatchObject({ form: "table" });
  });

  test("the same holds for JSON lines, svmlight, labels and plain lines", async () => {
    const json = Uint8Array.from('{"town":"Köln","n":1,"kind":"ä"}\n', (c) => c.charCodeAt(0));
    await expectRefusal(read(json, {}, "a.jsonl"), "bad-file", "a.jsonl, line 1", "UTF-8");
    expect(await read(json, { encoding: "latin1" }, "a.jsonl")).toMatchObject({ y: ["ä"] });
    const svm = Uint8Array.from("ja 1:2\nnö 1:3\n", (c) => c.charCodeAt(0));
    await expectRefusal(read(svm, {}, "a.svm"), "bad-file", "a.svm, line 2", "UTF-8");
    expect(await read(svm, { encoding: "latin1" }, "a.svm")).toMatchObject({ y: ["ja", "nö"] });
    const labels = bytesSource(lines(LATIN1), "y.txt");
    await expectRefusal(readLabels(labels), "bad-file", "y.txt, line 1", "UTF-8");
    expect(await readLabels(labels, { encoding: "latin1" })).toEqual(
      await readLabels(bytesSource(lines(UTF8), "y.txt")),
    );
    const plain = async (bytes: Uint8Array, encoding?: "latin1") => {
      const blocks = await all(
        readBlocks(bytesSource(bytes, "a.txt"), { text: true, ...(encoding ? { encoding } : {}) }),
      );
      return blocks.flatMap((data) => (data.form === "text" ? data.text : []));
    };
    expect(await plain(LATIN1, "latin1")).toEqual(CSV.trimEnd().split("\n"));
    await expectRefusal(plain(LATIN1), "bad-file", "a.txt", "UTF-8");
  });

  test("blocks are recoded once, whatever the cuts", async () => {
    const piece = async function* () {
      for (let at = 0; at < LATIN1.length; at += 3) yield LATIN1.subarray(at, at + 3);
    };
    const source = { name: "towns.csv", stream: piece };
    const blocks = await all(readBlocks(source, { ...options, encoding: "latin1", keep: ["town"] }));
    expect(blocks.flatMap(({ kept = [] }) => kept.flat())).toEqual(["Köln", "München", "Köln – Süd €"]);
  });
});
