/** Files of a folder in the order of their paths, each with the class its own folder names. Shared by texts and images. */

import { badFile, guarded } from "../bad-file.ts";
import type { Folder } from "../source.ts";
import type { ReadOptions } from "./options.ts";

/** What became of the files. */
interface Collected<T> {
  readonly contents: T[];
  readonly paths: string[];
  /** The folder of each file; absent where files lie directly in the folder that was given. */
  readonly y?: string[];
}

/** What systems leave in folders unseen; hidden names begin with a point. */
const SYSTEM_FILES = new Set(["thumbs.db", "desktop.ini", "__macosx"]);

/** Whether a file is none that a person put there. */
export const isHidden = (path: string): boolean =>
  path.split("/").some((part) => part.startsWith(".") || SYSTEM_FILES.has(part.toLowerCase()));

/** Reads every file (hidden ones apart) with `read`. Refuses files beside class folders, unless they are a list. */
export async function collectFiles<T>(
  folder: Folder,
  options: ReadOptions,
  read: (path: string, bytes: Uint8Array) => T | Promise<T>,
): Promise<Collected<T>> {
  const { name, isList = false } = folder;
  const under = options.under === undefined ? "" : `${options.under.replace(/^\/+|\/+$/g, "")}/`;
  const found: { path: string; content: T }[] = [];
  await guarded(name, "a folder", async () => {
    const asked: { path: string; bytes: Promise<Uint8Array> }[] = [];
    const next = async (): Promise<void> => {
      const { path, bytes } = asked.shift() as (typeof asked)[number];
      found.push({ path, content: await read(path, await bytes) });
    };
    for await (const entry of folder.entries()) {
      if (!isList && !entry.path.startsWith(under)) continue;
      const path = isList ? entry.path : entry.path.slice(under.length);
      if (!isList && (path === "" || isHidden(path))) continue;
      const bytes = entry.bytes();
      bytes.catch(() => {}); // waited for in its turn, if an earlier file does not fail
      asked.push({ path, bytes });
      if (asked.length >= (folder.ahead ?? 1)) await next();
    }
    while (asked.length > 0) await next();
  });
  if (found.length === 0) {
    throw badFile(name, "", `expected files${under === "" ? "" : ` below ${under}`}, found none`);
  }
  if (!isList) found.sort((a, b) => comparePaths(a.path, b.path));
  const paths = found.map(({ path }) => path);
  const contents = found.map(({ content }) => content);
  const loose = paths.filter((path) => !path.includes("/"));
  if (loose.length === paths.length || (isList && loose.length > 0)) return { contents, paths };
  if (loose.length > 0) {
    throw badFile(
      name,
      "",
      `expected every file in a folder that names its class, found ${loose[0]} beside the folders`,
    );
  }
  const y = paths.map((path) => path.split("/").at(-2) as string);
  return { contents, paths, y };
}

/** Folder by folder, then by name, in the order of code units: no locale has a say. */
function comparePaths(a: string, b: string): number {
  const folderA = a.slice(0, a.lastIndexOf("/") + 1);
  const folderB = b.slice(0, b.lastIndexOf("/") + 1);
  if (folderA !== folderB) return folderA < folderB ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
