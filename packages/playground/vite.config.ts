/**
 * How the page is served and built. The page is static; with the two headers below it is cross-origin isolated, which lets
 * the worker use threads. The library's sources are bundled directly, so no build comes between an edit and the page.
 */

import { createHash } from "node:crypto";
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

/** The page loads nothing from elsewhere and runs nothing that is not its own; its worker compiles WebAssembly. */
const policy: Plugin = {
  name: "ranksim-policy",
  apply: "build",
  transformIndexHtml: {
    order: "post",
    handler(html) {
      const digests = (tag: string) =>
        Array.from(
          html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, "g")),
          ([, text]) => ` 'sha256-${createHash("sha256").update(text).digest("base64")}'`,
        ).join("");
      const content = [
        "default-src 'self'",
        `script-src 'self' 'wasm-unsafe-eval'${digests("script")}`,
        `style-src 'self'${digests("style")}`,
        "img-src 'self' blob: data:",
        "media-src 'self' blob:",
        "connect-src 'self' blob: data:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
      ].join("; ");
      return [{ tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content }, injectTo: "head-prepend" }];
    },
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
  plugins: [colours, policy, offline()],
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
