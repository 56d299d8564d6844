/** Small data sets of every kind, of which command, library and page make one model. */

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeNpy, type LoadDataOptions } from "@ranksim/data/node";
import type { TrainOptions } from "@ranksim/learn";
import { encode } from "fast-png";
import type { ReadChoices } from "../../playground/src/protocol.ts";

const draw = (r: number, c: number) => ((r * 7919 + c * 104729) % 1009) / 1009;
const rows = (count: number, line: (r: number) => string) =>
  Array.from({ length: count }, (_, r) => line(r)).join("\n");
const WORDS = ["price", "market", "share", "goal", "match", "team", "vote", "law", "court", "rain", "wind", "snow"];
const words = (r: number) =>
  Array.from({ length: 8 }, (_, j) => WORDS[(4 * (r % 3) + Math.floor(4 * draw(r, j))) % 12]);

export interface Case {
  readonly name: string;
  /** The file or folder, which `make` writes. */
  readonly file: string;
  readonly make: (path: string) => void;
  readonly flags?: readonly string[];
  readonly reading?: LoadDataOptions;
  readonly options?: TrainOptions;
  /** Whether it can be read in blocks. */
  readonly inBlocks?: boolean;
  readonly memory?: string;
  /** What is said of the columns on the page; null where the page has no place to say it. */
  readonly onPage?: ReadChoices | null;
}

/** A case of a table in CSV. */
const tableCase = (
  name: string,
  file: string,
  head: string,
  [count, line]: [count: number, line: (r: number) => string],
  more: Pick<Case, "flags" | "reading" | "options" | "onPage"> = {},
): Case => ({
  ...{ name, file, inBlocks: true, ...more },
  make: (path) => writeFileSync(path, `${head}\n${rows(count, line)}\n`),
});

/** Rows of patients, of several visits each. */
const VISITS = 200;
const patient = (r: number) => `p${(r * 7) % 23}`;
const visit = (r: number) => `${r % 13},${draw(r, 1)},${patient(r)},${1 + (r % 3)},${r % 13 > 6 ? "ill" : "well"}`;
const VISIT_HEAD = "a,b,who,weight,label";

export const CASES: readonly Case[] = [
  tableCase("few rows", "few.csv", "a,b,c,label", [
    9,
    (r) => `${r},${(r * 5) % 7},${r % 2 ? "on" : "off"},${"xy"[r % 2]}`,
  ]),
  tableCase("dates", "dates.csv", "when,size,label", [
    160,
    (r) =>
      `${String(1 + ((r * 7) % 28)).padStart(2, "0")}.${1 + (r % 12)}.2024,${r % 9},${r % 12 > 5 ? "late" : "early"}`,
  ]),
  {
    ...tableCase("text beside numbers", "mixed.csv", "price,review,label", [
      400,
      (r) => `${(r * 13) % 40},"so much ${words(r % 120).join(" ")} as ever",${"xyz"[r % 3]}`,
    ]),
    // All texts of a column have to fit.
    memory: "60kB",
  },
  tableCase("groups that are held out together", "groups.csv", VISIT_HEAD, [VISITS, visit], {
    flags: ["--columns", "weight:ignore", "--columns", "who:group", "--test-share", "0.25"],
    reading: { ignoreColumns: ["weight", "who"] },
    onPage: { ignoreColumns: ["weight"], groupColumn: "who" },
    options: { testShare: 0.25, split: { groups: Array.from({ length: VISITS }, (_, r) => patient(r)) } },
  }),
  tableCase("weights of rows", "weights.csv", VISIT_HEAD, [VISITS, visit], {
    flags: ["--columns", "who:ignore", "--columns", "weight:weight"],
    reading: { ignoreColumns: ["who", "weight"] },
    onPage: { ignoreColumns: ["who"], weightColumn: "weight" },
    options: { weights: Float64Array.from({ length: VISITS }, (_, r) => 1 + (r % 3)) },
  }),
  {
    name: "a table with words and gaps",
    file: "table.csv",
    make: (path) =>
      writeFileSync(
        path,
        `age,town,income,label\n${rows(240, (r) => `${20 + (r % 50)},${["York", "Leeds", ""][r % 3]},${r % 11 === 0 ? "" : 1000 * (r % 17)},${r % 50 > 24 ? "old" : "young"}`)}\n`,
      ),
    inBlocks: true,
  },
  {
    name: "numbers of one unit",
    file: "numbers.csv",
    make: (path) =>
      writeFileSync(
        path,
        `${rows(1, () => [...Array(20).keys()].map((c) => `x${c}`).join(","))},label\n${rows(120, (r) => `${[...Array(20).keys()].map((c) => Math.floor(9 * draw(r, c)) + ((r + c) % 4)).join(",")},${"abcd"[r % 4]}`)}\n`,
      ),
    inBlocks: true,
  },
  {
    name: "text",
    file: "text.csv",
    make: (path) => writeFileSync(path, `text,label\n${rows(150, (r) => `${words(r).join(" ")},${"xyz"[r % 3]}`)}\n`),
    flags: ["--text"],
    reading: { textColumn: "text" },
    onPage: { textColumn: "text" },
    inBlocks: true,
  },
  {
    name: "sparse rows",
    file: "rows.svm",
    make: (path) =>
      writeFileSync(
        path,
        `${rows(200, (r) => `${r % 2} ${[1, 2, 3].map((j) => `${1 + 200 * j + ((r * j) % 150)}:${1 + (r % 5)}`).join(" ")}`)}\n`,
      ),
    inBlocks: true,
  },
  {
    name: "several labels",
    file: "sets.csv",
    make: (path) =>
      writeFileSync(
        path,
        `${[...Array(12).keys()].map((c) => `x${c}`).join(",")},label\n${rows(120, (r) => `${[...Array(12).keys()].map((c) => (c % 3 === r % 3 ? 9 : Math.floor(5 * draw(r, c)))).join(",")},"${["a", "b,a", "c"][r % 3]}"`)}\n`,
      ),
    flags: ["--multilabel"],
    reading: { multilabel: true },
    onPage: { multilabel: true },
    inBlocks: true,
  },
  {
    name: "a folder of images",
    file: "images",
    make: (path) => {
      for (const [c, name] of ["bars", "dots"].entries()) {
        mkdirSync(join(path, name), { recursive: true });
        for (let j = 0; j < 30; j++) {
          const data = Uint8Array.from({ length: 144 }, (_, p) =>
            c === 0 ? ((p + j) % 3 === 0 ? 250 : 5) : draw(j, p) > 0.8 ? 250 : 5,
          );
          writeFileSync(join(path, name, `${j}.png`), encode({ width: 12, height: 12, data, channels: 1 }));
        }
      }
    },
  },
  {
    name: "an array with images",
    file: "images.npy",
    make: (path) => {
      const shape = [80, 8, 8];
      const values = Uint8Array.from({ length: 80 * 64 }, (_, e) => 16 * draw(Math.floor(e / 64) % 4, e % 64));
      writeFileSync(path, encodeNpy(values, shape));
      writeFileSync(`${path}.labels.txt`, `${rows(80, (r) => "abcd"[r % 4])}\n`);
    },
    inBlocks: true,
  },
  {
    name: "rows held out, sets and the plain estimator",
    file: "held.csv",
    make: (path) =>
      writeFileSync(
        path,
        `a,b,c,label\n${rows(300, (r) => `${r % 13},${1000 * (r % 7)},${draw(r, 3)},${r % 13 > 6 ? "p" : "q"}`)}\n`,
      ),
    flags: ["--estimator", "classifier", "--filters", "12", "--seed", "3", "--sets", "--test-share", "0.25"],
    options: { estimator: "classifier", params: { filters: 12 }, seed: 3, sets: true, testShare: 0.25 },
    onPage: null,
    inBlocks: true,
  },
];

/** The files of a case as they are dropped on the page, after `make`. */
export function filesOfCase(folder: string, { file }: Case): { name: string; bytes: Buffer<ArrayBuffer> }[] {
  const names = statSync(join(folder, file)).isDirectory()
    ? readdirSync(join(folder, file), { recursive: true, encoding: "utf8" })
        .filter((name) => name.includes("."))
        .sort()
        .map((name) => `${file}/${name}`)
    : [file, ...(file.endsWith(".npy") ? [`${file}.labels.txt`] : [])];
  return names.map((name) => ({ name, bytes: readFileSync(join(folder, name)) as Buffer<ArrayBuffer> }));
}
