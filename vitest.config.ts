import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(`packages/${path}`, import.meta.url));

// Tests run on the sources: what is tested is what is read, and no build is needed between an edit and its test.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^@ranksim\/core$/, replacement: source("core/src/index.ts") },
      { find: /^@ranksim\/core\/research$/, replacement: source("core/src/research.ts") },
      { find: /^@ranksim\/data$/, replacement: source("data/src/index.ts") },
      { find: /^@ranksim\/data\/node$/, replacement: source("data/src/node.ts") },
      { find: /^@ranksim\/export\/nir$/, replacement: source("export/src/nir.ts") },
      { find: /^@ranksim\/export$/, replacement: source("export/src/index.ts") },
      { find: /^@ranksim\/mpi$/, replacement: source("mpi/src/index.ts") },
      { find: /^ranksim$/, replacement: source("cli/src/index.ts") },
      { find: /^ranksim\/report$/, replacement: source("cli/src/report/make.ts") },
      { find: /^ranksim\/node$/, replacement: source("cli/src/node.ts") },
    ],
  },
  test: {
    include: ["packages/*/test/**/*.test.ts"],
    setupFiles: ["./vitest.setup.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
