/** Every package that a manifest lists is used: imported, loaded by a path, or run by a script of the workspace. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./sources.ts";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly bin?: string | Readonly<Record<string, string>>;
}

const manifestOf = (folder: string) => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest;

/** The text of all code below some folders. */
function codeOf(folders: readonly string[]): string {
  const texts: string[] = [];
  for (const folder of folders.map((name) => join(root, name)).filter(existsSync)) {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const isCode = entry.isFile() && /\.(ts|tsx|js|mjs|html)$/.test(entry.name);
      const file = join(entry.parentPath, entry.name);
      if (isCode && !/[\\/](node_modules|dist)[\\/]/.test(file)) texts.push(readFileSync(file, "utf8"));
    }
  }
  return texts.join("\n");
}

/** Whether code names a package as what it imports, or a file of its folder. */
function isImported(name: string, code: string): boolean {
  const spelled = name.replace(/[/.]/g, "\\$&");
  return new RegExp(`["'\`]${spelled}["'\`/]|node_modules/${spelled}["'\`/]`).test(code);
}

/** Whether a script of the workspace, or code by its path, runs a program of the package. */
function isRun(name: string, code: string): boolean {
  const { bin = {} } = manifestOf(`node_modules/${name}`);
  const programs = typeof bin === "string" ? [name] : Object.keys(bin);
  const scripts = Object.values(manifestOf(".").scripts ?? {}).join(" ");
  return programs.some(
    (program) => new RegExp(`(^| )${program}( |$)`).test(scripts) || code.includes(`node_modules/.bin/${program}"`),
  );
}

test.each(readdirSync(join(root, "packages")))("%s lists what it uses", (name) => {
  const folder = `packages/${name}`;
  const { dependencies, devDependencies, peerDependencies } = manifestOf(folder);
  const sources = codeOf([`${folder}/src`, `${folder}/bin`]);
  const listed = Object.keys({ ...dependencies, ...peerDependencies });
  expect(listed.filter((dependency) => !isImported(dependency, sources))).toEqual([]);
  const own = codeOf([folder]);
  const tools = Object.keys(devDependencies ?? {});
  expect(tools.filter((dependency) => !isImported(dependency, own))).toEqual([]);
});

test("the workspace lists what it uses", () => {
  const code = codeOf(["packages", "scripts"]);
  const types = readFileSync(join(root, "tsconfig.test.json"), "utf8");
  const unused = Object.keys(manifestOf(".").devDependencies ?? {}).filter((name) => {
    if (name.startsWith("@types/")) return !types.includes(`"${name.slice("@types/".length)}"`);
    return !isImported(name, code) && !isRun(name, code);
  });
  expect(unused).toEqual([]);
});
