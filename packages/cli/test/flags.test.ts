/** Flags: from a file, completed by a shell, mistyped, and spoken of in every error. */

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type ClassifierModel, type ErrorCode, loadModel, StandardScaler, saveModel } from "@ranksim/core";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { called, SETTINGS } from "../src/flags/parameters.ts";
import { EXAMPLE_CONTENTS, makeWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = makeWorld();
  for (const [name, content] of Object.entries(EXAMPLE_CONTENTS)) writeFileSync(world.path(name), content);
  await world.ranksim("train digits:test -m digits.ranksim --filters 20");
  await world.ranksim("train plants.csv --label species -m plants.ranksim");
});
afterAll(() => world.remove());

describe("a config file", () => {
  test("gives flags to all commands that have them, and to one; what is typed goes first", async () => {
    const plain = { estimator: "classifier", table: false };
    const config = { label: "species", quiet: true, train: { ...plain, filters: 9, "n-best": 7, refine: false } };
    writeFileSync(world.path("flags.json"), JSON.stringify(config));
    const line = "--config flags.json -m c.ranksim";
    expect(await world.ranksim(`train plants.csv ${line}`)).toMatchObject({ code: 0, stderr: "" });
    const params = () => (loadModel(readFileSync(world.path("c.ranksim"))) as ClassifierModel).params;
    expect(params()).toMatchObject({ filters: 9, nBest: 7 });
    await world.ranksim(`train plants.csv ${line} --filters 6`);
    expect(params()).toMatchObject({ filters: 6, nBest: 7 });
  });

  test("takes what 0.2 called flags, with a note", async () => {
    const plain = { estimator: "classifier", table: false };
    const config = { train: { ...plain, labelColumn: "species", ignoreColumns: ["measure 3"], nBest: 7 } };
    writeFileSync(world.path("old.json"), JSON.stringify(config));
    const { code, stderr } = await world.ranksim("train plants.csv --config old.json -m c.ranksim --filters 6");
    expect(code, stderr).toBe(0);
    expect(stderr).toContain("--label-column of 0.2 is now --label species");
    expect((loadModel(readFileSync(world.path("c.ranksim"))) as ClassifierModel).params).toMatchObject({ nBest: 7 });
  });

  test("is ranksim.json where there is one", async () => {
    writeFileSync(
      world.path("ranksim.json"),
      '{"train": {"estimator": "classifier", "table": false, "filters": 12, "label": "species"}}',
    );
    await world.ranksim("train plants.csv -m r.ranksim");
    writeFileSync(world.path("ranksim.json"), "");
    expect(await world.ranksim("train plants.csv --label species --filters 3 --dry-run")).toMatchObject({ code: 0 });
    writeFileSync(world.path("ranksim.json"), "{}");
    expect((loadModel(readFileSync(world.path("r.ranksim"))) as ClassifierModel).params.filters).toBe(12);
  });

  describe("that comes with the folder", () => {
    const given = '{"label": "species", "quiet": true, "train": {"filters": 12, "rows": false}}';
    const note = "flags from ranksim.json in this folder, unless typed: --label, --quiet, --filters, --no-rows";
    afterEach(() => rmSync(world.path("ranksim.json"), { force: true }));

    test("is told of, whatever it says of quiet", async () => {
      writeFileSync(world.path("ranksim.json"), given);
      const { stderr, code } = await world.ranksim("train plants.csv -m t.ranksim");
      expect(code).toBe(0);
      expect(stderr).toBe(`note: ${note}\n`);
      for (const quiet of ["-q", "--quiet"])
        expect((await world.ranksim(`train plants.csv -m t.ranksim ${quiet}`)).stderr, quiet).toBe("");
      const told = await world.ranksim("train plants.csv -m t.ranksim --json");
      expect(told.stderr).toBe("");
      expect(JSON.parse(told.stdout).notes[0]).toBe(note);
    });

    test.each(["{}", '{"serve": {"port": 1}}', '{"quiet": false}'])("is not told of: %s", async (content) => {
      writeFileSync(world.path("ranksim.json"), content);
      expect((await world.ranksim("inspect plants.ranksim")).stderr).toBe("");
    });

    test.each([
      ["train plants.csv", { model: "t.ranksim" }, "--model"],
      ["train plants.csv -m t.ranksim", { train: { card: "t.md" } }, "--card"],
      ["train plants.csv -m t.ranksim", { checkpoint: "folder" }, "--checkpoint"],
      ["predict plants.ranksim plants.csv", { predict: { out: "victim.txt" } }, "--out"],
      ["tune plants.csv", { plot: "victim.txt" }, "--plot"],
      ["demo", { folder: "victim" }, "--folder"],
      ["play", { open: true }, "--open"],
      ["serve plants.ranksim", { port: 8081 }, "--port"],
      ["play", { port: 8080 }, "--port"],
      ["serve plants.ranksim", { host: "0.0.0.0" }, "--host"],
      ["serve plants.ranksim", { cors: "*" }, "--cors"],
      ["serve plants.ranksim", { "allow-host": "evil.example" }, "--allow-host"],
      ["serve plants.ranksim", { "token-file": "plants.csv" }, "--token-file"],
      ["serve plants.ranksim", { watch: true }, "--watch"],
    ])("may not choose what is written or opened: %s, %j", async (line, content, flag) => {
      writeFileSync(world.path("ranksim.json"), JSON.stringify(content));
      const before = readdirSync(world.folder);
      const { code, stderr } = await world.ranksim(line);
      expect(code).toBe(2);
      expect(stderr).toContain(`ranksim.json: ${flag}: expected on the command line or in a file that is named`);
      expect(stderr).toContain(`type ${flag}, or name the file: --config ranksim.json`);
      expect(readdirSync(world.folder)).toEqual(before);
    });

    test("is obeyed in full where it is named", async () => {
      writeFileSync(world.path("ranksim.json"), '{"quiet": true, "predict": {"out": "named.txt"}}');
      expect(await world.ranksim("predict plants.ranksim plants.csv --config ranksim.json")).toMatchObject({
        code: 0,
        stderr: "",
      });
      expect(readFileSync(world.path("named.txt"), "utf8")).toMatch(/^setosa\n/);
    });

    test("may hold what a flag is by default", async () => {
      writeFileSync(world.path("ranksim.json"), '{"predict": {"out": "-"}}');
      expect(await world.ranksim("predict plants.ranksim plants.csv")).toMatchObject({ code: 0 });
    });

    test("may set no flag of any command that names a file, but those that are only read", async () => {
      const commands = (await world.ranksim("--help")).stdout.matchAll(/^ {2}([a-z-]+) \[options\]/gm);
      let refused = 0;
      for (const [, command] of commands) {
        const help = (await world.ranksim([command, "--help"])).stdout;
        for (const [, flag] of help.matchAll(/--([a-z-]+) <(?:file|folder|path)>/g)) {
          if (flag === "labels" || flag === "metadata") continue;
          writeFileSync(world.path("ranksim.json"), JSON.stringify({ [command]: { [flag]: "victim" } }));
          expect((await world.ranksim(command)).stderr).toContain(`--${flag}: expected on the command line`);
          refused++;
        }
        rmSync(world.path("ranksim.json"), { force: true });
      }
      expect(refused).toBeGreaterThan(10);
    });
  });

  test.each([
    ['{"filtres": 9}', 'no command has a flag "filtres"; did you mean filters?'],
    ['{"train": {"folds": 3}}', 'train has no flag "folds"'],
    ["[1]", "expected an object of flags"],
    ["{", 'expected JSON, as in { "train": { "seed": 7 } }, found other text at position 1\n'],
    // Not a word of a file that was meant for others.
    ["root:secret", 'bad.json: expected JSON, as in { "train": { "seed": 7 } }, found other text\n'],
    ['{"filters": null}', "filters: expected a value that a flag can have"],
    [
      '{"filterFunction": "x => x"}',
      "argument 'filterFunction=x => x' is invalid. Expected meanRank or medianRank or mean",
    ],
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
  /** Names of the library that the command line calls otherwise. */
  const names = [
    "labelColumn",
    "textColumn",
    "ignoreColumns",
    "groupColumn",
    "timeColumn",
    "weightColumn",
    "keepSums:",
  ];

  const LINES: readonly (readonly [ErrorCode, string, string])[] = [
    ["bad-matrix", "predict reviews.ranksim digits:test", "name the column of text with --columns NAME:text"],
    [
      "bad-params",
      "train plants.csv -m x --text --columns species:text --label -1",
      "--label: expected another column than that of the text",
    ],
    ["bad-params", "train plants.csv --label spieces -m x", "did you mean species?"],
    ["bad-params", "train plants.csv --columns 'species:label,measure O:number' -m x", "did you mean measure 0?"],
    ["wrong-width", "predict plants.ranksim renamed.csv", "renamed perhaps; did you mean Measure 3?"],
    ["bad-labels", "train bare.csv -m x", "--label"],
    ["bad-params", "train plants.csv --label spices -m x", "--label: plants.csv: expected one of the columns"],
    [
      "bad-params",
      "train digits:test -m x --estimator classifier --set distribution=[1,2]",
      "distribution: expected 64 numbers",
    ],
    ["bad-params", "train digits:test -m x --filters 3", "at least as many filters as classes"],
    ["bad-file", "train gaps.csv -m x --set table=false", "--set missing can fill it in"],
    [
      "bad-file",
      "train words.csv -m x --set table=false",
      "labels are named by --label, other columns left out by --columns NAME:ignore, words kept by --set table",
    ],
    ["wrong-width", "predict digits.ranksim bare.csv", "the model"],
    ["empty-input", "predict reviews.ranksim -", "expected"],
    ["unsupported", "update digits.ranksim digits:test", "train it with --keep-sums"],
    ["unsupported", "predict scaler.ranksim bare.csv", "does not predict; use ranksim transform"],
    [
      "no-backend",
      "train digits:test -m x --estimator classifier --backend threads",
      "threads: expected shared memory",
    ],
  ];

  beforeAll(async () => {
    writeFileSync(world.path("bare.csv"), "1,2,3\n4,5,6\n");
    await world.ranksim("train plants.csv --label species -m plants.ranksim");
    writeFileSync(world.path("renamed.csv"), EXAMPLE_CONTENTS["plants.csv"].replace("measure 3", "Measure 3"));
    writeFileSync(world.path("gaps.csv"), "a,b,label\n1,2,x\n3,,y\n");
    writeFileSync(world.path("words.csv"), "a,b,label\n1,2,x\n1,oops,y\n");
    await world.ranksim("train reviews.csv --text --columns review:text --label stars -m reviews.ranksim");
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

  test("by what takes them: flags, and --set for all other parameters", () => {
    expect(
      ["labelColumn", "textColumn", "filters", "keepSums", "nBest", "missing", "elsewhere"].map((name) => called(name)),
    ).toEqual([
      ...["--label", "--columns NAME:text", "--filters", "--keep-sums", "--set nBest", "--set missing", "elsewhere"],
    ]);
    for (const { name } of SETTINGS) expect(called(name)).toMatch(/^--/);
  });
});
