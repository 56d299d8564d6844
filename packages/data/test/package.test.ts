import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const source = fileURLToPath(new URL("../src", import.meta.url));

/** Modules that a module imports, statically or on demand. */
function importsOf(path: string): string[] {
  const text = readFileSync(path, "utf8");
  const imports = /^(?:import|export)\b[^;]*?\bfrom\s+"([^"]+)"|\bimport\(\s*"([^"]+)"\)/gm;
  return Array.from(text.matchAll(imports), (match) => match[1] ?? match[2]);
}

/** All modules reached from one, and what they import from outside. */
function reached(path: string, seen = new Set<string>(), outside = new Set<string>()) {
  if (seen.has(path)) return { seen, outside };
  seen.add(path);
  for (const name of importsOf(path)) {
    if (name.startsWith(".")) reached(join(dirname(path), name), seen, outside);
    else outside.add(name);
  }
  return { seen, outside };
}

test("the browser's entry reaches no module of Node's", () => {
  const { seen, outside } = reached(join(source, "index.ts"));
  expect([...outside].filter((name) => name.startsWith("node:"))).toEqual([]);
  expect([...seen].map((path) => relative(source, path)).filter((path) => path.startsWith("node"))).toEqual([]);
});

/** What the bundle contains, in place of a dependency of 800 kB. */
const BUILT_IN = ["fflate"];

test("every package that is imported is declared, and the other way round", () => {
  const manifest = JSON.parse(readFileSync(join(source, "../package.json"), "utf8"));
  const { outside } = reached(join(source, "node.ts"));
  const packages = [...outside]
    .filter((name) => !name.startsWith("node:"))
    .map((name) =>
      name
        .split("/")
        .slice(0, name.startsWith("@") ? 2 : 1)
        .join("/"),
    );
  expect([...new Set(packages)].sort()).toEqual(
    [...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }), ...BUILT_IN].sort(),
  );
  for (const name of BUILT_IN) expect(Object.keys(manifest.devDependencies)).toContain(name);
});

test("every module is reached", () => {
  const { seen } = reached(join(source, "node.ts"));
  const all = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
  expect([...seen].map((path) => relative(source, path)).sort()).toEqual(all.sort());
});
