/**
 * What a page fetches that only asks models: bundled and minified as a page would be, gzipped, and counted by what is loaded when a model
 * predicts and gives probabilities.
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { Pipeline, RankSimilarityClassifier, saveModel } from "@ranksim/core";
import { CountVectorizer } from "@ranksim/data";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Bytes, gzipped: before a model is asked, and once it has answered. */
const ENTRIES = [
  { entry: "packages/core/src/predict.ts", initial: 35_700, all: 99_000 },
  { entry: "packages/cli/src/predict.ts", initial: 51_600, all: 114_500 },
] as const;

/** Loads a model, then has it answer; says which files were loaded by then. Every file of the bundle notes its name. */
const PROGRAM = `
import { readFileSync } from "node:fs";
import { loadModel } from "./main.js";
const model = loadModel(readFileSync(process.argv[2]));
const initial = [...fetched];
const rows = JSON.parse(process.argv[3]);
const answers = await model.predict(rows);
await model.predictProbabilities(rows);
console.log(JSON.stringify({ answers, initial, all: [...fetched] }));
process.exit(0); // the back end stays open for a while
`;

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ranksim-predict-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(ENTRIES)("$entry", ({ entry, initial, all }) => {
  it("is small, and fetches neither trainers nor a GPU", async () => {
    const { chunks, modules } = await bundle(entry, folder);
    const model = join(folder, "model");
    const rows = [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [0, 1, 2, 4],
      [4, 2, 1, 0],
    ];
    const labels = ["rising", "falling", "rising", "falling"];
    writeFileSync(model, saveModel(await new RankSimilarityClassifier().fit(rows, labels)));
    const found = ask(folder, model, rows);
    expect(found.answers).toEqual(labels);
    const sizes = { initial: sum(found.initial, chunks), all: sum(found.all, chunks) };
    expect(sizes.initial, JSON.stringify(sizes)).toBeLessThanOrEqual(initial);
    expect(sizes.all, JSON.stringify(sizes)).toBeLessThanOrEqual(all);
    const fetched = found.all.flatMap((name) => modules.get(name) ?? []);
    expect(fetched.some((path) => path.endsWith("core/src/paper/vote.ts"))).toBe(true);
    expect(
      fetched.filter((path) => /\/(gpu|learn)\/|\/paper\/(train|spread|initialize)|partial-fit/.test(path)),
    ).toEqual([]);
  });
});

it("ranksim/predict answers texts", async () => {
  await bundle(ENTRIES[1].entry, folder);
  const texts = ["a red apple", "a green apple", "a fast car", "a slow car"];
  const labels = ["fruit", "fruit", "car", "car"];
  const model = join(folder, "texts");
  const recipe = new Pipeline<readonly string[], Awaited<ReturnType<RankSimilarityClassifier["fit"]>>>([
    ["words", new CountVectorizer()],
    ["classify", new RankSimilarityClassifier()],
  ]);
  writeFileSync(model, saveModel(await recipe.fit(texts, labels)));
  expect(ask(folder, model, texts).answers).toEqual(labels);
});

/** Bundles an entry into a folder: the code of each file, and the sources in it. */
async function bundle(entry: string, folder: string) {
  const { build, loadConfigFromFile } = await import("vite");
  const loaded = await loadConfigFromFile({ command: "build", mode: "production" }, join(root, "vitest.config.ts"));
  const built = await build({
    configFile: false,
    logLevel: "error",
    root,
    ...(loaded?.config.resolve && { resolve: loaded.config.resolve }),
    build: {
      write: false,
      target: "es2023",
      lib: { entry: { main: join(root, entry) }, formats: ["es"] },
      rolldownOptions: {
        external: (id) => id.startsWith("node:"),
        output: {
          minify: true,
          comments: { jsdoc: false },
          entryFileNames: "main.js",
          chunkFileNames: "[name]-[hash].js",
        },
      },
    },
  });
  const [{ output }] = [built].flat() as { output: { fileName: string; code: string; modules: object }[] }[];
  const chunks = new Map(output.map(({ fileName, code }) => [fileName, gzipSync(code, { level: 9 }).length]));
  const modules = new Map(output.map(({ fileName, modules }) => [fileName, Object.keys(modules)]));
  for (const { fileName, code } of output) {
    writeFileSync(join(folder, fileName), `(globalThis.fetched ??= []).push(${JSON.stringify(fileName)});${code}`);
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(folder, "program.js"), PROGRAM);
  return { chunks, modules };
}

/** What the program says of a model and some rows. */
function ask(folder: string, model: string, rows: unknown): { answers: unknown; initial: string[]; all: string[] } {
  const found = execFileSync(process.execPath, [join(folder, "program.js"), model, JSON.stringify(rows)]);
  return JSON.parse(String(found));
}

function sum(names: readonly string[], chunks: ReadonlyMap<string, number>): number {
  return names.reduce((all, name) => all + (chunks.get(name) ?? Number.NaN), 0);
}
