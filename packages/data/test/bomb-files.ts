/** Small files that unpack to, or claim, far more than any machine has. Made here, because nobody should keep them lying about. */

import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { crc32 } from "../src/crc32.ts";
import { chunk, pngOf } from "./readers/png-files.ts";
import { tarOf } from "./tar-files.ts";

const ascii = (text: string) => Buffer.from(text, "latin1");

/** Gzip of `start` and then `piece` again and again, to about `bytes` in all: a gzip file may have many members. */
function gzipOf(start: Uint8Array, piece: Uint8Array, bytes: number): Buffer {
  const member = gzipSync(piece, { level: 9 });
  return Buffer.concat([gzipSync(start), ...Array<Buffer>(Math.ceil(bytes / piece.length)).fill(member)]);
}

function npyHeader(shape: string): Buffer {
  const text = `{'descr': '|u1', 'fortran_order': False, 'shape': (${shape}), }`.padEnd(117);
  return Buffer.concat([ascii("\x93NUMPY\x01\0"), Buffer.from([118, 0]), ascii(`${text}\n`)]);
}

/** A zip whose directory lists the same packed bytes `times` times, under different names. */
function overlappingZip(times: number, bytes: number): Buffer {
  const packed = deflateRawSync(new Uint8Array(bytes), { level: 9 });
  const entry = (name: string, isListed: boolean) => {
    const head = Buffer.alloc(isListed ? 46 : 30);
    head.writeUInt32LE(isListed ? 0x02014b50 : 0x04034b50, 0);
    const at = isListed ? 10 : 8;
    head.writeUInt16LE(8, at);
    head.writeUInt32LE(packed.length, at + 10);
    head.writeUInt32LE(bytes, at + 14);
    head.writeUInt16LE(name.length, at + 18);
    return Buffer.concat([head, ascii(name)]);
  };
  const local = Buffer.concat([entry("a00.npy", false), packed]);
  const listed = Array.from({ length: times }, (_, i) => entry(`a${String(i).padStart(2, "0")}.npy`, true));
  const directory = Buffer.concat(listed);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(times, 8);
  end.writeUInt16LE(times, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, directory, end]);
}

type Thrift = number | string | Thrift[] | Map<number, [type: number, value: Thrift]>;

function varint(value: number): number[] {
  const out: number[] = [];
  let left = value;
  for (; left >= 128; left = Math.floor(left / 128)) out.push((left % 128) + 128);
  return [...out, left];
}

const [INT, LONG, BINARY, LIST, STRUCT] = [5, 6, 8, 9, 12];

/** Thrift's compact protocol, as much of it as a footer needs. Lists are of their first item's type. */
function thrift(type: number, value: Thrift): number[] {
  if (type === INT || type === LONG)
    return varint((value as number) < 0 ? -2 * (value as number) - 1 : 2 * (value as number));
  if (type === BINARY) return [...varint((value as string).length), ...ascii(value as string)];
  if (type === LIST) {
    const items = value as Thrift[];
    const of = typeof items[0] === "number" ? INT : typeof items[0] === "string" ? BINARY : STRUCT;
    return [items.length * 16 + of, ...items.flatMap((item) => thrift(of, item))];
  }
  let last = 0;
  const fields = [...(value as Map<number, [number, Thrift]>)].flatMap(([id, [kind, field]]) => {
    const head = (id - last) * 16 + kind;
    last = id;
    return [head, ...thrift(kind, field)];
  });
  return [...fields, 0];
}

const struct = (fields: { [id: number]: [type: number, value: Thrift] }): Thrift =>
  new Map(Object.entries(fields).map(([id, field]) => [Number(id), field]));

/** Parquet of one text column: `groups` row groups of `rows` rows, all the same entry of a dictionary. */
export function equalStrings(groups: number, rows: number, { hasSums = false } = {}): Buffer {
  const page = (header: Thrift, body: number[]) => {
    const fields = [...(header as Map<number, [number, Thrift]>)];
    const sum: [number, [number, Thrift]][] = hasSums ? [[4, [INT, crc32(Uint8Array.from(body)) | 0]]] : [];
    return [...thrift(STRUCT, new Map([...fields.slice(0, 3), ...sum, ...fields.slice(3)])), ...body];
  };
  const entry = [2, 0, 0, 0, 104, 105];
  const dictionary = page(
    struct({ 1: [INT, 2], 2: [INT, 6], 3: [INT, 6], 7: [STRUCT, struct({ 1: [INT, 1], 2: [INT, 0] })] }),
    entry,
  );
  const run = [1, ...varint(2 * rows), 0];
  const counts = struct({ 1: [INT, rows], 2: [INT, 8], 3: [INT, 3], 4: [INT, 3] });
  const data = page(struct({ 1: [INT, 0], 2: [INT, run.length], 3: [INT, run.length], 5: [STRUCT, counts] }), run);
  const size = dictionary.length + data.length;
  const column = (at: number) =>
    struct({
      1: [INT, 6],
      2: [LIST, [0, 8]],
      3: [LIST, ["t"]],
      4: [INT, 0],
      5: [LONG, rows],
      6: [LONG, size],
      7: [LONG, size],
      9: [LONG, at + dictionary.length],
      11: [LONG, at],
    });
  const places = Array.from({ length: groups }, (_, g) => 4 + g * size);
  const footer = thrift(
    STRUCT,
    struct({
      1: [INT, 1],
      2: [
        LIST,
        [
          struct({ 4: [BINARY, "root"], 5: [INT, 1] }),
          struct({ 1: [INT, 6], 3: [INT, 0], 4: [BINARY, "t"], 6: [INT, 0] }),
        ],
      ],
      3: [LONG, groups * rows],
      4: [
        LIST,
        places.map((at) =>
          struct({ 1: [LIST, [struct({ 2: [LONG, at], 3: [STRUCT, column(at)] })]], 2: [LONG, size], 3: [LONG, rows] }),
        ),
      ],
    }),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  const body = places.flatMap(() => [...dictionary, ...data]);
  return Buffer.concat([ascii("PAR1"), Buffer.from(body), Buffer.from(footer), length, ascii("PAR1")]);
}

/** A file, and what a user would say of it. */
interface Bomb {
  readonly name: string;
  readonly bytes: Buffer;
  readonly options?: { readonly textColumn?: string; readonly labelColumn?: string };
}

/** Bombs by name, the largest of ten gigabytes; those in a folder of images have a slash. */
export function bombs(gigabytes = 2 ** 30): Bomb[] {
  const zeros = new Uint8Array(2 ** 22);
  const filled = (text: string) => Buffer.alloc(2 ** 22, text);
  const named = tarOf({ path: "x", type: "L", content: `a/${"n".repeat(60_000)}\0` }, { path: "x" });
  const longNames = Buffer.concat(Array<Buffer>(64).fill(named.subarray(0, -1024)));
  const grey = (width: number, height: number) => ({ width, height, depth: 8, type: 0 });
  const idat = (bytes: number) => {
    const packed = deflateSync(new Uint8Array(bytes), { level: 9 });
    return chunk("IDAT", packed);
  };
  return [
    { name: "strings.parquet", bytes: equalStrings(15, 10_000_000), options: { textColumn: "t" } },
    { name: "labels.parquet", bytes: equalStrings(15, 10_000_000), options: { labelColumn: "t" } },
    { name: "commas.csv.gz", bytes: gzipOf(ascii("1"), filled(","), 4 * gigabytes) },
    { name: "lists.jsonl.gz", bytes: gzipOf(ascii("["), filled("[],"), 4 * gigabytes) },
    { name: "digits.csv.gz", bytes: gzipOf(ascii("1,2\n1,"), filled("1"), 4 * gigabytes) },
    { name: "rows.csv.gz", bytes: gzipOf(ascii(""), filled("1,2,3,4\n"), 10 * gigabytes) },
    { name: "array.npy.gz", bytes: gzipOf(npyHeader("1000000, 10737"), zeros, 10 * gigabytes) },
    {
      name: "images-idx3-ubyte.gz",
      bytes: gzipOf(Uint8Array.of(0, 0, 8, 3, 0, 160, 0, 0, 0, 0, 0, 32, 0, 0, 0, 32), zeros, 10 * gigabytes),
    },
    { name: "names.tar.gz", bytes: gzipOf(ascii(""), longNames, 4 * gigabytes) },
    { name: "claim.tar", bytes: tarOf({ path: "a/1", size: 8 * gigabytes - 1 }) },
    { name: "overlap.npz", bytes: overlappingZip(100, 2 ** 26) },
    { name: "wide.svm", bytes: ascii("1 4294967294:1\n2 1:1\n") },
    { name: "a/pixels.png", bytes: Buffer.from(pngOf(grey(1, 1), idat(2 ** 30))) },
    { name: "a/size.png", bytes: Buffer.from(pngOf(grey(40_000, 40_000), idat(2 ** 20))) },
  ];
}

/** Files whose labels, categories, words, names or numbers of rows are what takes the room, and the flags to train on them. */
export function crowds(): { readonly name: string; readonly bytes: Buffer; readonly flags: string }[] {
  const bytes = 2 ** 29;
  const many = (start: string, line: string) =>
    gzipOf(ascii(start), Buffer.alloc(2 ** 22 - (2 ** 22 % line.length), line), bytes);
  const distinct = (start: string, count: number, line: (r: number) => string) => {
    const lines = (from: number) => Array.from({ length: 10_000 }, (_, j) => line(from + j)).join("");
    const parts = Array.from({ length: count / 10_000 }, (_, part) => gzipSync(lines(10_000 * part), { level: 1 }));
    return Buffer.concat([gzipSync(start), ...parts]);
  };
  const label = "--label label --estimator classifier --filters 10 --set iterations=1";
  const name = (r: number) => `w${r}`.padEnd(40, "x");
  const words = (r: number) => Array.from({ length: 10 }, (_, j) => `w${10 * r + j}x`).join(" ");
  const labels = (r: number) => Array.from({ length: 200 }, (_, j) => `l${200 * r + j}`).join(",");
  /** Two lines of so many cells. */
  const wide = (end: string, cells: number, cell: (c: number) => string) => {
    const parts: Buffer[] = [];
    for (let from = 0; from < cells; from += 10_000)
      parts.push(gzipSync(Array.from({ length: 10_000 }, (_, j) => cell(from + j)).join(""), { level: 1 }));
    const line = Buffer.concat([...parts, gzipSync(end)]);
    return Buffer.concat([line, line]);
  };
  return [
    { name: "labels.csv.gz", bytes: many("a,b,label\n", "1,2,k\n"), flags: label },
    { name: "labels.svm.gz", bytes: many("", "1 1:1\n"), flags: "--estimator classifier --filters 10" },
    {
      name: "categories.csv.gz",
      bytes: distinct("a,b,label\n", 3e6, (r) => `${name(r)},${name(-r)},${r % 2}\n`),
      flags: `${label} --columns a:category,b:category`,
    },
    { name: "keys.jsonl.gz", bytes: distinct("", 3e6, (r) => `{"${name(r)}":1}\n`), flags: "--estimator transform" },
    { name: "columns.csv.gz", bytes: wide("label\n", 3e6, (c) => `c${c},`), flags: label },
    { name: "named.csv.gz", bytes: wide("label\n", 5e5, (c) => `c${c},`), flags: "--label label" },
    { name: "unnamed.csv.gz", bytes: wide("k\n", 3e6, (c) => `${c % 3},`), flags: "--estimator transform" },
    {
      name: "keys-of-one.jsonl.gz",
      bytes: Buffer.concat([gzipSync("{"), wide('"y":1}\n', 2e6, (c) => `"k${c}":${c % 3},`)]),
      flags: "--label y",
    },
    {
      name: "deep.jsonl.gz",
      bytes: gzipSync(`{"a":${"[".repeat(4e6)}${"]".repeat(4e6)},"label":"a"}\n`, { level: 1 }),
      flags: "--label label",
    },
    {
      name: "less-deep.jsonl.gz",
      bytes: gzipSync(`{"a":${"[".repeat(1e5)}${"]".repeat(1e5)},"label":"a"}\n`, { level: 1 }),
      flags: "--label label",
    },
    {
      name: "words.csv.gz",
      bytes: distinct("text,label\n", 5e5, (r) => `${words(r)},${"ab"[r % 2]}\n`),
      flags: "--label label",
    },
    {
      name: "words.jsonl.gz",
      bytes: distinct("", 5e5, (r) => `{"text":"${words(r)}","label":"${"ab"[r % 2]}"}\n`),
      flags: "--label label",
    },
    {
      name: "groups.csv.gz",
      bytes: distinct("a,b,g,label\n", 3e6, (r) => `${r % 13},${r % 7},group${r},${"ab"[r % 2]}\n`),
      flags: "--label label --columns g:group --test-share 0.2",
    },
    {
      name: "times.csv.gz",
      bytes: distinct("a,b,t,label\n", 3e6, (r) => `${r % 13},${r % 7},${r},${"ab"[r % 2]}\n`),
      flags: "--label label --columns t:time --test-share 0.2",
    },
    {
      name: "weights.csv.gz",
      bytes: distinct("a,b,w,label\n", 3e6, (r) => `${r % 13},${r % 7},${1 + (r % 5)},${"ab"[r % 2]}\n`),
      flags: "--label label --columns w:weight",
    },
    {
      name: "classes.csv.gz",
      bytes: distinct("a,b,label\n", 1e6, (r) => `${r % 13},${r % 7},class${r}\n`),
      flags: "--label label",
    },
    {
      name: "sets.csv.gz",
      bytes: distinct("a,b,label\n", 1e4, (r) => `${r % 13},${r % 7},"${labels(r)}"\n`),
      flags: "--label label --multilabel",
    },
    { name: "numbers.csv.gz", bytes: distinct("", 2e7, (r) => `${r % 13}\n`), flags: "--estimator transform" },
    {
      name: "sparse.svm.gz",
      bytes: distinct("", 2e4, (r) => `${r % 2} ${1 + r}:1 ${30_000 + ((r * 7919) % 59_000_000)}:2\n`),
      flags: "",
    },
    {
      name: "features.svm.gz",
      bytes: distinct(
        "",
        3e5,
        (r) => `${r % 2} ${Array.from({ length: 10 }, (_, j) => `${10 * r + j + 1}:1`).join(" ")}\n`,
      ),
      flags: "",
    },
  ];
}
