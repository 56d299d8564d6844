/**
 * Writes dist/.npmignore of each package: the declarations that none of its entries reaches, which a user's compiler never
 * reads. The others are packed.
 */

import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const PACKAGES = ["core", "gpu", "data", "vq", "learn", "export", "mpi", "cli"];

/** Adds a declaration, and those that it names, to `reached`. */
async function reach(path, reached) {
  if (reached.has(path)) return;
  reached.add(path);
  const { importedFiles } = ts.preProcessFile(await readFile(path, "utf8"));
  for (const { fileName } of importedFiles) {
    if (fileName.startsWith(".")) await reach(join(dirname(path), fileName.replace(/\.[jt]s$/, ".d.ts")), reached);
  }
}

for (const name of PACKAGES) {
  const folder = fileURLToPath(new URL(`../packages/${name}/`, import.meta.url));
  const { exports } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const reached = new Set();
  for (const { types } of Object.values(exports)) if (types) await reach(join(folder, types), reached);

  const dist = join(folder, "dist");
  const declarations = (await readdir(dist, { recursive: true })).filter((path) => path.endsWith(".d.ts"));
  const unreached = declarations.filter((path) => !reached.has(join(dist, path))).sort();
  await writeFile(join(dist, ".npmignore"), unreached.map((path) => `/${path.replaceAll(sep, "/")}\n`).join(""));
}
