/** Data by name or path: what a command line takes. */

import { stat } from "node:fs/promises";
import { join } from "node:path";
import { RanksimError } from "@ranksim/core";
import { type CatalogueChoice, catalogue, findDataSet } from "../catalogue/catalogue.ts";
import { readCatalogued } from "../catalogue/read-source.ts";
import type { DataSet } from "../data-set.ts";
import { type ReadDataOptions, readData } from "../read.ts";
import type { ByteSource } from "../source.ts";
import { type DownloadOptions, download } from "./download.ts";
import { fileSource, openPath } from "./files.ts";
import { cacheFolder, dataFolders, type Environment, type Located, locate, locateFile } from "./places.ts";

/** How a data set of the catalogue is found. */
export interface FetchOptions extends DownloadOptions {
  /** In place of the process's own. */
  readonly env?: Environment;
}

/** How a data set of the catalogue is found and read. */
export interface LoadDataOptions extends Omit<ReadDataOptions, "labels">, FetchOptions {
  /** A file that holds the labels, if they are apart: its path, or a source of its bytes. */
  readonly labels?: string | ByteSource;
  /** Whether files that are not here may be downloaded (default false). */
  readonly download?: boolean;
}

/** The files of `name` or `name:part` on this machine, or undefined. */
export async function locateDataSet(name: string, options: FetchOptions = {}): Promise<Located | undefined> {
  const { entry, sources } = chosen(name);
  return locate(entry, sources, options.env);
}

/** The files of `name` or `name:part`; those that are not here are downloaded to the user's cache. */
export async function fetchDataSet(name: string, options: FetchOptions = {}): Promise<Located> {
  const { entry, sources } = chosen(name);
  const here = await locate(entry, sources, options.env);
  if (here !== undefined) return here;
  const source = sources.find(({ files }) => files.every((file) => file.addresses.length > 0));
  if (source === undefined) throw notHere(name, options, "and has no public address");
  const paths: string[] = [];
  for (const file of source.files) {
    let path = await locateFile(entry, file, options.env ?? process.env);
    if (path === undefined) {
      path = join(cacheFolder(options.env), entry.name, file.name);
      await download(file, path, options);
    }
    paths.push(path);
  }
  return { source, paths };
}

/** Reads `name` or `name:part` of the catalogue. Downloads only if asked to. */
export async function loadDataSet(name: string, options: LoadDataOptions = {}): Promise<DataSet> {
  const choice = chosen(name);
  const located = options.download ? await fetchDataSet(name, options) : await locateDataSet(name, options);
  if (located === undefined) {
    throw notHere(name, options, `and download is not set${sizeOf(choice)}`);
  }
  const files = await Promise.all(located.paths.map(fileSource));
  return readCatalogued(choice, located.source, files, await readingOf(options));
}

/**
 * Reads a path, "-" for standard input, or a data set of the catalogue, in this order. As on the command line, files with words, dates or
 * missing values become a table, unless `table: false` refuses them, `textColumn` asks for text or a schema says what is expected.
 */
export async function loadData(what: string, options: LoadDataOptions = {}): Promise<DataSet> {
  const isPath =
    what === "-" ||
    (await stat(what).then(
      () => true,
      () => false,
    ));
  if (isPath || findDataSet(what) === undefined) {
    if (isPath || /[./\\]/.test(what)) return readData(await openPath(what), tolerant(await readingOf(options)));
    const names = catalogue.map((entry) => entry.name).join(", ");
    throw new RanksimError(
      "bad-file",
      `${what}: expected a file, a folder or one of ${names}; found nothing of that name`,
    );
  }
  return loadDataSet(what, options);
}

async function readingOf({ labels, ...options }: LoadDataOptions): Promise<ReadDataOptions> {
  if (labels === undefined) return options;
  return { ...options, labels: typeof labels === "string" ? await fileSource(labels) : labels };
}

function tolerant(options: ReadDataOptions): ReadDataOptions {
  return options.schema || options.textColumn !== undefined ? options : { table: true, ...options };
}

function chosen(name: string): CatalogueChoice {
  const choice = findDataSet(name);
  if (choice !== undefined) return choice;
  const names = catalogue.map((entry) => entry.name).join(", ");
  throw new RanksimError("bad-params", `expected one of ${names}, found ${JSON.stringify(name)}`);
}

function sizeOf({ sources }: CatalogueChoice): string {
  const bytes = sources[0].files.reduce((sum, file) => sum + (file.byteLength ?? Number.NaN), 0);
  return Number.isNaN(bytes) ? "" : ` (${(bytes / 1e6).toFixed(1)} MB)`;
}

function notHere(name: string, { env }: FetchOptions, why: string): RanksimError {
  return new RanksimError("bad-file", `${name} is not in ${dataFolders(env).join(", ")}, ${why}`);
}
