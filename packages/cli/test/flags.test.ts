/** Flags: from a file, completed by a shell, mistyped, and spoken of in every error. */

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { type ClassifierModel, type ErrorCode, loadModel, StandardScaler, saveModel } from "@ranksim/core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parameterTables } from "../src/flags/estimator-flags.ts";
import { READING_NAMES } from "../src/flags/reading-flags.ts";
import { speakFlags } from "../src/flags/speak-flags.ts";
import { vectorizerTables } from "../src/flags/vectorizer-flags.ts";
import { EXAMPLE_CONTENTS, makeWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = makeWorld();
  for (const [name, content] of Object.entries(EXAMPLE_CONTENTS)) writeFileSync(world.path(name), content);
  await world.ranksim("train digits:test -m digits.ranksim --filters 20");
  await world.ranksim("train plants.csv --label-column species -m plants.ranksim");
});
afterAll(() => world.remove());

describe("a config file", () => {
  test("gives flags to all commands that have them, and to one; what is typed goes first", async () => {
    const config = { labelColumn: "species", quiet: true, train: { filters: 9, "n-best": 7, refine: false } };
    writeFileSync(world.path("flags.json"), JSON.stringify(config));
    const line = "--config flags.json -m c.ranksim";
    expect(await world.ranksim(`train plants.csv ${line}`)).toMatchObject({ code: 0, stderr: "" });
    const params = () => (loadModel(readFileSync(world.path("c.ranksim"))) as ClassifierModel).params;
    expect(params()).toMatchObject({ filters: 9, nBest: 7 });
    await world.ranksim(`train plants.csv ${line} --filters 6`);
    expect(params()).toMatchObject({ filters: 6, nBest: 7 });
    const { stdout } = await world.ranksim("train plants.csv --config flags.json -m c.ranksim --print-config");
    expect(JSON.parse(stdout)).toMatchObject({
      train: { labelColumn: "species", filters: 9, nBest: 7, model: "c.ranksim" },
    });
    writeFileSync(world.path("printed.json"), stdout);
    const again = await world.ranksim("train plants.csv --config printed.json --print-config");
    expect(JSON.parse(again.stdout)).toEqual(JSON.parse(stdout));
  });

  test("is ranksim.json where there is one", async () => {
    writeFileSync(world.path("ranksim.json"), '{"train": {"filters": 12, "labelColumn": "species"}}');
    await world.ranksim("train plants.csv -m r.ranksim");
    // As the shell leaves it to `--print-config > ranksim.json`.
    writeFileSync(world.path("ranksim.json"), "");
    expect(await world.ranksim("train plants.csv --filters 3 --print-config")).toMatchObject({ code: 0 });
    writeFileSync(world.path("ranksim.json"), "{}");
    expect((loadModel(readFileSync(world.path("r.ranksim"))) as ClassifierModel).params.filters).toBe(12);
  });

  test.each([
    ['{"filtres": 9}', 'no command has a flag "filtres"; did you mean filters?'],
    ['{"train": {"folds": 3}}', 'train has no flag "folds"'],
    ["[1]", "expected an object of flags"],
    ["{", "expected JSON"],
    ['{"filters": null}', "filters: expected a value that a flag can have"],
  ])("%s is refused", async (content, words) => {
    writeFileSync(world.path("bad.json"), content);
    const { code, stderr } = await world.ranksim("train digits:test --config bad.json -m x");
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });
});

describe("a mistyped name", () => {
  test.each([
    ["trian digits -m x", "Did you mean train?"],
    ["train digits -m x --filter 3", "Did you mean --filters?"],
    ["train digitz -m x", "did you mean digits?"],
    ["data info fashion-mnits", "did you mean fashion-mnist?"],
    ["tune digits --try filtrs=3,4", "did you mean filters?"],
  ])("%s", async (line, words) => {
    expect((await world.ranksim(line)).stderr).toContain(words);
  });
});

test("--multilabel chooses the estimator of several labels", async () => {
  writeFileSync(world.path("sets.svm"), "a,b 1:3 5:2 30:1\nb 2:1 7:2 30:3\na 1:3 5:2 9:2\nb,a 2:2 7:1 9:2\n".repeat(3));
  const { code, stderr } = await world.ranksim("train sets.svm --multilabel --filters 3 -m sets.ranksim");
  expect(code, stderr).toBe(0);
  expect(loadModel(readFileSync(world.path("sets.ranksim"))).kind).toBe("probabilistic");
});

describe("completion", () => {
  test("of bash offers commands, flags and choices", async () => {
    const { stdout, code } = await world.ranksim("completion bash");
    expect(code).toBe(0);
    const complete = (...words: string[]) => {
      const set = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}`;
      const script = `${stdout}\n${set}; _ranksim; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return spawnSync("bash", ["-c", script], { encoding: "utf8" }).stdout.split("\n");
    };
    expect(complete("ranksim", "tr")).toEqual(expect.arrayContaining(["train", "transform"]));
    expect(complete("ranksim", "train", "--fil")).toEqual(expect.arrayContaining(["--filters"]));
    expect(complete("ranksim", "train", "--estimator", "")).toEqual(expect.arrayContaining(["probabilistic"]));
    expect(complete("ranksim", "train", "fash")).toContain("fashion-mnist");
    for (const shell of ["zsh", "fish"])
      expect((await world.ranksim(`completion ${shell}`)).stdout).toContain("cross-validate");
  });
});

describe("errors speak of flags", () => {
  /** Names of the library that are no words of a sentence. */
  const names = [...READING_NAMES, ...[...parameterTables(), ...vectorizerTables()].map(({ name }) => name)].filter(
    (name) => /[A-Z]/.test(name),
  );

  const LINES: readonly (readonly [ErrorCode, string, string])[] = [
    ["bad-matrix", "predict reviews.ranksim digits:test", "name the column of text with --text-column"],
    [
      "bad-params",
      "train plants.csv -m x --text --text-column species --label-column -1",
      "--label-column and --text-column",
    ],
    ["bad-params", "train plants.csv --label-column spieces -m x", "did you mean species?"],
    ["bad-params", "train plants.csv --columns 'species:label,measure O:number' -m x", "did you mean measure 0?"],
    ["wrong-width", "predict plants.ranksim renamed.csv", "renamed perhaps; did you mean Measure 3?"],
    ["bad-labels", "train bare.csv -m x", "--label-column"],
    ["bad-params", "train plants.csv --label-column spices -m x", "--label-column: plants.csv has columns"],
    [
      "bad-params",
      "train digits:test -m x --estimator classifier --distribution [1,2]",
      "--distribution: expected 64 numbers",
    ],
    ["bad-params", "train digits:test -m x --filters 3", "at least as many filters as classes"],
    ["bad-file", "train gaps.csv -m x --no-table", "--missing can fill it in"],
    [
      "bad-file",
      "train words.csv -m x --no-table",
      "labels are named by --label-column, other columns left out by --ignore-columns, words kept by --table",
    ],
    ["wrong-width", "predict digits.ranksim bare.csv", "the model"],
    ["empty-input", "predict reviews.ranksim -", "expected"],
    ["unsupported", "update digits.ranksim digits:test", "trained with --keep-sums"],
    ["unsupported", "predict scaler.ranksim bare.csv", "does not predict; use ranksim transform"],
    [
      "no-backend",
      "train digits:test -m x --estimator classifier --backend threads",
      "threads: expected shared memory",
    ],
  ];

  beforeAll(async () => {
    writeFileSync(world.path("bare.csv"), "1,2,3\n4,5,6\n");
    await world.ranksim("train plants.csv --label-column species -m plants.ranksim");
    writeFileSync(world.path("renamed.csv"), EXAMPLE_CONTENTS["plants.csv"].replace("measure 3", "Measure 3"));
    writeFileSync(world.path("gaps.csv"), "a,b,label\n1,2,x\n3,,y\n");
    writeFileSync(world.path("words.csv"), "a,b,label\n1,2,x\n1,oops,y\n");
    await world.ranksim("train reviews.csv --text --text-column review --label-column stars -m reviews.ranksim");
    const scaler = await new StandardScaler().fit([
      [1, 2, 3],
      [2, 3, 5],
    ]);
    writeFileSync(world.path("scaler.ranksim"), saveModel(scaler));
  });

  test.each(LINES)("%s: %s", async (code, line, words) => {
    // The one that needs another machine: one without shared memory.
    if (code === "no-backend") vi.stubGlobal("SharedArrayBuffer", undefined);
    const { stderr } = await world.ranksim(`${line} --json`);
    vi.unstubAllGlobals();
    const { error } = JSON.parse(stderr.trimEnd().split("\n").at(-1) as string);
    expect(error.code).toBe(code);
    expect(error.message).toContain(words);
    for (const name of names) expect(error.message).not.toMatch(new RegExp(`(?<![-\\w])${name}\\b`));
  });

  test("are gone through code by code", () => {
    const codes: readonly ErrorCode[] = [
      "bad-matrix",
      "bad-labels",
      "bad-params",
      "wrong-width",
      "empty-input",
      "bad-file",
      "no-backend",
      "unsupported",
    ];
    expect([...new Set(LINES.map(([code]) => code))].sort()).toEqual([...codes].sort());
  });

  test("leave words alone that are no names", () => {
    expect(speakFlags("found 3 filters, expected labels: none")).toBe("found 3 filters, expected labels: none");
    expect(speakFlags("parameter nBest: expected a whole number")).toBe("--n-best: expected a whole number");
    expect(speakFlags("x.csv: the option `missing` can fill it in")).toBe("x.csv: --missing can fill it in");
    expect(speakFlags("distribution, position 3: expected numbers")).toBe(
      "--distribution, position 3: expected numbers",
    );
  });
});
