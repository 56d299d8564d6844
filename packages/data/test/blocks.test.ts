/** Rows block by block: the same rows as of the whole file, wherever the bytes are cut, and as soon as they are there. */

import { Dense, RanksimError } from "@ranksim/core";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  type BlockOptions,
  Budget,
  type ByteSource,
  bytesSource,
  readBlocks,
  readData,
  rowCount,
} from "../src/index.ts";
import { writeNpy } from "../src/writers/npy.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** A source of unknown length whose bytes come in these pieces. */
function pieces(text: string, sizes: readonly number[], name = "rows.csv"): ByteSource {
  const all = bytes(text);
  return {
    name,
    async *stream() {
      let at = 0;
      for (let i = 0; at < all.length; i++) {
        const size = sizes[i % sizes.length];
        yield all.subarray(at, at + size);
        at += size;
        // Long enough that what is there is handed on.
        if (i % 3 === 2) await new Promise((resume) => setTimeout(resume, 7));
      }
    },
  };
}

async function gather(source: ByteSource, options: BlockOptions = {}) {
  const rows: number[][] = [];
  const kept: (readonly string[])[] = [];
  let blocks = 0;
  for await (const block of readBlocks(source, options)) {
    if (block.form !== "matrix" || block.x.form !== "dense") throw new Error("expected dense rows");
    const x: Dense = block.x;
    for (let r = 0; r < x.rows; r++) rows.push(Array.from(x.row(r)));
    kept.push(...(block.kept ?? []));
    blocks++;
  }
  return { rows, kept, blocks };
}

describe("blocks of an array", () => {
  const features = 4;
  const rows = 3 * 8192 + 5;
  const values = Uint8Array.from({ length: rows * features }, (_, e) => e % 251);
  const [file] = [...writeNpy({ form: "matrix", x: Dense.of(values, rows, features) })];

  it("are read while the one before is at work, and fail in their turn", async () => {
    let asked = 0;
    let failing = Number.POSITIVE_INFINITY;
    const source: ByteSource = {
      ...bytesSource(file, "rows.npy"),
      async slice(from, to) {
        if (from >= 128 && ++asked > failing) throw new Error("the disk is gone");
        return file.slice(from, to);
      },
    };
    const read = async () => {
      const found: number[] = [];
      for await (const data of readBlocks(source)) {
        await new Promise((resume) => setTimeout(resume, 5));
        if (data.form === "matrix") found.push(...(data.x as Dense).values);
        if (found.length === features * 8192) expect(asked).toBe(2);
      }
      return found;
    };
    expect(await read()).toEqual([...values]);
    [asked, failing] = [0, 1];
    await expect(read()).rejects.toThrow("the disk is gone");
    expect(asked).toBe(2);
  });

  it.each([1, 8192, 8193, 2 * 8192 + 1, rows])(
    "that pass by take turns in two pieces of memory (%i rows), and are not overwritten while at work",
    async (count) => {
      for (const Type of [Uint8Array, Float32Array]) {
        const all = Type.from(values.subarray(0, count * features));
        const [stored] = [...writeNpy({ form: "matrix", x: Dense.of(all, count, features) })];
        const source: ByteSource = {
          ...bytesSource(stored, "rows.npy"),
          async slice(from, to, into) {
            await new Promise((resume) => setImmediate(resume));
            const part = stored.subarray(from, to);
            if (!into || into.length < part.length) return part.slice();
            into.set(part);
            return into.subarray(0, part.length);
          },
        };
        for (const reuseMemory of [true, false]) {
          const memory = new Set<ArrayBufferLike>();
          const blocks: Dense[] = [];
          let found = 0;
          for await (const data of readBlocks(source, { reuseMemory })) {
            const x = (data as { x: Dense }).x;
            await new Promise((resume) => setTimeout(resume, 2)); // the next one is read meanwhile
            expect(x.values.every((value, e) => value === all[found + e])).toBe(true);
            found += x.values.length;
            memory.add(x.values.buffer);
            blocks.push(x);
          }
          expect(found).toBe(all.length);
          expect(memory.size).toBe(reuseMemory ? Math.min(2, blocks.length) : blocks.length);
          const kept = blocks.flatMap((x) => [...x.values]);
          if (!reuseMemory) expect(kept.every((value, e) => value === all[e])).toBe(true);
        }
      }
    },
  );
});

describe("blocks of a table", () => {
  it("that fail while the block before is at work fail in their turn, and nowhere else", async () => {
    const half = bytes("1,2,3\n".repeat(400_000));
    const source: ByteSource = {
      name: "rows.csv",
      async *stream() {
        yield half;
        throw new RanksimError("bad-file", "rows.csv: the disk is gone");
      },
    };
    const lost: unknown[] = [];
    const note = (reason: unknown) => void lost.push(reason);
    process.on("unhandledRejection", note);
    let rows = 0;
    const read = async () => {
      for await (const data of readBlocks(source)) {
        rows += data.form === "matrix" ? data.x.rows : 0;
        await new Promise((resume) => setTimeout(resume, 30));
      }
    };
    await expect(read()).rejects.toThrow("the disk is gone");
    process.off("unhandledRejection", note);
    expect(rows).toBeGreaterThan(0);
    expect(lost).toEqual([]);
  });

  it("are the rows of the whole, wherever it is cut, with quoted line ends in kept columns", async () => {
    const row = fc.tuple(
      fc.integer({ min: -9, max: 999 }),
      fc.integer({ min: 0, max: 9 }),
      fc.constantFrom("a", 'b "c"', "d\ne", "f,g", ""),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 }),
        fc.constantFrom("\n", "\r\n"),
        fc.boolean(),
        async (table, sizes, end, named) => {
          const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
          const lines = table.map(([a, b, c]) => `${a},${quoted(c)},${b}`);
          const text = [...(named ? ["one,name,two"] : []), ...lines].join(end) + end;
          const column = named ? "name" : 1;
          const options = { header: named, ignoreColumns: [column], keep: [column] };
          const found = await gather(pieces(text, sizes), options);
          expect(found.rows).toEqual(table.map(([a, b]) => [a, b]));
          expect(found.kept).toEqual(table.map(([, , c]) => [c]));
        },
      ),
      { numRuns: 25 },
    );
  });

  it("come before the next line is there, also where the first alone says that it is no header", async () => {
    let release = () => {};
    const held = new Promise<void>((resume) => {
      release = resume;
    });
    const source: ByteSource = {
      name: "pipe",
      async *stream() {
        yield bytes("1,2,3\n");
        await held;
        yield bytes("4,5,6\n");
      },
    };
    const blocks = readBlocks(source);
    const first = await blocks.next();
    expect(first.value).toMatchObject({ x: { rows: 1 } });
    release();
    expect((await blocks.next()).value).toMatchObject({ x: { rows: 1 } });
    expect((await blocks.next()).done).toBe(true);
  });

  it("name the line of the whole file in errors", async () => {
    const lines = Array.from({ length: 50 }, (_, r) => `${r},${r === 40 ? "oops" : r}`);
    const text = ["a,b", ...lines].join("\n");
    const error = await gather(pieces(text, [30])).catch((caught) => caught);
    expect(error).toBeInstanceOf(RanksimError);
    expect(error.message).toContain("rows.csv, line 42");
  });

  it("name the line of the whole file after many blank ones too", async () => {
    const blank = "\n".repeat(100_000);
    const small = () => ({ budget: new Budget(1e6) });
    await expect(gather(bytesSource(bytes(`a,b\n1,2\n${blank}3,oops\n`), "rows.csv"), small())).rejects.toThrow(
      "rows.csv, line 100003",
    );
    const objects = `{"a":1}\n${blank}{"a":oops}\n`;
    await expect(gather(bytesSource(bytes(objects), "rows.jsonl"), small())).rejects.toThrow("rows.jsonl, line 100002");
  });

  it("have one header where lines end in CR alone", async () => {
    const table = Array.from({ length: 9000 }, (_, r) => [r, r + 1]);
    const text = ["a,b", ...table.map(String)].join("\r");
    const options = () => ({ budget: new Budget(1e6), header: true });
    const found = await gather(bytesSource(bytes(`${text}\r`), "rows.csv"), options());
    expect(found.blocks).toBeGreaterThan(2);
    expect(found.rows).toEqual(table);
    const damaged = bytesSource(bytes(text.replace("\r8000,", "\roops,")), "rows.csv");
    await expect(gather(damaged, options())).rejects.toThrow("rows.csv, line 8002");
  });

  it("refuse what a whole file is refused for", async () => {
    await expect(gather(bytesSource(bytes(""), "no.csv"))).rejects.toThrow("empty");
    await expect(gather(bytesSource(bytes("a,b\n"), "no.csv"), { header: true })).rejects.toThrow("at least one row");
    await expect(gather(bytesSource(bytes("a,b\n1,2\n"), "t.csv"), { keep: ["c"] })).rejects.toThrow(
      "one of the columns a, b",
    );
  });
});

test.each([
  ["rows.csv", (r: number) => `${r},"${r % 7}"`],
  ["rows.jsonl", (r: number) => `{"a":${r},"b":${r % 7}}`],
  ["rows.svm", (r: number) => `1 1:${r + 1} 2:3`],
  ["rows.txt", (r: number) => `text ${r}`],
])("blocks of %s, a file, do not depend on how it is read", async (name, line) => {
  const all = bytes(`${Array.from({ length: 4000 }, (_, r) => line(r)).join("\n")}\n`);
  const counts = async (source: ByteSource) => {
    const found: number[] = [];
    const blocks = readBlocks(source, { text: name.endsWith(".txt"), budget: new Budget(1e6) });
    for await (const data of blocks) found.push(rowCount(data));
    return found;
  };
  const expected = await counts(bytesSource(all, name));
  for (const size of [4099, 20_000, 33_333]) {
    const slow = { ...pieces(new TextDecoder().decode(all), [size], name), byteLength: all.length };
    expect(await counts(slow)).toEqual(expected);
  }
  expect(expected.reduce((a, b) => a + b)).toBe(4000);
});

test("blocks of JSON lines keep what they are told to", async () => {
  const text = '{"id":"x","a":1,"b":2}\n{"id":"y","a":3,"b":4}\n';
  const found = await gather(pieces(text, [5], "rows.jsonl"), { ignoreColumns: ["id"], keep: ["id"] });
  expect(found).toMatchObject({
    rows: [
      [1, 2],
      [3, 4],
    ],
    kept: [["x"], ["y"]],
  });
});

test("blocks of svmlight number features as the first does", async () => {
  const text = "1:5 3:2\n0:1 2:1\n".repeat(3);
  const whole = await readData(bytesSource(bytes(text), "rows.svm"), { features: 4, firstFeature: 0 });
  let rows = 0;
  for await (const data of readBlocks(pieces(text, [9], "rows.svm"), { features: 4, firstFeature: 0 })) {
    if (data.form === "matrix") rows += data.x.rows;
  }
  expect(whole).toMatchObject({ x: { rows } });
});

describe("JSON lines of which a later block has its keys in another order, or not all of them", () => {
  const first = Array.from({ length: 900 }, (_, r) => `{"a":${r % 9},"b":${r % 7},"label":"x"}\n`).join("");
  const small = { budget: new Budget(1) };
  const rowsOf = async (text: string, options: BlockOptions = {}) =>
    (await gather(bytesSource(bytes(text), "rows.jsonl"), { ...small, ...options })).rows;

  it("are read by the first row of the file", async () => {
    const turned = '{"label":"y","b":5,"a":1}\n'.repeat(900);
    expect((await rowsOf(first + turned)).slice(900)).toEqual(Array.from({ length: 900 }, () => [1, 5]));
    const lacking = '{"label":"y","b":5}\n'.repeat(900);
    const filled = await rowsOf(first + lacking + turned, { missing: 0 });
    expect([900, 1799, 1800].map((r) => filled[r])).toEqual([
      [0, 5],
      [0, 5],
      [1, 5],
    ]);
  });

  it("are refused where the whole file would be", async () => {
    const lists = "[1,2]\n".repeat(3000);
    await expect(rowsOf(`${lists}[1,2,3]\n`)).rejects.toThrow("line 3001: expected 2 numbers as in the first row");
    const unlabelled = first + '{"a":1,"b":2}\n'.repeat(900);
    await expect(rowsOf(unlabelled)).rejects.toThrow(
      'line 901: expected a label under "label" as in the first row, found nothing',
    );
  });
});

test("comments of svmlight may fill a block", async () => {
  const comments = "  # no row here\r\n\n#\n".repeat(2000);
  const text = `${comments}1 1:5 3:2\n${comments}0 2:1 # a row\n${comments}# the end`;
  const small = { budget: new Budget(1) };
  for (const source of [bytesSource(bytes(text), "rows.svm"), pieces(text, [9000], "rows.svm")]) {
    const labels: unknown[] = [];
    for await (const data of readBlocks(source, small)) labels.push(...(data.y ?? []));
    expect(labels).toEqual([1, 0]);
  }
  const none = readBlocks(bytesSource(bytes(comments), "none.svm"), small).next();
  await expect(none).rejects.toThrow("none.svm: expected at least one row, found none");
});

test("blocks of text are its lines", async () => {
  const found: string[] = [];
  for await (const data of readBlocks(pieces("one\r\n\ntwo ä\nthree", [4], "x.txt"), { text: true })) {
    if (data.form === "text") found.push(...data.text);
  }
  expect(found).toEqual(["one", "", "two ä", "three"]);
});

test("formats that are read whole come in slices", async () => {
  const header = "{'descr': '|u1', 'fortran_order': False, 'shape': (20000, 2), }".padEnd(117);
  const file = new Uint8Array(128 + 40_000);
  file.set(bytes(`\u0000NUMPY\u0001\u0000v\u0000${header}\n`));
  file[0] = 0x93;
  const found = await gather(bytesSource(file, "x.npy"));
  expect(found.rows).toHaveLength(20_000);
  expect(found.blocks).toBeGreaterThan(1);
});

/** A Zstandard frame of one block that holds the bytes as they are (RFC 8878, 3.1.1). */
function zstdFrame(content: Uint8Array): Uint8Array {
  const size = content.length;
  // One segment whose size is told in one byte; a last block, raw, of that size.
  const block = 1 | (size << 3);
  const head = [0x28, 0xb5, 0x2f, 0xfd, 0x20, size, block & 255, (block >> 8) & 255, block >> 16];
  return Uint8Array.from([...head, ...content]);
}

test("Zstandard is undone like gzip, and damage is named", async () => {
  const packed = zstdFrame(bytes("a,b\n1,2\n3,4\n"));
  const source = bytesSource(packed, "rows.csv.zst");
  expect((await gather(source)).rows).toEqual([
    [1, 2],
    [3, 4],
  ]);
  expect(await readData(source)).toMatchObject({ featureNames: ["a", "b"] });
  await expect(readData(bytesSource(packed.subarray(0, 12), "cut.csv.zst"))).rejects.toMatchObject({
    code: "bad-file",
  });
});

test("a budget that holds a block holds a file of any length", async () => {
  const line = `${Array.from({ length: 50 }, (_, i) => i).join(",")}\n`;
  const text = `${Array.from({ length: 50 }, (_, i) => `p${i}`).join(",")}\n${line.repeat(60_000)}`;
  const source = bytesSource(bytes(text), "long.csv");
  const small = () => new Budget(7e6);
  await expect(readData(source, { budget: small() })).rejects.toThrow("memory");
  let rows = 0;
  for await (const data of readBlocks(source, { budget: small() })) rows += data.form === "matrix" ? data.x.rows : 0;
  expect(rows).toBe(60_000);
});
