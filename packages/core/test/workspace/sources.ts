/** The source files of all packages and what they import. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

export const root = fileURLToPath(new URL("../../../..", import.meta.url));

export interface Source {
  /** Path from the root, with forward slashes: packages/core/src/index.ts. */
  readonly path: string;
  /** The package's folder: core, data, export, cli, playground or lab. */
  readonly package: string;
  readonly text: string;
}

/** Every TypeScript source of a package, generated ones left out. */
export function sources(): Source[] {
  const found: Source[] = [];
  for (const name of readdirSync(join(root, "packages"))) {
    const folder = join(root, "packages", name, "src");
    if (!existsSync(folder)) continue;
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.tsx?$/.test(entry.name) || entry.name.endsWith(".generated.ts")) continue;
      const file = join(entry.parentPath, entry.name);
      found.push({ path: relative(root, file).split(sep).join("/"), package: name, text: readFileSync(file, "utf8") });
    }
  }
  return found;
}

/**
 * What a source imports or exports from elsewhere, at load time or later: a path from the root for files of this workspace,
 * the specifier for all else. TypeScript's own scanner looks, so text in comments and strings does not count.
 */
export function importsOf({ path, text }: Source): string[] {
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => {
    if (!fileName.startsWith(".")) return fileName;
    return relative(root, resolve(root, dirname(path), fileName))
      .split(sep)
      .join("/");
  });
}
