/**
 * Joins the modules of packages/core/dist, packages/gpu/dist, packages/data/dist and packages/learn/dist into a few files, dist/bundle: Node
 * and browsers that load modules one by one then start with a tenth of the files. What loads on demand (back ends, decoders)
 * stays apart; the package's dependencies are not taken in, what else it imports is. The comments stay in the declarations.
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const PACKAGES = {
  core: ["index", "predict", "internal", "backend", "research"],
  gpu: ["index"],
  data: ["index", "node"],
  learn: ["index"],
};

for (const [name, entries] of Object.entries(PACKAGES)) {
  const folder = fileURLToPath(new URL(`../packages/${name}/`, import.meta.url));
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(`${folder}package.json`, "utf8"));
  const others = Object.keys({ ...dependencies, ...peerDependencies });
  await build({
    configFile: false,
    logLevel: "warn",
    build: {
      target: "es2023",
      minify: false,
      outDir: `${folder}dist/bundle`,
      emptyOutDir: true,
      lib: {
        entry: Object.fromEntries(entries.map((entry) => [entry, `${folder}dist/${entry}.js`])),
        formats: ["es"],
        fileName: (_, entry) => `${entry}.js`,
      },
      rolldownOptions: {
        output: { comments: { jsdoc: false } },
        external: (id) => id.startsWith("node:") || others.some((other) => id === other || id.startsWith(`${other}/`)),
      },
    },
  });
}

// All of the package `ranksim` in one file, for bundlers that split no code: a worker of Vite's as it comes, an old page.
const cli = fileURLToPath(new URL("../packages/cli/", import.meta.url));
await build({
  configFile: false,
  logLevel: "warn",
  build: {
    target: "es2023",
    minify: true,
    outDir: `${cli}dist/single`,
    emptyOutDir: true,
    lib: { entry: { index: `${cli}dist/index.js` }, formats: ["es"], fileName: () => "index.js" },
    rolldownOptions: {
      output: { codeSplitting: false, comments: { jsdoc: false } },
      external: (id) => id.startsWith("node:"),
    },
  },
});
