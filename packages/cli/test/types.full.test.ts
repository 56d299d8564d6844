/** The declarations as a user's compiler sees them: the twelve programs of docs/how-do-i.md, by old and new compilers, with the strictest settings. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../../..");

const PROGRAMS = [...readFileSync(join(root, "docs/how-do-i.md"), "utf8").matchAll(/```ts\n([\s\S]*?)```/g)].map(
  (match) => match[1],
);

/** What has to compile, and what must not. */
const TYPES = `
import { type Classifier, isClassifier, isTransformer, type Label, loadModel, loadTransform, RankSimilarityClassifier, saveModel, train } from "ranksim";
import { loadModel as loadAny } from "@ranksim/core";
import { run } from "ranksim/node";

interface Person { readonly age: number; readonly town: string | null; readonly kind: "a" | "b" }
declare const people: readonly Person[];
declare const x: readonly number[][];
declare const bytes: Uint8Array;

const { model } = await train(people, { label: "kind" });
const kinds: ("a" | "b")[] = await model.predict([{ age: 3, town: null }]);
const some: ("a" | "b" | null)[] = await model.predict(people, { threshold: 0.5 });
const top: { readonly label: "a" | "b"; readonly probability: number }[][] = await model.predictTop(people, 2);
const name: string | undefined = (await model.explain(people, 3)).contributions[0]?.name;
const numbers: number[] = await (await train({ x, y: [1, 2] })).model.predict(x);
const sets: string[][] = await (await train({ x, y: [["a"], ["a", "b"]] })).model.predict(x);
const texts: string[] = await (await train({ text: ["a"], y: ["b"] })).model.predict(["c"]);
const loaded: Classifier<string, object> = loadModel<string>(bytes);
const label: Label[] = await loadModel(saveModel(loaded)).predict(x);
const features: number = (await loadTransform(bytes.buffer as ArrayBuffer).transform(x)).features;
const any = loadAny(bytes);
if (isClassifier(any)) { const found: Label[] = await any.predict(x); console.log((await any.explain(x)).label, found); }
if (isTransformer(any)) console.log((await any.transform(x)).rows);
if (any.kind === "pipeline" && any.predict) console.log((await any.predict(["a"]))[0], any.classes);
if (any.kind === "classifier") console.log(any.filterRows(0), (await any.predictProbabilities(x)).row(0)[0]);
// @ts-expect-error: a transform does not predict
if (any.kind === "transform") any.predict(x);
// @ts-expect-error: the labels are strings
const wrong: number[] = await model.predict(people);
// @ts-expect-error: there is no such back end
await model.predict(people, { backend: "abacus" });
// @ts-expect-error: there is no such column
await train(people, { label: "kinds" });
const trained = await new RankSimilarityClassifier({ filters: 20 }).fit(x, ["a", "b"], { backend: "wasm" });
console.log(kinds, some, top, name, numbers, sets, texts, label, features, wrong, trained.nBest);
export { run };
`;

/** A page's worker, or an engine that is neither a browser nor Node. */
const BARE = `
import { loadModel } from "ranksim/predict";
declare const bytes: Uint8Array;
export const labels: Promise<string[]> = loadModel<string>(bytes).predict([[1, 2]]);
`;

const STRICT = {
  target: "es2022",
  strict: true,
  noUncheckedIndexedAccess: false,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  noEmit: true,
};
const COMPILERS = [
  ["5.2", "packages/cli/node_modules/typescript", /^5\.2\./],
  ["5.4", "scripts/environments/node_modules/typescript", /^5\.4\./],
  ["the project's own", "node_modules/typescript", /./],
] as const;

describe.skipIf(!existsSync(join(root, "packages/cli/dist/index.d.ts")))("the declarations (npm run build)", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(root, "packages/cli/test/.types-"));
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    writeFileSync(join(folder, "types.ts"), TYPES);
    writeFileSync(join(folder, "bare.ts"), BARE);
    for (const [j, text] of PROGRAMS.entries()) writeFileSync(join(folder, `job-${j}.ts`), text);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const jobs = ["types.ts", ...PROGRAMS.map((_, j) => `job-${j}.ts`)];
  const node = { lib: ["es2022", "dom", "dom.iterable", "esnext.disposable"], types: ["node"] };
  const settings = [
    ["nodenext", jobs, { module: "nodenext", moduleResolution: "nodenext", ...node }],
    ["bundler", jobs, { module: "esnext", moduleResolution: "bundler", ...node }],
    [
      "bundler, without types of a browser or of Node",
      ["bare.ts"],
      { module: "esnext", moduleResolution: "bundler", lib: ["es2022"], types: [] },
    ],
  ] as const;

  describe.each(COMPILERS)("TypeScript %s", (_, compiler, version) => {
    test.skipIf(!existsSync(join(root, compiler)))("is that version", () => {
      expect(JSON.parse(readFileSync(join(root, compiler, "package.json"), "utf8")).version).toMatch(version);
    });
    test.skipIf(!existsSync(join(root, compiler))).each(settings)("compiles with %s", (name, files, options) => {
      const config = join(folder, `tsconfig.${name.replace(/\W/g, "")}.json`);
      writeFileSync(config, JSON.stringify({ compilerOptions: { ...STRICT, ...options }, files }));
      let said = "";
      try {
        execFileSync(process.execPath, [join(root, compiler, "bin/tsc"), "-p", config], { encoding: "utf8" });
      } catch (error) {
        said = (error as { stdout: string }).stdout;
      }
      // What compilers say of their own and Node's libraries is not ours to mend.
      expect(said.split("\n").filter((line) => line !== "" && !/node_modules\/(?!@?ranksim)/.test(line))).toEqual([]);
    });
  });
});
