import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(`packages/${path}`, import.meta.url));

/** Names of files that the tier does not run. Without a tier every file can be run by its name. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  short: ["**/*.full.test.ts", "**/*.release.test.ts"],
  full: ["**/*.release.test.ts"],
  release: ["**/!(*.release).test.ts"],
};
const others = OTHERS[process.env.RANKSIM_TIER ?? ""] ?? [];

// Tests run on the sources: what is tested is what is read, and no build is needed between an edit and its test.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^@ranksim\/core$/, replacement: source("core/src/index.ts") },
      { find: /^@ranksim\/core\/research$/, replacement: source("core/src/research.ts") },
      { find: /^@ranksim\/core\/internal$/, replacement: source("core/src/internal.ts") },
      { find: /^@ranksim\/core\/predict$/, replacement: source("core/src/predict.ts") },
      { find: /^@ranksim\/core\/backend$/, replacement: source("core/src/backend.ts") },
      { find: /^@ranksim\/gpu$/, replacement: source("gpu/src/index.ts") },
      { find: /^@ranksim\/vq$/, replacement: source("vq/src/index.ts") },
      { find: /^@ranksim\/learn$/, replacement: source("learn/src/index.ts") },
      { find: /^@ranksim\/data$/, replacement: source("data/src/index.ts") },
      { find: /^@ranksim\/data\/node$/, replacement: source("data/src/node.ts") },
      { find: /^@ranksim\/export\/nir$/, replacement: source("export/src/nir.ts") },
      { find: /^@ranksim\/export$/, replacement: source("export/src/index.ts") },
      { find: /^@ranksim\/mpi$/, replacement: source("mpi/src/index.ts") },
      { find: /^ranksim$/, replacement: source("cli/src/index.ts") },
      { find: /^ranksim\/predict$/, replacement: source("cli/src/predict.ts") },
      { find: /^ranksim\/report$/, replacement: source("cli/src/report/make.ts") },
      { find: /^ranksim\/node$/, replacement: source("cli/src/node.ts") },
    ],
  },
  test: {
    setupFiles: ["./vitest.setup.ts"],
    // They catch what hangs. A busy machine takes many times as long as an idle one, and is no failure.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      {
        extends: true,
        test: { name: "node", include: ["packages/*/test/**/*.test.ts"], exclude: ["**/*.browser.*", ...others] },
      },
      {
        extends: true,
        test: {
          name: "page",
          include: ["packages/*/test/**/*.browser.*.ts"],
          exclude: [...others],
          globalSetup: ["packages/playground/test/build-page.ts"],
        },
      },
    ],
  },
});
