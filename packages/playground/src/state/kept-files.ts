/**
 * Files of one's own, kept by this browser alone (in its private file system) until they are removed: a page that is opened
 * again need not be given them again. One data set is kept, the last one.
 */

import type { NamedFile, ReadChoices } from "../protocol.ts";

/** What is known of the kept files without reading them. */
export interface Kept {
  readonly name: string;
  readonly bytes: number;
}

interface Facts extends Kept {
  readonly folder: string;
  readonly paths: readonly string[];
  readonly choices: ReadChoices;
}

/** More is not kept: it would fill the disk of a visitor. */
const MOST_BYTES = 1e9;
const MOST_FILES = 5000;

/** Names in the private file system: a file with the facts, and the folder of files that it names. */
const FACTS = "ranksim-data.json";
const FOLDER = "ranksim-data-";

/** Keeps files in place of those kept before; undefined where they are too large or the browser keeps nothing. */
export async function keepFiles(
  name: string,
  files: readonly NamedFile[],
  choices: ReadChoices,
): Promise<Kept | undefined> {
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  if (bytes > MOST_BYTES || files.length > MOST_FILES) return undefined;
  return attempt(async () => {
    const root = await navigator.storage.getDirectory();
    const folderName = `${FOLDER}${Date.now()}`;
    const folder = await root.getDirectoryHandle(folderName, { create: true });
    // The files may be those kept now: they go only when the new ones are there.
    for (const [j, { file }] of files.entries()) await write(folder, String(j), file);
    const facts: Facts = { name, bytes, folder: folderName, paths: files.map(({ path }) => path), choices };
    await write(root, FACTS, JSON.stringify(facts));
    await removeFolders(root, folderName);
    return { name, bytes };
  });
}

/** What is kept, if anything. */
export async function keptFacts(): Promise<Kept | undefined> {
  return attempt(async () => readFacts(await navigator.storage.getDirectory()));
}

/** The kept files. */
export async function openKept(): Promise<{ files: readonly NamedFile[]; choices: ReadChoices } | undefined> {
  return attempt(async () => {
    const root = await navigator.storage.getDirectory();
    const { paths, choices, folder: name } = await readFacts(root);
    const folder = await root.getDirectoryHandle(name);
    const files = await Promise.all(
      paths.map(async (path, j) => {
        const stored = await (await folder.getFileHandle(String(j))).getFile();
        return { path, file: new File([stored], path.slice(path.lastIndexOf("/") + 1)) };
      }),
    );
    return { files, choices };
  });
}

export async function removeKept(): Promise<void> {
  await attempt(async () => {
    const root = await navigator.storage.getDirectory();
    await root.removeEntry(FACTS);
    await removeFolders(root);
  });
}

async function removeFolders(root: FileSystemDirectoryHandle, but?: string): Promise<void> {
  const names: string[] = [];
  for await (const name of root.keys()) if (name.startsWith(FOLDER) && name !== but) names.push(name);
  for (const name of names) await root.removeEntry(name, { recursive: true });
}

async function readFacts(folder: FileSystemDirectoryHandle): Promise<Facts> {
  return JSON.parse(await (await (await folder.getFileHandle(FACTS)).getFile()).text()) as Facts;
}

async function write(folder: FileSystemDirectoryHandle, name: string, content: Blob | string): Promise<void> {
  const stream = await (await folder.getFileHandle(name, { create: true })).createWritable();
  await stream.write(content);
  await stream.close();
}

/** Keeping is a convenience: without storage, or without room, the page works as if nothing were kept. */
async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}
