import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { CLASSIFIER_PARAMETERS, PROBABILISTIC_PARAMETERS } from "@ranksim/core";
import { HASHING_PARAMETERS, TABLE_PARAMETERS, TFIDF_PARAMETERS } from "@ranksim/data";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EXAMPLES } from "../src/commands/examples.ts";
import { makeWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = makeWorld();
  await world.ranksim("train digits:test -m digits.ranksim --filters 20");
});
afterAll(() => world.remove());

const COMMANDS = [
  "train",
  "predict",
  "transform",
  "nearest",
  "keep-rows",
  "map",
  "evaluate",
  "cross-validate",
  "inspect",
  "doctor",
  "explain",
  "report",
  "demo",
];
const DATA_COMMANDS = ["list", "fetch", "path", "info"];

describe("help", () => {
  test("of train is short, in groups, the label first", async () => {
    const { stdout } = await world.ranksim("train --help");
    const flags = Array.from(stdout.matchAll(/^ {2}(?:-\w, )?--([a-z-]+)/gm), ([, name]) => name);
    expect(flags[0]).toBe("label");
    expect(flags.length).toBeLessThanOrEqual(28);
    const groups = Array.from(stdout.matchAll(/^([A-Z][a-z]+):$/gm), ([, name]) => name);
    expect(groups.slice(0, 7)).toEqual(["Examples", "Arguments", "Data", "Model", "Judging", "Output", "Running"]);
  });

  test("names every command", async () => {
    const { stdout, code } = await world.ranksim("--help");
    expect(code).toBe(0);
    for (const name of [...COMMANDS, "data"]) expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
  });

  test.each([...COMMANDS, ...DATA_COMMANDS.map((name) => `data ${name}`)])("of %s has its examples", async (name) => {
    const { stdout, code } = await world.ranksim(`${name} --help`);
    expect(code).toBe(0);
    for (const { line } of EXAMPLES[name]) expect(stdout).toContain(line);
  });

  test("of all has each parameter of estimators, patches, text, tables and reading", async () => {
    const { stdout } = await world.ranksim("train --help all");
    const listed = Array.from(stdout.matchAll(/^ {2}([a-zA-Z.]+)=/gm), ([, name]) => name);
    const tables = [CLASSIFIER_PARAMETERS, PROBABILISTIC_PARAMETERS, TFIDF_PARAMETERS, HASHING_PARAMETERS];
    const names = [...tables, TABLE_PARAMETERS].flat().map(({ name }) => name);
    expect(listed).toEqual(expect.arrayContaining([...names, "patches.filters", "missing", "images", "table"]));
    expect(stdout).toContain("--no-rows");
    expect((await world.ranksim("predict --help all")).stdout).not.toContain("refine=");
  });

  test("version is the package's", async () => {
    const { default: manifest } = await import("../package.json", { with: { type: "json" } });
    expect((await world.ranksim("--version")).stdout.trim()).toBe(manifest.version);
  });
});

describe("a command line that cannot be meant ends with 2", () => {
  test.each([
    ["nonsense", "unknown command"],
    ["inspect", "missing required argument"],
    ["train digits", "--model"],
    ["train digits -m x --filters many", "whole number from 1"],
    ["train digits -m x --set tolerance=2", "from 0 to 1"],
    ["train digits -m x --seed -1", "whole number from 0"],
    ["train digits -m x --set initialize=somehow", "random or plusplus"],
    ["train digits -m x --estimator tree", "Allowed choices"],
    ["train digits -m x --estimator transform --set classWeight=uniform", "belongs to --estimator classifier"],
    ["train digits -m x --set minDf=2", "add --text"],
    ["train digits -m x --set minDff=2", "did you mean minDf?"],
    ["train digits -m x --set", "argument missing"],
    ["predict digits.ranksim digits --set refine=true", "no parameter"],
    ["predict digits.ranksim digits --columns a:group", "a role among label, text, ignore, id"],
    ["train digits -m x --columns a:wheel", "found a:wheel"],
    ["train digits -m x --text --set vectorizer=hashing --set minDf=2", "belongs to --set vectorizer=count or tfidf"],
    ["train digits -m x --backend abacus", "Allowed choices"],
    ["explain digits.ranksim digits:test", "--row"],
    ["explain digits.ranksim digits:test --row 599", "below 599"],
    ["report digits.ranksim digits:test --image 8", "WIDTHxHEIGHT"],
    ["report digits.ranksim digits:test --image 9x7", "63 pixels, the data has 64"],
    ["cross-validate digits --folds 1", "whole number from 2"],
    ["predict digits.ranksim digits --out answers.xls", "ending in .txt, .csv, .jsonl"],
    ["predict - -", "cannot both be standard input"],
  ])("%s", async (line, words) => {
    const { code, stderr, stdout } = await world.ranksim(line);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(words);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });
});

describe("data or a request at fault ends with 1 and one line", () => {
  beforeAll(() => {
    writeFileSync(world.path("bad.csv"), "a,b,label\n1,2,x\n1,oops,y\n");
    writeFileSync(world.path("bare.csv"), "1,2,3\n4,5,6\n");
    writeFileSync(world.path("broken.model"), "this is no model, whatever its name says".repeat(10));
  });

  test.each([
    ["train nowhere.csv -m x", "nowhere.csv: no file"],
    ["train mnist -m x", "ranksim data fetch mnist"],
    ["train digits:middle -m x", "parts all, train, test"],
    ["train bad.csv -m x --set table=false", "bad.csv, line 3"],
    ["train bare.csv -m x", "--label"],
    ["train --estimator classifier digits -m x --filters 3", "at least as many filters as classes"],
    ["train digits:test -m digits.ranksim/x", "not a folder"],
    ["train digits:test -m .", "is a folder"],
    ["inspect nowhere.model", "no such file"],
    ["inspect /dev/zero", "found a device"],
    ["predict /dev/zero digits", "found a device"],
    [`train digits -m ${"n".repeat(256)}`, "the name is too long"],
    ["inspect broken.model", "broken.model: not a ranksim model"],
    ["predict digits.ranksim bare.csv", "expected 64 columns, as the model takes, found 3"],
    ["transform digits.ranksim digits --out x.npz", "does not transform"],
    ["transform digits.ranksim digits --out x.png", "npz"],
    ["evaluate digits.ranksim bad.csv", "expected 64 columns, as the model takes, found 3"],
    ["data path mnist", "ranksim data fetch mnist"],
    ["data info fashion", "expected one of digits"],
  ])("%s", async (line, words) => {
    const { code, stderr, stdout } = await world.ranksim(line);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(words);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("as JSON for programs", async () => {
    const { code, stderr } = await world.ranksim("inspect broken.model --json");
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "bad-file" } });
  });

  test("with where it came from for --debug", async () => {
    for (const line of ["--debug inspect broken.model", "inspect broken.model --debug"]) {
      expect((await world.ranksim(line)).stderr).toMatch(/^ {4}at /m);
    }
  });
});

describe("outputs", () => {
  test("carry no colour codes unless asked for", async () => {
    const code = String.fromCharCode(27);
    for (const line of ["inspect digits.ranksim", "evaluate digits.ranksim digits:test", "data list", "--help"]) {
      expect((await world.ranksim(line)).stdout).not.toContain(code);
      expect((await world.ranksim(line, { colourDepth: 8, isTerminal: true })).stdout).toContain(code);
    }
  });

  test("show a bar on a terminal that is gone at the end, and nothing when quiet", async () => {
    const { stderr } = await world.ranksim("train --estimator classifier digits:test -m x.model", { isTerminal: true });
    expect(stderr).toContain("━");
    expect(stderr.endsWith("\r\u001b[K")).toBe(true);
    expect(
      (await world.ranksim("train --estimator classifier digits:test -m x.model -q", { isTerminal: true })).stderr,
    ).toBe("");
  });

  test.each(["", "--estimator classifier"])("cannot be steered by names in the data: train %s", async (flags) => {
    const name = "red\u001b[31m\u0007";
    const rows = Array.from({ length: 8 }, (_, r) => `${[9, 8, 7, 6, 5, 4, 3, 2, r].join(",")},${r % 2 ? name : "b"}`);
    writeFileSync(world.path("names.csv"), rows.join("\n"));
    const trained = await world.ranksim(`train names.csv ${flags} --label -1 -m names.model`);
    const judged = await world.ranksim("evaluate names.model names.csv --label -1");
    const inspected = await world.ranksim("inspect names.model");
    for (const { code, stdout } of [trained, judged, inspected]) {
      expect(code).toBe(0);
      expect(stdout).not.toContain("\u001b");
      expect(stdout).not.toContain("\u0007");
      expect(stdout).toContain("red\ufffd[31m");
    }
  });
});

test("an interrupt before or during the work ends with 130 and leaves nothing", async () => {
  const before = readdirSync(world.folder);
  const aborted = await world.ranksim("train digits -m late.model", { signal: AbortSignal.abort() });
  expect(aborted).toMatchObject({ code: 130, stdout: "" });
  const controller = new AbortController();
  const line = "train digits -m late.model --set spreading=weightedAverage --set iterations=100000";
  const working = world.ranksim(line, { signal: controller.signal });
  setTimeout(() => controller.abort(), 500);
  expect(await working).toMatchObject({ code: 130, stdout: "" });
  expect(readdirSync(world.folder)).toEqual(before);
});

test("no command writes over what it reads, by whatever name", async () => {
  const table = `a,b,kind\n${Array.from({ length: 30 }, (_, r) => `${(r * 7) % 11},${(r * 5) % 13},${r % 2}`).join("\n")}\n`;
  writeFileSync(world.path("own.csv"), table);
  symlinkSync("own.csv", world.path("link.csv"));
  await world.ranksim("train own.csv --label kind --keep-sums --filters 4 -m own.ranksim");
  for (const line of [
    "train own.csv --label kind -m own.csv",
    "train own.csv --label kind -m own2.ranksim --card ./own.csv",
    "train 'own.*v' --label kind -m link.csv",
    "predict own.ranksim own.csv --out link.csv",
    "report own.ranksim own.csv --out own.csv",
    "report own.ranksim own.csv --out own.ranksim",
    "update own.ranksim own.csv --out own.csv",
    "tune own.csv --label kind --seconds 1 --out own.csv",
    "export own.ranksim --to c --out own.ranksim",
  ]) {
    const { code, stderr } = await world.ranksim(line);
    expect([code, stderr], line).toEqual([1, expect.stringContaining("is read by this command")]);
  }
  expect(readFileSync(world.path("own.csv"), "utf8")).toBe(table);
  // A model that grows takes its own place.
  expect(await world.ranksim("update own.ranksim own.csv")).toMatchObject({ code: 0 });
});

test("names that share no letter are no suggestion", async () => {
  writeFileSync(world.path("short.csv"), "a,b\n1,2\n");
  expect((await world.ranksim("train short.csv --label y -m x")).stderr).not.toContain("did you mean");
});
