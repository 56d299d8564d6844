/** The rows that neighbours and maps are measured on. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Csr, Dense, type Matrix } from "@ranksim/core";
import { TfidfVectorizer } from "@ranksim/data";
import { Draw } from "../../../differential/draw.ts";
import type { Bench } from "../../table.ts";

/** Rows, and others that are not among them. */
export interface Parts {
  readonly x: Matrix;
  readonly asked: Matrix;
}

export type DataName = "digits" | "fashion" | "newsgroups" | "cells" | "drawn";

/** What stands above the tables. */
export const TITLES: { readonly [name in DataName]: string } = {
  digits: "Digits",
  fashion: "Fashion-MNIST",
  newsgroups: "20 Newsgroups, tf-idf of 10,000 words",
  cells: "Single cells of blood, logarithms of counts",
  drawn: "Drawn embeddings",
};

const QUERIES = 1000;
const WORDS = 10_000;
const REMOVED = { remove: ["headers", "footers", "quotes"] } as const;
/** One cell in ten is a query. */
const HELD_OUT = 10;
const DRAWN = { rows: 100_000, features: 384, clusters: 1000, quick: 600 };
const COUNTS_OF_CELL = 10_000;

const known = new Map<string, Promise<Parts>>();

/** The data set, read once. */
export function partsOf(name: DataName, bench: Bench): Promise<Parts> {
  const key = `${name} ${bench.quick}`;
  const found = known.get(key) ?? read(name, bench);
  known.set(key, found);
  return found;
}

async function read(name: DataName, { shelf, quick }: Bench): Promise<Parts> {
  const most = quick ? 40 : QUERIES;
  if (name === "drawn") return drawEmbeddings(quick ? DRAWN.quick : DRAWN.rows, most);
  if (name === "cells") return split(readCells(join(shelf.folder ?? ".", "cells/ifnb-pbmc")), quick ? 400 : 2800);
  if (name === "newsgroups") {
    const [train, test] = await Promise.all(
      ["train", "test"].map((part) => shelf.text(`20newsgroups:${part}`, REMOVED)),
    );
    const texts = quick ? train.text.filter((_, r) => r % 25 === 0) : train.text;
    const words = await new TfidfVectorizer({ maxFeatures: WORDS }).fit(texts);
    const every = Math.floor(test.text.length / most); // test posts come class by class
    const asked = Array.from({ length: most }, (_, r) => test.text[r * every]);
    return { x: withWords(await words.transform(texts)), asked: withWords(await words.transform(asked)) };
  }
  const set = name === "fashion" ? "fashion-mnist" : "digits";
  const [train, test] = [await shelf.numbers(`${set}:train`), await shelf.numbers(`${set}:test`)];
  const x = quick ? train.x.slice(0, 400) : train.x;
  return { x: x as Matrix, asked: test.x.slice(0, Math.min(most, test.x.rows)) as Matrix };
}

/** Rows with any entry: others are like none. */
function withWords(x: Matrix): Matrix {
  const { offsets } = x as Csr;
  return x.gather(Uint32Array.from(offsets.keys()).filter((r) => r < x.rows && offsets[r + 1] > offsets[r])) as Matrix;
}

function split(x: Matrix, rows: number): Parts {
  const all = Uint32Array.from({ length: Math.min(rows, x.rows) }, (_, r) => r);
  const isAsked = (r: number) => r % HELD_OUT === 0;
  return {
    x: x.gather(all.filter((r) => !isAsked(r))) as Matrix,
    asked: x.gather(all.filter(isAsked)) as Matrix,
  };
}

/** Cells of a 10x folder: logarithms of counts, those of each cell scaled to the same sum. */
function readCells(folder: string): Csr {
  const lines = gunzipSync(readFileSync(join(folder, "matrix.mtx.gz")))
    .toString("latin1")
    .split("\n");
  const first = lines.findIndex((line) => !line.startsWith("%"));
  const [genes, cells] = lines[first].split(" ").map(Number);
  const rows: [gene: number, count: number][][] = Array.from({ length: cells }, () => []);
  for (const line of lines.slice(first + 1)) {
    if (line === "") continue;
    const [gene, cell, count] = line.split(" ").map(Number);
    rows[cell - 1].push([gene - 1, count]);
  }
  const scaled = rows.map((row) => {
    const sum = row.reduce((total, [, count]) => total + count, 0);
    return row.sort(([a], [b]) => a - b).map(([gene, n]) => [gene, Math.log1p((COUNTS_OF_CELL * n) / sum)] as const);
  });
  return Csr.fromRows(scaled, genes);
}

/** Rows about drawn middles, which count for half of their variance. */
function drawEmbeddings(rows: number, asked: number): Parts {
  const random = new Draw(0, 0);
  // The sum of four equal draws is near enough to a normal one, and has the same bits everywhere.
  const draw = () => 2 * (random.share() + random.share() + random.share() + random.share() - 2);
  const { features, clusters } = DRAWN;
  const middles = Float32Array.from({ length: Math.min(clusters, rows) * features }, draw);
  const make = (count: number) => {
    const values = new Float32Array(count * features);
    for (let r = 0; r < count; r++) {
      const at = random.below(middles.length / features) * features;
      for (let i = 0; i < features; i++) values[r * features + i] = middles[at + i] + draw();
    }
    return Dense.of(values, count, features);
  };
  return { x: make(rows), asked: make(asked) };
}
