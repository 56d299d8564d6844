/**
 * How the page is served and built. The page is static; with the two headers below it is cross-origin isolated, which lets
 * the worker use threads. The library's sources are bundled directly, so no build comes between an edit and the page.
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";
import { COLOURS, PLAYGROUND_COLOURS } from "../cli/src/report/colours.ts";
import { offline } from "./offline/plugin.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const { version, homepage } = JSON.parse(readFileSync(here("../cli/package.json"), "utf8")) as {
  version: string;
  homepage?: string;
};

/** What a server must send for threads to work; without them the page trains on one thread. */
const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/** Writes the colours into the page, as variables of its style. */
const colours: Plugin = {
  name: "ranksim-colours",
  transformIndexHtml() {
    const variables = Object.entries({ ...COLOURS, ...PLAYGROUND_COLOURS }).map(
      ([name, { light, dark }]) => `--${name}:light-dark(${light},${dark})`,
    );
    return [{ tag: "style", children: `:root{${variables.join(";")}}`, injectTo: "head" }];
  },
};

export default defineConfig({
  root: here("."),
  base: "./",
  resolve: {
    alias: [
      { find: /^@ranksim\/core$/, replacement: here("../core/src/index.ts") },
      { find: /^@ranksim\/core\/internal$/, replacement: here("../core/src/internal.ts") },
      { find: /^@ranksim\/core\/backend$/, replacement: here("../core/src/backend.ts") },
      { find: /^@ranksim\/core\/research$/, replacement: here("../core/src/research.ts") },
      { find: /^@ranksim\/gpu$/, replacement: here("../gpu/src/index.ts") },
      { find: /^@ranksim\/learn$/, replacement: here("../learn/src/index.ts") },
      { find: /^ranksim\/report$/, replacement: here("../cli/src/report/make.ts") },
      { find: /^@ranksim\/export$/, replacement: here("../export/src/index.ts") },
      { find: /^@ranksim\/data$/, replacement: here("../data/src/index.ts") },
    ],
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  define: { RANKSIM_VERSION: JSON.stringify(version), RANKSIM_HOME: JSON.stringify(homepage ?? "") },
  plugins: [colours, offline()],
  // The bundler's helpers for CommonJS would share the chunk of jpeg-js, and whoever needs one of them would fetch all readers.
  worker: {
    format: "es",
    // Files of HDF5 are read by the command: their library would double the page.
    rolldownOptions: {
      external: ["h5wasm"],
      output: { codeSplitting: { groups: [{ name: "jpeg", test: /jpeg-js/ }] } },
    },
  },
  server: { headers: ISOLATION },
  preview: { headers: ISOLATION },
  build: { rolldownOptions: { external: ["h5wasm"] }, target: "es2022", outDir: here("dist"), emptyOutDir: true },
});
