/** The one way in: a byte source or a folder becomes a data set, by a format that is given or detected from name and content. */

import { RanksimError } from "@ranksim/core";
import { badFile, guarded } from "./bad-file.ts";
import { type Budget, budgetOf } from "./budget.ts";
import { type DataSet, type ImageSize, type RowLabels, rowCount, type SourceData } from "./data-set.ts";
import { readArrow } from "./readers/arrow.ts";
import { readCsv } from "./readers/csv.ts";
import { formatOf } from "./readers/detect.ts";
import { recoded } from "./readers/encoding.ts";
import { isHidden } from "./readers/folder.ts";
import { readIdx } from "./readers/idx.ts";
import { readJsonLines } from "./readers/json-lines.ts";
import { readLabels } from "./readers/labels.ts";
import { arrayToData, decodeNpy } from "./readers/npy.ts";
import { readNpz } from "./readers/npz.ts";
import type { ReadOptions } from "./readers/options.ts";
import { readParquet } from "./readers/parquet.ts";
import { readSvmlight } from "./readers/svmlight.ts";
import { tarFolder } from "./readers/tar.ts";
import { readTextFolder } from "./readers/text-folder.ts";
import { expecting } from "./schema.ts";
import { type ByteSource, type Folder, openSource, readAll } from "./source.ts";

/** Options of `readData`. */
export interface ReadDataOptions extends ReadOptions {
  /** A file that holds the labels, if they are apart. */
  readonly labels?: ByteSource;
}

/**
 * Reads a file or a folder. Numbers come in the narrowest element type that is exact. Damaged files are refused with code
 * "bad-file" and a message that says where; nothing is allocated on a header's word alone.
 */
export async function readData(from: ByteSource | Folder, given: ReadDataOptions = {}): Promise<DataSet> {
  if (given.labels !== undefined && typeof given.labels?.stream !== "function") {
    throw new RanksimError(
      "bad-params",
      `labels: expected a source such as await fileSource("y.npy"), found ${JSON.stringify(given.labels)}`,
    );
  }
  const options: Budgeted = { ...given, ...expecting(given), budget: budgetOf(given) };
  const read = "entries" in from ? await readFolder(from, options) : await readFile(from, options);
  const data = options.images === undefined ? read : withImages(read, options.images, from.name);
  const labels = options.labels ?? (data.y === undefined && "stream" in from ? await siblingLabels(from) : undefined);
  if (labels !== undefined) return withLabels(data, await readLabels(labels, options), labels.name);
  return data.y === undefined ? data : withLabels(data, data.y, from.name);
}

type Budgeted = ReadDataOptions & { readonly budget: Budget };

async function readFile(source: ByteSource, options: Budgeted): Promise<DataSet> {
  const opened = await openSource(source);
  const { name } = opened;
  const account = options.budget.of(name);
  const whole = () => readAll(opened.stream, account, opened.byteLength);
  if (opened.head.byteLength === 0) throw badFile(name, "", "expected data, found an empty file");
  const format = formatOf(opened, options);
  if (!FOLDER_FORMATS.includes(format)) refuseResize(name, options);
  switch (format) {
    case "csv":
    case "tsv":
      return readCsv(recoded(opened, options), { ...options, format });
    case "jsonl":
      return readJsonLines(recoded(opened, options), options);
    case "svmlight":
      return readSvmlight(recoded(opened, options), options);
    case "npy":
      return arrayToData(name, decodeNpy(name, await whole(), account), account);
    case "npz":
      return readNpz(name, await whole(), options);
    case "idx":
      return arrayToData(name, await readIdx(opened, account), account);
    case "parquet":
      return readParquet(opened, options);
    case "arrow":
      return readArrow(name, await whole(), options);
    case "tar":
    case "text-folder":
    case "image-folder":
      return readFolder(tarFolder(opened, account), options);
    default:
      throw new RanksimError("bad-params", `format: expected the name of a format, found ${JSON.stringify(format)}`);
  }
}

const FOLDER_FORMATS: readonly string[] = ["tar", "text-folder", "image-folder"];

/** Rows of arrays are not resized; a model must not remember that they were. One that was trained on a folder takes arrays of its size. */
export function refuseResize(name: string, { resize, schema }: ReadOptions): void {
  if (!resize || schema) return;
  const { width, height } = resize;
  throw new RanksimError(
    "bad-params",
    `resize (--resize ${width}x${height}): expected a folder of images, found ${name}, whose images are taken in the size they have`,
  );
}

/** Images where the first file is one, else text. */
async function readFolder(folder: Folder, options: ReadDataOptions): Promise<DataSet> {
  if (options.format === "text-folder") return readTextFolder(folder, options);
  if (options.format === "image-folder") return readImages(folder, options);
  const entries = folder.entries()[Symbol.asyncIterator]();
  let first = await guarded(folder.name, "a folder", () => entries.next());
  while (!first.done && !folder.isList && isHidden(first.value.path)) first = await entries.next();
  const rest: Folder = {
    ...folder,
    async *entries() {
      if (!first.done) yield first.value;
      for (let next = await entries.next(); !next.done; next = await entries.next()) yield next.value;
    },
  };
  return !first.done && isImageName(first.value.path) ? readImages(rest, options) : readTextFolder(rest, options);
}

/** Whether a file is an image, by the ending of its name. */
export const isImageName = (name: string): boolean => /\.(png|pgm|jpe?g)$/i.test(name);

/** The decoder of images is fetched only by those who have some. */
async function readImages(folder: Folder, options: ReadDataOptions): Promise<DataSet> {
  const { readImageFolder } = await import("./readers/image-folder.ts");
  return readImageFolder(folder, options);
}

/** The labels file beside an IDX file of images, by MNIST's habit of naming: train-images-idx3-ubyte, train-labels-idx1-ubyte. */
export async function siblingLabels(source: ByteSource): Promise<ByteSource | undefined> {
  const name = source.name.replace(/^.*[\\/]/, "");
  const labelName = name.replace(/images([-.])idx3/, "labels$1idx1");
  return labelName === name ? undefined : source.sibling?.(labelName);
}

/** The data with its labels, checked to be one for each row. */
export function withLabels(data: DataSet, y: RowLabels, name: string): DataSet {
  if (y.length !== rowCount(data)) {
    throw badFile(name, "", `expected ${rowCount(data)} labels, one for each row, found ${y.length}`);
  }
  return { ...data, y };
}

/** Rows of numbers with the size of the images that they are. */
export function withImages<D extends DataSet | SourceData>(data: D, images: ImageSize | "square", name: string): D {
  if (data.form !== "matrix" && data.form !== "source")
    throw badFile(name, "", "expected rows of numbers for images, found text");
  const { features } = data.x;
  const side = Math.round(Math.sqrt(features));
  const size = images === "square" ? { width: side, height: side } : images;
  const pixels = size.width * size.height;
  if (features % pixels !== 0 || (images === "square" && pixels !== features)) {
    const wanted = images === "square" ? "square images" : `images of ${size.width} x ${size.height} pixels`;
    throw badFile(name, "", `expected ${wanted}, found rows of ${features} values`);
  }
  return { ...data, imageSize: size };
}
