/** The declarations as a user's compiler sees them: the oldest one that is promised, with the strictest settings. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../../..");

const PROGRAM = `
import { type Dense, type Label, loadModel, RankSimilarityClassifier, saveModel, Table } from "ranksim";
import { loadData, run } from "ranksim/node";

const data = await loadData("digits");
if (data.form !== "matrix" || !data.y) throw new Error("expected labels");
const trained = await new RankSimilarityClassifier({ filters: 20 }).fit(data.x, data.y as readonly number[], { backend: "wasm" });
const bytes: Uint8Array = saveModel(trained);
const model = loadModel(bytes);
if (model.kind === "classifier" || model.kind === "probabilistic") {
  const labels: (Label | readonly Label[])[] = await model.predict(data.x);
  const sure: Dense = await model.predictProbabilities(data.x);
  console.log(labels[0], sure.row(0)[0]);
} else if (model.kind === "pipeline") {
  if (model.predict) console.log((await model.predict(["a text"]))[0], model.classes);
  if (model.predict) console.log((await model.predict(Table.fromRecords([{ size: 3, colour: "red" }])))[0]);
} else if (model.kind === "patches") {
  console.log((await model.transform(data.x)).features);
} else if (model.kind === "transform") {
  console.log((await model.transform(data.x)).features);
} else if (model.kind === "tfidf-vectorizer") {
  console.log(model.featureNames[0]);
}
// @ts-expect-error: a transform does not predict
if (model.kind === "transform") model.predict(data.x);
// @ts-expect-error: there is no such back end
await trained.predict(data.x, { backend: "abacus" });
export { run };
`;

describe.skipIf(!existsSync(join(root, "packages/cli/dist/index.d.ts")))("the declarations (npm run build)", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(root, "packages/cli/test/.types-"));
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    writeFileSync(join(folder, "use.ts"), PROGRAM);
    const options = {
      target: "es2022",
      module: "nodenext",
      moduleResolution: "nodenext",
      lib: ["es2022", "dom", "esnext.disposable"],
      types: ["node"],
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["use.ts"] }));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each([
    ["the oldest promised", "packages/cli/node_modules/typescript", /^5\.2\./],
    ["the project's own", "node_modules/typescript", /./],
  ])("compile with %s TypeScript", (_, compiler, version) => {
    const { version: found } = JSON.parse(readFileSync(join(root, compiler, "package.json"), "utf8"));
    expect(found).toMatch(version);
    const tsc = join(root, compiler, "bin/tsc");
    let said = "";
    try {
      execFileSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
    } catch (error) {
      said = (error as { stdout: string }).stdout;
    }
    // What compilers say of their own and Node's libraries is not ours to mend.
    expect(said.split("\n").filter((line) => line !== "" && !/node_modules\/(?!@?ranksim)/.test(line))).toEqual([]);
  });
});
