/**
 * Builds the playground's page. Without an argument it goes to packages/cli/dist/playground, from where `ranksim play` serves
 * it and the published package carries it; with one, to that folder.
 */

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const outDir = resolve(process.argv[2] ?? `${root}packages/cli/dist/playground`);

await build({
  configFile: `${root}packages/playground/vite.config.ts`,
  logLevel: "error",
  build: { outDir, emptyOutDir: true },
});
console.log(`page built in ${outDir}`);
