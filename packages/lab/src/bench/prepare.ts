/**
 * The data of the benchmark, read once and laid down as raw arrays for every measuring process: Fashion-MNIST, a small part
 * of it for the slow npm packages, and 20 Newsgroups as word counts with scikit-learn's cleaning.
 */

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Csr } from "@ranksim/core";
import { CountVectorizer, fileSource, readData, type TextData } from "@ranksim/data/node";
import { type Part, writePart } from "./data-files.ts";
import type { Missing } from "./results.ts";

/** Where the data are. */
interface DataPaths {
  /** Folder with the four original files of Fashion-MNIST. */
  readonly fashionMnist: string;
  /** 20news-bydate.tar.gz. */
  readonly newsgroups: string | undefined;
}

/** Rows that are taken of each part; all where absent. */
export interface Sizes {
  readonly fashion?: { readonly train: number; readonly test: number };
  readonly small: { readonly train: number; readonly test: number };
  readonly newsgroups?: { readonly train: number; readonly test: number };
}

/** The data that are at hand, by name ("fashion", "small", "newsgroups"), each in a folder. */
export interface Prepared {
  readonly folders: { readonly [name: string]: string };
  readonly missing: readonly Missing[];
}

/** Reads what is there and lays it down under `scratch`. */
export async function prepare(scratch: string, paths: DataPaths, sizes: Sizes): Promise<Prepared> {
  const folders: Record<string, string> = {};
  const missing: Missing[] = [];
  const lay = (name: string, train: Part, test: Part) => {
    folders[name] = join(scratch, name);
    mkdirSync(folders[name], { recursive: true });
    writePart(folders[name], "train", train);
    writePart(folders[name], "test", test);
  };
  if (existsSync(join(paths.fashionMnist, "train-images-idx3-ubyte.gz"))) {
    const [train, test] = [await images(paths.fashionMnist, "train"), await images(paths.fashionMnist, "t10k")];
    lay("fashion", first(train, sizes.fashion?.train), first(test, sizes.fashion?.test));
    lay("small", first(train, sizes.small.train), first(test, sizes.small.test));
  } else {
    missing.push({
      name: "Fashion-MNIST",
      why: "its files are not at hand (--fashion-mnist FOLDER; Debian: dataset-fashion-mnist)",
    });
  }
  if (paths.newsgroups !== undefined && existsSync(paths.newsgroups)) {
    const { train, test } = await newsgroups(paths.newsgroups);
    lay("newsgroups", spaced(train, sizes.newsgroups?.train), spaced(test, sizes.newsgroups?.test));
  } else {
    missing.push({ name: "20 Newsgroups", why: "20news-bydate.tar.gz is not at hand (--newsgroups FILE)" });
  }
  return { folders, missing };
}

async function images(folder: string, part: string): Promise<Part> {
  const data = await readData(await fileSource(join(folder, `${part}-images-idx3-ubyte.gz`)));
  if (data.form !== "matrix" || data.y === undefined) throw new Error(`expected images with labels in ${folder}`);
  return { x: data.x, y: Uint8Array.from(data.y as number[]) };
}

async function newsgroups(path: string): Promise<{ train: Part; test: Part }> {
  const read = async (part: string) =>
    (await readData(await fileSource(path), {
      format: "text-folder",
      under: `20news-bydate-${part}`,
      encoding: "latin1",
      remove: ["headers", "footers", "quotes"],
    })) as TextData;
  const [train, test] = [await read("train"), await read("test")];
  const classes = [...new Set(train.y as string[])].sort();
  const codes = (y: TextData["y"]) => Uint8Array.from(y as string[], (label) => classes.indexOf(label));
  const vectorizer = await new CountVectorizer().fit(train.text);
  const counts = async (text: readonly string[]) => (await vectorizer.transform(text)) as Csr;
  return {
    train: { x: await counts(train.text), y: codes(train.y) },
    test: { x: await counts(test.text), y: codes(test.y) },
  };
}

function first({ x, y }: Part, rows = x.rows): Part {
  if (rows >= x.rows) return { x, y };
  return { x: x.slice(0, rows), y: y.subarray(0, rows) };
}

/** Rows at even distances: posts come class by class. */
function spaced({ x, y }: Part, rows = x.rows): Part {
  if (rows >= x.rows) return { x, y };
  const picked = Uint32Array.from({ length: rows }, (_, r) => Math.floor((r * x.rows) / rows));
  return { x: x.gather(picked), y: Uint8Array.from(picked, (r) => y[r]) };
}
