/**
 * Joins the modules of packages/core/dist into a few files, dist/bundle: Node and browsers that load modules one by one then
 * start with a tenth of the files. What loads on demand (the back ends) stays apart; dependencies are not taken in.
 */

import { fileURLToPath } from "node:url";
import { build } from "vite";

const core = fileURLToPath(new URL("../packages/core/", import.meta.url));

await build({
  configFile: false,
  logLevel: "warn",
  build: {
    target: "es2023",
    minify: false,
    outDir: `${core}dist/bundle`,
    emptyOutDir: true,
    lib: {
      entry: { index: `${core}dist/index.js`, research: `${core}dist/research.js` },
      formats: ["es"],
      fileName: (_, name) => `${name}.js`,
    },
    rolldownOptions: { external: [/^node:/, "pure-rand", /^pure-rand\//] },
  },
});
