/**
 * Files twice as long take about twice the time, wherever a scanner might look at the same bytes again and again: with time that grows
 * by the square, the longest of them would take minutes. Ratios of processor time, the best of several tries each.
 */

import { expect, test } from "vitest";
import { bytesSource, CountVectorizer, readBlocks, readData, readLabels } from "../src/index.ts";
import { tarOf } from "./tar-files.ts";

const ascii = (text: string) => Buffer.from(text, "latin1");

function npy(descr: string, shape: string, data: Buffer): Buffer {
  const header = ascii(`{'descr': '${descr}', 'fortran_order': True, 'shape': (${shape}), }\n`);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(header.length);
  return Buffer.concat([ascii("\x93NUMPY\x02\0"), size, header, data]);
}

const tar = (type: string, content: string) => tarOf({ path: "x", type, content });

const read = (name: string, bytes: Buffer, options = {}) =>
  readData(bytesSource(bytes, name), options).then(
    () => undefined,
    () => undefined,
  );

/** A table whose first record is n bytes long, through `readBlocks`, in pieces as a disk gives them. */
async function readLine(n: number, text: string): Promise<void> {
  const piece = ascii(text.slice(0, 1) + text.slice(-1).repeat((1 << 16) - 1));
  const stream = async function* () {
    yield ascii(text);
    for (let at = 0; at < n; at += piece.length) yield piece.subarray(1);
  };
  const blocks = readBlocks({ name: "a.csv", byteLength: n, stream }, { labelColumn: 0 });
  await blocks.next().catch(() => undefined);
}

/** A file of about n bytes, read or refused. */
const cases: [what: string, size: number, run: (n: number) => Promise<unknown>][] = [
  ["a number without end, and then a letter", 1e6, (n) => read("a.csv", ascii(`${"1".repeat(n)}x,2\n`))],
  ["a fraction without end, and then a letter", 1e6, (n) => read("a.csv", ascii(`1.${"1".repeat(n)}x,2\n`))],
  ["a label of digits, and then a letter", 1e6, (n) => readLabels(bytesSource(ascii(`${"1".repeat(n)}x\n1\n`), "a"))],
  ["a label column", 1e6, (n) => read("a.csv", ascii(`1,2,${"1".repeat(n)}x\n1,2,3\n`), { labelColumn: 2 })],
  ["blanks without end", 1e6, (n) => read("a.csv", ascii(`1,${" ".repeat(n)}x\n`))],
  ["a quoted field that never closes", 1e6, (n) => read("a.csv", ascii(`1,2\n1,"${'""'.repeat(n / 2)}`))],
  ["blocks of a line without end", 8e6, (n) => readLine(n, "7")],
  ["blocks of a quoted field without end", 8e6, (n) => readLine(n, '"x\n')],
  // Of a million the collector of garbage may take a half or nothing.
  ["a line of JSON that never closes", 4e6, (n) => read("a.jsonl", ascii("[".repeat(n)))],
  ["svmlight of blanks", 1e6, (n) => read("a.svm", ascii(`1 1:1${" ".repeat(n)}x\n`))],
  [
    "numpy strings of zeros, and then a letter",
    4e5,
    (n) =>
      readLabels(
        bytesSource(npy(`|S${n}`, "2,", Buffer.concat([Buffer.alloc(n - 1), ascii("x"), Buffer.alloc(n)])), "a.npy"),
      ),
  ],
  ["numpy of many axes", 3e5, (n) => read("a.npy", npy("|u1", "1,".repeat(n / 2), Buffer.alloc(1)))],
  ["a pax header of digits", 6e4, (n) => read("a.tar", tar("x", "1".repeat(Math.min(n, 65_000))))],
  ["a pax header of lines", 3e4, (n) => read("a.tar", tar("x", "1 path=\n".repeat(n / 8)))],
  ["a tar name of zeros", 3e4, (n) => read("a.tar", tar("L", "\0".repeat(n)))],
  ["texts of one long word", 3e5, (n) => new CountVectorizer().fitTransform(["w".repeat(n), "a word"])],
];

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
};

test.each(cases)("%s", async (_, size, run) => {
  await run(1000);
  let [once, twice] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < 8; round++) {
    once = Math.min(once, await seconds(() => run(size)));
    twice = Math.min(twice, await seconds(() => run(2 * size)));
    if (round >= 2 && twice < 3 * once) break;
  }
  // Below a few milliseconds there is nothing to compare.
  expect(twice).toBeLessThan(Math.max(3 * once, 0.02));
});
