/** The walls of the house: who may import whom. ARCHITECTURE.md draws them; here they are lists. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { importsOf, root, type Source, sources } from "./sources.ts";

const all = sources();

/** Packages of this workspace that a package may import. */
const mayImport: Record<string, readonly string[]> = {
  core: [],
  gpu: ["@ranksim/core", "@ranksim/core/backend"],
  data: ["@ranksim/core", "@ranksim/core/internal"],
  vq: ["@ranksim/core", "@ranksim/core/internal", "@ranksim/core/backend"],
  learn: ["@ranksim/core", "@ranksim/core/internal", "@ranksim/data"],
  export: ["@ranksim/core"],
  mpi: ["@ranksim/core", "@ranksim/core/backend"],
  cli: [
    "@ranksim/core",
    "@ranksim/core/predict",
    "@ranksim/core/internal",
    "@ranksim/gpu",
    "@ranksim/data",
    "@ranksim/data/node",
    "@ranksim/learn",
    "@ranksim/export",
    "@ranksim/export/nir",
    "@ranksim/mpi",
    "@ranksim/vq",
  ],
  playground: [
    "@ranksim/core",
    "@ranksim/gpu",
    "@ranksim/core/research",
    "@ranksim/data",
    "@ranksim/learn",
    "@ranksim/export",
    "ranksim/report",
  ],
  lab: [
    "@ranksim/core",
    "@ranksim/gpu",
    "@ranksim/core/research",
    "@ranksim/data",
    "@ranksim/data/node",
    "@ranksim/learn",
    "@ranksim/vq",
    "ranksim/node",
    "ranksim/report",
  ],
};

const values = ["kernels", "matrix", "errors"];
const backend = ["kernels", "errors", "bank", "backends/contract.ts", "backends/turn.ts", "backends/host"];
const wasm = [...backend, "backends/wasm/engine", "backends/wasm/shared"];
const method = [...values, "bank", "random", "backends/contract.ts", "backends/kept-bank.ts", "paper"];
const beyond = [
  "held-out.ts",
  "probabilities",
  "novelty",
  "patches",
  "later-rows",
  "committee",
  "refinement",
  "linear",
];
const stored = [...method, ...beyond.map((room) => `beyond/${room}`), "model-file/saved.ts"];
const storedModels = [...stored, "model-file/stored", "backends/open.ts"];

/** Rooms of core/src (folders and some files), each with the rooms it may import; rooms come after all that they import. */
const mayImportInCore: Record<string, readonly string[]> = {
  kernels: [],
  errors: [],
  random: [],
  "model-file/saved.ts": [],
  matrix: ["kernels", "errors"],
  bank: ["kernels", "matrix"],
  "backends/turn.ts": [],
  "backends/contract.ts": ["kernels", "backends/turn.ts"],
  "backends/kept-bank.ts": ["kernels", "backends/contract.ts"],
  "backends/host": backend,
  "backends/wasm/engine": ["backends/turn.ts", "backends/host/counted.ts", "backends/host/out-of-memory.ts"],
  "backends/wasm/shared": wasm,
  "backends/wasm/dense": wasm,
  "backends/wasm/sparse": wasm,
  "backends/wasm": [...wasm, "backends/wasm/dense", "backends/wasm/sparse"],
  "backends/threads": [...backend, "backends/wasm", "backends/wasm/engine"],
  backends: [...backend, "backends/wasm", "backends/wasm/engine", "backends/threads"],
  paper: method,
  "beyond/held-out.ts": ["random"],
  "beyond/probabilities": method,
  "beyond/novelty": method,
  "beyond/patches": method,
  "beyond/later-rows": method,
  "beyond/committee": method,
  "beyond/refinement": [...method, "beyond/committee", "beyond/held-out.ts"],
  "beyond/linear": ["kernels", "matrix", "errors", "random", "beyond/probabilities"],
  "model-file/container": ["errors", "model-file/saved.ts"],
  "model-file/stored": stored,
  models: [...storedModels, "backends/turn.ts"],
  "model-file": [...values, "model-file/saved.ts", "model-file/container", "models"],
  backend: ["backends/contract.ts", "backends/turn.ts", "backends/host", "bank", "kernels"],
  research: ["paper"],
  predict: ["errors", "matrix", "backends/open.ts", "models", "model-file", "index.ts"],
  internal: ["kernels", "models", "matrix", "model-file/stored", "backends/kept-bank.ts", "paper", "random"],
};

/** Sources of the data package that may use Node; its other sources also run in browsers. */
const isNodeSource = (path: string) => /\/data\/src\/node(\.ts$|\/)/.test(path);

const refused = (sources: readonly Source[], isAllowed: (source: Source, target: string) => boolean) =>
  sources.flatMap((source) =>
    importsOf(source)
      .filter((target) => !isAllowed(source, target))
      .map((target) => `${source.path} imports ${target}`),
  );

/** What the bundle of a package contains. */
const BUILT_IN: Readonly<Record<string, readonly string[]>> = { core: ["@noble/hashes"], data: ["fflate"] };

describe("import directions", () => {
  it("lists every package and every folder of core", () => {
    for (const source of all) expect(Object.keys(mayImport)).toContain(source.package);
    const rooms = new Set(inCore().map((source) => roomOf(source.path)));
    rooms.delete("index");
    for (const room of rooms) expect(Object.keys(mayImportInCore)).toContain(room);
  });

  it("run lab, playground, cli -> learn -> data, export, mpi, gpu -> core", () => {
    const own = /^(@ranksim\/|ranksim($|\/)|packages\/)/;
    const wrong = refused(all, (source, target) => {
      if (!own.test(target)) return true;
      return target.startsWith("packages/")
        ? target.startsWith(`packages/${source.package}/src/`) || target === `packages/${source.package}/package.json`
        : mayImport[source.package].includes(target);
    });
    expect(wrong).toEqual([]);
  });

  it("inside core run from models to the method to kernels, and the method knows back ends by their contract alone", () => {
    const wrong = refused(inCore(), (source, target) => {
      const from = roomOf(source.path);
      if (from === "index" || !target.startsWith("packages/core/src/")) return true;
      const to = roomOf(target);
      const file = target.slice("packages/core/src/".length);
      return to === from || mayImportInCore[from].includes(to) || mayImportInCore[from].includes(file);
    });
    expect(wrong).toEqual([]);
  });

  it("inside core make no circle of rooms", () => {
    const order = Object.keys(mayImportInCore);
    const backwards = inCore().flatMap((source) =>
      importsOf(source)
        .filter((target) => target.startsWith("packages/core/src/") && roomOf(source.path) !== "index")
        .filter((target) => order.indexOf(roomOf(target)) > order.indexOf(roomOf(source.path)))
        .map((target) => `${source.path} imports ${target}`),
    );
    expect(backwards).toEqual([]);
  });

  it("keep Node out of core, out of the page, and out of data but for its node entry", () => {
    const portable = all.filter(
      (source) =>
        source.package === "core" ||
        source.package === "gpu" ||
        source.package === "learn" ||
        source.package === "vq" ||
        source.package === "export" ||
        source.package === "playground" ||
        (source.package === "data" && !isNodeSource(source.path)),
    );
    expect(refused(portable, (_, target) => !target.startsWith("node:"))).toEqual([]);
    const data = portable.filter((source) => source.package === "data");
    expect(refused(data, (_, target) => !isNodeSource(target))).toEqual([]);
  });

  it("name a dependency of the package for everything that comes from elsewhere and is not built in", () => {
    const named = (name: string) => ({
      ...readManifest(name).dependencies,
      ...readManifest(name).peerDependencies,
      ...Object.fromEntries(
        (BUILT_IN[name] ?? []).map((built) => [built, readManifest(name).devDependencies?.[built]]),
      ),
    });
    const dependencies = new Map(Object.keys(mayImport).map((name) => [name, named(name)]));
    const wrong = refused(all, (source, target) => {
      if (target.startsWith("packages/") || target.startsWith("node:")) return true;
      const name = target
        .split("/")
        .slice(0, target.startsWith("@") ? 2 : 1)
        .join("/");
      return Object.hasOwn(dependencies.get(source.package) ?? {}, name);
    });
    expect(wrong).toEqual([]);
  });

  it("give core no dependency but random numbers, and build in nothing but a digest", () => {
    expect(Object.keys(readManifest("core").dependencies ?? {})).toEqual(["pure-rand"]);
    expect(Object.keys(readManifest("core").devDependencies ?? {})).toEqual(["@noble/hashes"]);
  });
});

describe("importsOf", () => {
  it("finds every form of import and none in comments or strings", () => {
    const text = [
      'import { a } from "./a.ts";',
      'import type { b } from "../b.ts";',
      'import "side-effect";',
      "export {",
      "  c,",
      '} from "./c.ts";',
      'export * from "pkg/sub";',
      'const later = await import("./later.ts");',
      '// import { x } from "./comment.ts";',
      '/**\n * import { y } from "./doc.ts";\n */',
      'const worker = `\nimport { z } from "node:worker_threads";\n`;',
      'export const text = "from";',
    ].join("\n");
    expect(importsOf({ path: "packages/core/src/paper/m.ts", package: "core", text }).sort()).toEqual(
      [
        "packages/core/src/paper/a.ts",
        "packages/core/src/b.ts",
        "side-effect",
        "packages/core/src/paper/c.ts",
        "pkg/sub",
        "packages/core/src/paper/later.ts",
      ].sort(),
    );
  });
});

function inCore(): Source[] {
  return all.filter((source) => source.package === "core");
}

/** The innermost room a file of core/src lies in, or else its folder or name directly under core/src. */
function roomOf(path: string): string {
  const file = path.slice("packages/core/src/".length);
  const rooms = Object.keys(mayImportInCore).filter((room) => file === room || file.startsWith(`${room}/`));
  return rooms.sort((a, b) => b.length - a.length)[0] ?? file.split("/")[0].replace(/\.ts$/, "");
}

function readManifest(name: string): {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
} {
  return JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
}
