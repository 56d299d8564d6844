/** DATA as it was typed: one or several names, of which a shell may have left patterns unexpanded. */

import { opendir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { RanksimError } from "@ranksim/core";
import { findDataSet, isImageName } from "@ranksim/data";

/** The names, each pattern (`*`, `?`, `[a-z]`, `**` for any depth) replaced by the files it stands for, in order. */
export async function dataNames(what: string | readonly string[], cwd: string): Promise<string[]> {
  const names: string[] = [];
  for (const name of [what].flat()) {
    if (!/[*?[]/.test(name) || findDataSet(name) || (await isThere(resolve(cwd, name)))) names.push(name);
    else names.push(...(await matches(name, cwd)));
  }
  return names;
}

/** What is read at once: one name, or images that follow each other and are rows of one set. */
export interface DataPart {
  readonly name: string;
  readonly images?: readonly string[];
}

/** The names, images that follow each other together. */
export async function dataParts(what: string | readonly string[], cwd: string): Promise<DataPart[]> {
  const parts: { name: string; images?: string[] }[] = [];
  for (const name of await dataNames(what, cwd)) {
    const images = parts.at(-1)?.images;
    if (!(await isImage(name, cwd))) parts.push({ name });
    else if (images) images.push(name);
    else parts.push({ name, images: [name] });
  }
  return parts.map(({ name, images }) =>
    images ? { name: images.length === 1 ? name : `${images.length} images`, images } : { name },
  );
}

/** Whether a name is that of a file that is an image. */
export async function isImage(name: string, cwd: string): Promise<boolean> {
  return (
    isImageName(name) &&
    stat(resolve(cwd, name)).then(
      (found) => found.isFile(),
      () => false,
    )
  );
}

/** Whether all rows are files of their own, which an answer can name: images, or folders of images or texts. */
export async function areFiles(what: string | readonly string[], cwd: string): Promise<boolean> {
  for (const name of await dataNames(what, cwd)) {
    const isFolder = () =>
      stat(resolve(cwd, name)).then(
        (found) => found.isDirectory(),
        () => false,
      );
    if (!(await isImage(name, cwd)) && !(await isFolder())) return false;
  }
  return true;
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function matches(pattern: string, cwd: string): Promise<string[]> {
  const parts = pattern.split("/");
  const fixed = parts.findIndex((part) => /[*?[]/.test(part));
  const base = parts.slice(0, fixed).join("/") || (pattern.startsWith("/") ? "/" : "");
  const wanted = parts.slice(fixed);
  const deep = wanted.includes("**");
  const expression = new RegExp(`^${wanted.map(partExpression).join("/").replaceAll("(?:.*)/", "(?:.*/)?")}$`);
  const found: string[] = [];
  const walk = async (under: string, depth: number): Promise<void> => {
    for await (const entry of await opendir(join(resolve(cwd, base), under))) {
      const path = under === "" ? entry.name : `${under}/${entry.name}`;
      if (entry.name.startsWith(".")) continue;
      if (entry.isDirectory()) {
        if (deep || depth < wanted.length) await walk(path, depth + 1);
      } else if (expression.test(path)) found.push(base === "" ? path : `${base.replace(/\/$/, "")}/${path}`);
    }
  };
  await walk("", 1).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
  });
  if (found.length === 0) throw new RanksimError("bad-file", `${pattern}: no file has a name like that`);
  return found.sort();
}

/** A part of a path as a regular expression. */
function partExpression(part: string): string {
  if (part === "**") return "(?:.*)";
  return part.replace(/\[!?[^\]]+\]|[*?]|[\\^$.|+(){}[\]]/g, (found) => {
    if (found === "*") return "[^/]*";
    if (found === "?") return "[^/]";
    return found.length > 1 ? found.replace("[!", "[^") : `\\${found}`;
  });
}
