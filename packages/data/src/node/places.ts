/**
 * Where data sets lie on this machine, in the order they are looked for: the folders of RANKSIM_DATA, the user's cache,
 * Debian's data set packages. A folder holds either a folder for each data set or the files themselves.
 */

import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import type { CatalogueEntry, CatalogueFile, CatalogueSource } from "../catalogue/entry.ts";
import { openSource } from "../source.ts";
import { fileSource, isFile, sha256 } from "./files.ts";

/** The part of the environment that matters here. */
export interface Environment {
  readonly RANKSIM_DATA?: string | undefined;
  readonly XDG_CACHE_HOME?: string | undefined;
}

/** Where Debian's packages (dataset-fashion-mnist) put data sets. */
const SYSTEM_FOLDER = "/usr/share/datasets";

/** The folder that downloads go to: `ranksim` in the user's cache. */
export function cacheFolder(env: Environment = process.env): string {
  return join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "ranksim");
}

/** All folders that are looked in, in order. */
export function dataFolders(env: Environment = process.env): string[] {
  const given = (env.RANKSIM_DATA ?? "").split(delimiter).filter((folder) => folder !== "");
  return [...given, cacheFolder(env), SYSTEM_FOLDER];
}

/** A source of a part with the paths of its files, in its order. */
export interface Located {
  readonly source: CatalogueSource;
  readonly paths: readonly string[];
}

/** The first source whose files are all here. */
export async function locate(
  entry: CatalogueEntry,
  sources: readonly CatalogueSource[],
  env: Environment = process.env,
): Promise<Located | undefined> {
  for (const source of sources) {
    const paths = await Promise.all(source.files.map((file) => locateFile(entry, file, env)));
    if (paths.every((path) => path !== undefined)) return { source, paths };
  }
  return undefined;
}

/** The path of a file of a data set, packed or not, or undefined. */
export async function locateFile(
  entry: CatalogueEntry,
  file: CatalogueFile,
  env: Environment,
): Promise<string | undefined> {
  const names = file.name.endsWith(".gz") ? [file.name, file.name.slice(0, -3)] : [file.name];
  for (const folder of dataFolders(env)) {
    for (const name of names) {
      const own = join(folder, entry.name, name);
      if (await isFile(own)) return own;
      const shared = join(folder, name);
      if ((await isFile(shared)) && (await isThatFile(shared, file))) return shared;
    }
  }
  return undefined;
}

/** Whether a file that lies among others is the one meant: MNIST and its relatives all use the same names. */
async function isThatFile(path: string, { plainSha256 }: CatalogueFile): Promise<boolean> {
  if (plainSha256 === undefined) return true;
  try {
    return (await sha256((await openSource(await fileSource(path))).stream)) === plainSha256;
  } catch {
    return false;
  }
}
