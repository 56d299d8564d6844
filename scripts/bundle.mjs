/**
 * Joins the modules of packages/core/dist and packages/data/dist into a few files, dist/bundle: Node and browsers that load
 * modules one by one then start with a tenth of the files. What loads on demand (back ends, decoders) stays apart; other
 * packages are not taken in.
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const PACKAGES = { core: ["index", "research"], data: ["index", "node"] };

for (const [name, entries] of Object.entries(PACKAGES)) {
  const folder = fileURLToPath(new URL(`../packages/${name}/`, import.meta.url));
  const { dependencies } = JSON.parse(readFileSync(`${folder}package.json`, "utf8"));
  const others = Object.keys(dependencies);
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
        external: (id) => id.startsWith("node:") || others.some((other) => id === other || id.startsWith(`${other}/`)),
      },
    },
  });
}
