/**
 * The data sets of the measuring processes, found through the catalogue and laid down as raw arrays that Node and Python both read: the
 * published train rows, then the test rows. A set that is not at hand is named, and the nearest one takes its place.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Csr, compareLabels, Dense, type Label, type Matrix } from "@ranksim/core";
import { CountVectorizer, loadDataSet, locateDataSet, type TextData, TfidfVectorizer } from "@ranksim/data/node";
import { readPart, writePart } from "./data-files.ts";
import { chooseRows, type Laid, type RowChoice } from "./rows.ts";

/** Data sets as they are laid down for measuring processes. */
export type DataName = "fashion" | "kuzushiji" | "newsgroups" | "newsgroups-counts" | "newsgroups-words" | "rcv1";

/** One of this many parts of the train and test rows has about 400 and 200 rows. */
const QUICK_PARTS: { readonly [name in DataName]: { readonly trainParts: number; readonly testParts: number } } = {
  fashion: { trainParts: 150, testParts: 50 },
  kuzushiji: { trainParts: 150, testParts: 50 },
  newsgroups: { trainParts: 28, testParts: 38 },
  "newsgroups-words": { trainParts: 28, testParts: 38 },
  "newsgroups-counts": { trainParts: 28, testParts: 38 },
  rcv1: { trainParts: 36, testParts: 66 },
};

/** The choice of rows, cut down for a quick run. */
export function rowsFor(quick: boolean, data: DataName, choice: RowChoice): RowChoice {
  if (!quick) return choice;
  const { trainParts, testParts } = QUICK_PARTS[data];
  return { ...choice, trainParts: trainParts * (choice.trainParts && choice.trainParts > 6 ? 2 : 1), testParts };
}

/** A data set that was laid down. */
export interface LaidData extends Laid {
  readonly folder: string;
  readonly source: SourceFacts;
}

/** Which data set stands behind a name. */
export interface SourceFacts {
  /** Name in the catalogue. */
  readonly set: string;
  readonly title: string;
  /** Why it stands in for the paper's, where it does. */
  readonly substitute?: string;
  readonly features: number;
  readonly classes: number;
  readonly trainRows: number;
  readonly testRows: number;
}

/** Words that are kept of 20 Newsgroups: the most frequent ones of the training part, as scikit-learn's max_features does. */
export const WORDS = 10_000;

/** Data sets for each name, the paper's own first. */
const CANDIDATES: { readonly [name in DataName]: readonly { readonly set: string; readonly substitute?: string }[] } = {
  fashion: [{ set: "fashion-mnist" }],
  kuzushiji: [
    { set: "kuzushiji-49" },
    { set: "kmnist", substitute: "KMNIST (10 classes, 70,000 images) in place of Kuzushiji-49, which is not at hand" },
  ],
  newsgroups: [{ set: "20newsgroups" }],
  "newsgroups-counts": [{ set: "20newsgroups" }],
  "newsgroups-words": [{ set: "20newsgroups" }],
  rcv1: [{ set: "rcv1" }],
};

/** Finds and lays down data sets, each once. */
export class DataShelf {
  readonly #scratch: string;
  readonly #env: { readonly RANKSIM_DATA?: string };
  readonly #laid = new Map<DataName, Promise<LaidData>>();

  constructor(scratch: string, dataFolder: string | undefined) {
    this.#scratch = scratch;
    this.#env = { ...process.env, ...(dataFolder === undefined ? {} : { RANKSIM_DATA: dataFolder }) };
  }

  /** The data set. */
  open(name: DataName): Promise<LaidData> {
    const known = this.#laid.get(name);
    if (known) return known;
    const laid = this.#lay(name);
    this.#laid.set(name, laid);
    return laid;
  }

  async #lay(name: DataName): Promise<LaidData> {
    const options = { env: this.#env };
    for (const { set, substitute } of CANDIDATES[name]) {
      const located = await Promise.all([
        locateDataSet(`${set}:train`, options),
        locateDataSet(`${set}:test`, options),
      ]);
      if (located.some((files) => files === undefined)) continue;
      const [train, test] = await Promise.all([
        loadDataSet(`${set}:train`, options),
        loadDataSet(`${set}:test`, options),
      ]);
      const folder = join(this.#scratch, name);
      mkdirSync(folder, { recursive: true });
      if (train.form === "text" && test.form === "text") {
        return layTexts(folder, name, set, train, test);
      }
      if (train.form !== "matrix" || test.form !== "matrix") throw new Error(`${set}: expected parts of one form`);
      const from = set === "rcv1" ? Math.max(0, test.x.rows - RCV1_TEST_ROWS) : 0;
      const labels = [...(train.y ?? []), ...(test.y ?? []).slice(from)];
      const x = stack(train.x, test.x.slice(from, test.x.rows));
      const marked = located[0]?.source.form === "svmlight" ? RCV1_SUBSTITUTE : substitute;
      if (labels.every((label) => typeof label === "number")) {
        return lay(folder, set, x, Uint8Array.from(labels), train.x.rows, marked);
      }
      return laySets(folder, set, x, labels as readonly (readonly Label[])[], train.x.rows, marked);
    }
    const names = CANDIDATES[name].map(({ set }) => set).join(" or ");
    throw new Error(`${names} is not at hand (see \`ranksim data\`)`);
  }
}

/** The paper takes the last 20,000 test stories. */
const RCV1_TEST_ROWS = 20_000;

const RCV1_SUBSTITUTE =
  "the merged LIBSVM subsets (27,613 of the 804,414 stories) in place of the paper's 23,149 training and last 20,000 test stories";

async function layTexts(folder: string, name: DataName, set: string, train: TextData, test: TextData) {
  const params = name === "newsgroups-words" ? {} : { maxFeatures: WORDS };
  const vectorizer = await (name === "newsgroups"
    ? new TfidfVectorizer({ ...params, useIdf: false, norm: "l2" })
    : new CountVectorizer(params)
  ).fit(train.text);
  const x = await vectorizer.transform([...train.text, ...test.text]);
  const labels = [...(train.y ?? []), ...(test.y ?? [])] as string[];
  const classes = [...new Set(labels)].sort();
  const y = Uint8Array.from(labels, (label) => classes.indexOf(label));
  return lay(folder, set, x, y, train.text.length, undefined);
}

function lay(
  folder: string,
  set: string,
  x: Matrix,
  y: Uint8Array,
  trainRows: number,
  substitute: string | undefined,
): LaidData {
  writePart(folder, "all", { x, y });
  const source = sourceOf(set, x, new Set(y).size, trainRows, substitute);
  return { folder, rows: x.rows, trainRows, y, source };
}

/** Several labels for each row: a second sparse matrix of ones beside the rows. */
function laySets(
  folder: string,
  set: string,
  x: Matrix,
  sets: readonly (readonly Label[])[],
  trainRows: number,
  substitute: string | undefined,
): LaidData {
  writePart(folder, "all", { x, y: new Uint8Array(x.rows) });
  const names = [...new Set(sets.flat())].sort(compareLabels);
  const column = new Map(names.map((name, c) => [name, c]));
  const present = Csr.fromRows(
    sets.map((labels) => labels.map((label) => [column.get(label) as number, 1] as const)),
    names.length,
  );
  writePart(folder, "sets", { x: present, y: new Uint8Array(x.rows) });
  return { folder, rows: x.rows, trainRows, source: sourceOf(set, x, names.length, trainRows, substitute) };
}

function sourceOf(
  set: string,
  x: Matrix,
  classes: number,
  trainRows: number,
  substitute: string | undefined,
): SourceFacts {
  const { features } = x;
  const title = TITLES[set] ?? set;
  const facts = { set, title, features, classes, trainRows, testRows: x.rows - trainRows };
  return substitute === undefined ? facts : { ...facts, substitute };
}

const TITLES: { readonly [set: string]: string } = {
  "fashion-mnist": "Fashion-MNIST",
  "kuzushiji-49": "Kuzushiji-49",
  kmnist: "KMNIST",
  "20newsgroups": "20 Newsgroups",
  rcv1: "RCV1",
};

function stack(a: Matrix, b: Matrix): Matrix {
  const type = a.values.constructor as new (length: number) => typeof a.values;
  if (a.form === "dense" && b.form === "dense") {
    const values = new type(a.values.length + b.values.length);
    values.set(a.values);
    values.set(b.values, a.values.length);
    return Dense.of(values, a.rows + b.rows, a.features);
  }
  if (a.form !== "csr" || b.form !== "csr") throw new Error("expected parts of one form");
  const entries = a.offsets[a.rows];
  const offsets = new Uint32Array(a.rows + b.rows + 1);
  offsets.set(a.offsets);
  for (let r = 1; r <= b.rows; r++) offsets[a.rows + r] = entries + b.offsets[r];
  const indices = new Uint32Array(entries + b.offsets[b.rows]);
  const values = new type(indices.length);
  indices.set(a.indices.subarray(0, entries));
  indices.set(b.indices.subarray(0, b.offsets[b.rows]), entries);
  values.set(a.values.subarray(0, entries));
  values.set(b.values.subarray(0, b.offsets[b.rows]), entries);
  return Csr.of(offsets, indices, values, Math.max(a.features, b.features));
}

/** Rows with their labels: a class number for each, or a 0/1 matrix. */
export interface Rows {
  readonly x: Matrix;
  readonly y: Uint8Array | Csr;
}

/** Reads chosen rows of a folder that was laid down. */
function readRows(folder: string, multilabel: boolean, rows: Uint32Array): Rows {
  const { x, y } = readPart(folder, "all");
  const labels = multilabel ? (readPart(folder, "sets").x as Csr).gather(rows) : Uint8Array.from(rows, (r) => y[r]);
  return { x: x.gather(rows), y: labels };
}

/** Where a measuring process finds its rows. */
export interface Places {
  readonly folder: string;
  readonly multilabel: boolean;
  /** Files with row numbers. */
  readonly train: string;
  readonly test: string;
}

/** Lays a data set down and writes which rows of it a process trains and tests on. */
export async function placesOf(shelf: DataShelf, scratch: string, data: DataName, choice: RowChoice): Promise<Places> {
  const laid = await shelf.open(data);
  const { train, test } = chooseRows(laid, choice);
  const places = { folder: laid.folder, train: join(scratch, "train.rows"), test: join(scratch, "test.rows") };
  writeFileSync(places.train, train);
  writeFileSync(places.test, test);
  return { ...places, multilabel: laid.y === undefined };
}

/** Rows to train on. */
export function trainRows({ folder, multilabel, train }: Places): Rows {
  return readRows(folder, multilabel, readRowNumbers(train));
}

/** Rows to test on. */
export function testRows({ folder, multilabel, test }: Places): Rows {
  return readRows(folder, multilabel, readRowNumbers(test));
}

/** Reads a list of row numbers. */
function readRowNumbers(path: string): Uint32Array {
  const bytes = readFileSync(path);
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
}
