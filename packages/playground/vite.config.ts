/**
 * How the page is served and built. The page is static; with the two headers below it is cross-origin isolated, which lets
 * the worker use threads. The library's sources are bundled directly, so no build comes between an edit and the page.
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
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

export default defineConfig({
  root: here("."),
  base: "./",
  resolve: {
    alias: [
      { find: /^@ranksim\/core$/, replacement: here("../core/src/index.ts") },
      { find: /^ranksim\/report$/, replacement: here("../cli/src/report/make.ts") },
      { find: /^@ranksim\/export$/, replacement: here("../export/src/index.ts") },
      { find: /^@ranksim\/data$/, replacement: here("../data/src/index.ts") },
    ],
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  define: { RANKSIM_VERSION: JSON.stringify(version), RANKSIM_HOME: JSON.stringify(homepage ?? "") },
  plugins: [offline()],
  worker: { format: "es" },
  server: { headers: ISOLATION },
  preview: { headers: ISOLATION },
  build: { target: "es2022", outDir: here("dist"), emptyOutDir: true },
});
