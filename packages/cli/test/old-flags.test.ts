/** Flags of 0.1 and 0.2 still work, with a note that names the new form, and say the same as it; those that are gone say what to do instead. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { encodeNpy, packNpz } from "@ranksim/data";
import { encode } from "fast-png";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OLD_FLAGS } from "../src/flags/old-flags.ts";
import { processIo } from "../src/io.ts";
import { makeProgram } from "../src/program.ts";
import { EXAMPLE_CONTENTS, makeWorld, type World } from "./world.ts";

const PAGE = readFileSync(new URL("../../../docs/from-0.2-to-0.3.md", import.meta.url), "utf8");
/** The lines of the page, and what they are now. */
const PAIRS = Array.from(PAGE.matchAll(/^\| `((?:train|predict) .*?)` \| `(.*?)` \|$/gm), ([, old, now]) => [old, now]);

let world: World;
beforeAll(async () => {
  world = makeWorld();
  const write = (name: string, content: string | Uint8Array) => {
    mkdirSync(dirname(world.path(name)), { recursive: true });
    writeFileSync(world.path(name), content);
  };
  const lines = (count: number, line: (r: number) => string) =>
    Array.from({ length: count }, (_, r) => `${line(r)}\n`).join("");
  for (const [name, content] of Object.entries(EXAMPLE_CONTENTS)) write(name, content);
  const day = (r: number) => `2024-0${1 + (r % 9)}-1${r % 10}`;
  const visit = (r: number) =>
    `${r % 13},${(r * 7) % 11},p${r % 9},${day(r)},${1 + (r % 3)},${r % 13 > 5 ? "late" : "early"}`;
  write("visits.csv", `a,b,who,day,weight,kind\n${lines(90, visit)}`);
  const gaps = lines(20, (r) => `${r % 5};${r % 7 === 0 ? "" : r % 3};${r % 5 > 2 ? "é" : "e"}`);
  write("gaps.csv", Buffer.from(`a;b;kind\n${gaps}`, "latin1"));
  write(
    "bare.csv",
    lines(20, (r) => `${r % 5},${r % 3},${r % 5 > 2 ? "x" : "y"}`),
  );
  write(
    "rows.svm",
    lines(20, (r) => `${r % 2} ${1 + (r % 4)}:3 ${6 + (r % 2)}:5`),
  );
  const values = Uint8Array.from({ length: 80 }, (_, i) => (i * 7) % 11);
  const kinds = Array.from({ length: 20 }, (_, r) => r % 2);
  write("rows.npz", packNpz({ rows: encodeNpy(values, [20, 4]), kinds: encodeNpy(kinds) }));
  for (let r = 0; r < 12; r++) {
    const data = Uint8Array.from({ length: 192 }, (_, p) => (r % 2 ? 255 - p : p) % 256);
    write(`photos/${r % 2 ? "up" : "down"}/${r}.png`, encode({ width: 8, height: 8, data, channels: 3 }));
    const post = `From: ${r}\nSubject: it\n\n${r % 2 ? "rain and wind" : "goal and match"} number ${r}\n`;
    write(`posts/all/train/${r % 2 ? "weather" : "sport"}/${r}`, post);
    write(`posts/all/test/${r % 2 ? "weather" : "sport"}/${r}`, post);
  }
  await world.ranksim("train plants.csv --label species -m plants.ranksim");
});
afterAll(() => world.remove());

const COMMON = "json quiet";
const COMPUTE = "backend threads";
const READING =
  "labels label-column text-column ignore-columns format header no-header delimiter missing multilabel arrays features first-feature encoding remove under colour resize images memory";
const ESTIMATOR =
  "estimator filters fast-filters max-filters initialize spreading iterations tolerance distribution density confusion-rows filter-function n-best keep-sums seed initial-rows class-weight distribution-per-class calibrate calibrate-on decision committee refine refine-epochs refine-window voters combine thresholds preset patch-size patch-filters patch-grid patch-bytes no-patch-bytes shifted-copies";
const TEXT =
  "text vectorizer no-lowercase token-pattern ngram-range stop-words min-df max-df max-features vocabulary binary norm no-use-idf no-smooth-idf sublinear-tf log-tf idf-power n-features no-alternate-sign analyzer columns table no-table knots spacing categories";

/** The commands of 0.2 and their flags, as its source declared them. */
const FLAGS: { readonly [command: string]: readonly string[] } = {
  train: [
    "model dry-run card no-rows sets trace checkpoint checkpoint-minutes test-share group-column time-column weight-column baselines",
    ...[ESTIMATOR, TEXT, READING, COMPUTE, COMMON],
  ],
  update: ["out trace", READING, COMPUTE, COMMON],
  predict: ["probabilities top coverage reject id-column keep out out-format", READING, COMPUTE, COMMON],
  transform: ["out", READING, COMPUTE, COMMON],
  evaluate: ["baselines", READING, COMPUTE, COMMON],
  "cross-validate": ["folds group-column time-column", ESTIMATOR, TEXT, READING, COMPUTE, COMMON],
  tune: [
    "folds seconds scoring try baselines out plot model group-column time-column",
    ...[ESTIMATOR, TEXT, READING, COMPUTE, COMMON],
  ],
  inspect: [COMMON],
  explain: ["row top image", READING, COMPUTE, COMMON],
  report: ["out title image samples", READING, COMPUTE, COMMON],
  play: ["port open", READING, COMMON],
  demo: ["folder", COMPUTE, COMMON],
  export: ["to out rows no-probabilities name bits check threshold", READING, COMPUTE, COMMON],
  spikes: ["out rows row image", READING, COMMON],
};

test.each(Object.entries(FLAGS))("%s takes every flag of 0.2, or says what to do instead", async (name, flags) => {
  const program = await makeProgram(processIo(new AbortController().signal), () => {});
  const command = program.commands.find((one) => one.name() === name);
  const known = new Set(command?.options.map(({ long }) => long));
  expect(flags.flatMap((names) => names.split(" ")).filter((flag) => !known.has(`--${flag}`))).toEqual([]);
});

describe("an old flag and its new form", () => {
  test("are one flag for each parameter", () => {
    const flags = OLD_FLAGS.map(({ flag }) => flag);
    expect(new Set(flags).size).toBe(flags.length);
  });

  test.each(PAIRS)("give the same: %s", async (old, now) => {
    const given = async (line: string, model: string) => {
      const isTrained = line.startsWith("train ");
      const { code, stdout, stderr } = await world.ranksim(isTrained ? `${line} -m ${model}` : line);
      expect(code, stderr).toBe(0);
      return [stderr, isTrained ? readFileSync(world.path(model)).toString("base64") : stdout];
    };
    const [[noteOfOld, before], [noteOfNew, after]] = [
      await given(old, "old.ranksim"),
      await given(now, "new.ranksim"),
    ];
    expect(after).toBe(before);
    expect(noteOfOld).toMatch(/of 0\.2 is now/);
    expect(noteOfNew).not.toMatch(/of 0\.2 is now/);
  });

  test("are on the page, every one", () => {
    const lines = PAIRS.map(([old]) => `${old} `).join("");
    const isThere = ({ flag, now }: (typeof OLD_FLAGS)[number]) =>
      typeof now === "string" ? PAGE.includes(`\`${flag}\``) : lines.includes(`${flag} `);
    // Reading in colour is asked for; nothing had to turn it off.
    expect(OLD_FLAGS.filter((old) => !isThere(old)).map(({ flag }) => flag)).toEqual(["--no-colour"]);
  });

  test("are told of with the result where programs ask, and in full", async () => {
    const line = "train plants.csv --label-column species --n-best 7 --dry-run --json";
    const { stdout, stderr } = await world.ranksim(line);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout).notes.slice(0, 2)).toEqual([
      "--label-column of 0.2 is now --label species",
      "--n-best of 0.2 is now --set nBest=7",
    ]);
  });

  test.each([
    ["train digits:test -m x.ranksim --trace", "ranksim inspect MODEL --json"],
    ["inspect x.ranksim --print-config", "ranksim.json"],
    ["train digits:test -m x.ranksim --checkpoint-minutes 3", "after each round"],
  ])("%s is refused with what to do instead", async (line, words) => {
    const { code, stderr } = await world.ranksim(line);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
  });
});
