import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import {
  Dense,
  Pipeline,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  saveModel,
  toCsr,
} from "@ranksim/core";
import { CountVectorizer, TfidfVectorizer } from "@ranksim/data";
import { afterAll, beforeAll, test } from "vitest";
import { attack, mutate } from "../../data/test/damaged.ts";
import { Draw } from "../../lab/src/differential/draw.ts";
import { makeWorld } from "./world.ts";

// Model files with something changed and their digest made right again, through `inspect`, `predict` and `explain`: a reader
// trusts a digest as little as anything else. Changes go into the arrays, into the description of the model, or anywhere.

/** Values that a description may be given. */
const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1.5,
  5e-324,
  1e308,
  2 ** 26,
  2 ** 32,
  2 ** 53,
  "",
  "\u001b[2J\u0007",
  "\u009b31m",
  "\r\n\t",
  "\u202egnp.exe",
  "(a+)+$",
  [],
  {},
  [null],
  ["a", 1],
  "x".repeat(5000),
];

/** No control character but the end of a line; tables of numbers may have tabs. */
const CONTROL = /(?![\n\t])[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** A model file and what is said of the rows that it is asked about. */
interface Good {
  readonly file: Uint8Array;
  readonly rows: readonly string[];
}

const world = makeWorld();
afterAll(() => world.remove());
const goods: Good[] = [];

beforeAll(async () => {
  const draw = new Draw(20_211_109, 0);
  const rows = Array.from({ length: 40 }, () => Array.from({ length: 12 }, () => Math.max(0, draw.below(30) - 10)));
  const labels = rows.map((row) => ["down", "up", "level"][Math.sign(row[0] - row[1]) + 1]);
  const x = Dense.fromRows(rows);
  const texts = rows.map((row) => row.map((value, i) => `word${i}`.repeat(value > 5 ? 1 : 0)).join(" "));
  const lines = (of: readonly string[]) => `${of.slice(0, 5).join("\n")}\n`;
  writeFileSync(world.path("rows.csv"), lines(rows.map((row) => row.join(","))));
  writeFileSync(world.path("texts.csv"), `text\n${lines(texts.map((text) => `"${text}"`))}`);
  const numbers = ["rows.csv", "--set", "header=false"];
  const words = ["texts.csv", "--columns", "text:text"];
  const sets = labels.map((label, r) => (r % 4 === 0 ? [] : r % 5 === 0 ? [label, "extra"] : [label]));
  const add = (model: Parameters<typeof saveModel>[0], asked: readonly string[]) =>
    goods.push({ file: saveModel(model), rows: asked });
  add(await new RankSimilarityClassifier({ filters: 8 }).fit(x, labels), numbers);
  add(await new RankSimilarityClassifier({ filters: 8, keepSums: true }).fit(toCsr(x), labels), numbers);
  add(await new RankSimilarityClassifier({ filters: 9, committee: 3, calibrate: "isotonic" }).fit(x, labels), numbers);
  add(
    await new RankSimilarityClassifier({ filters: 8, distribution: "confusion", refine: true }).fit(x, labels),
    numbers,
  );
  add(await new RankSimilarityProbabilisticClassifier({ filters: 8, combine: "mean" }).fit(x, labels), numbers);
  add(await new RankSimilarityProbabilisticClassifier({ filters: 8, thresholds: "perLabel" }).fit(x, sets), numbers);
  add(await new RankSimilarityTransform({ filters: 6 }).fit(x), numbers);
  for (const vectorizer of [new CountVectorizer(), new TfidfVectorizer()]) {
    const steps = [vectorizer, new RankSimilarityClassifier({ filters: 6 })] as const;
    add(await new Pipeline([...steps]).fit(texts, labels), words);
  }
});

test("damaged models are inspected, asked and explained, or refused", async () => {
  await attack(async (draw) => {
    const { file, rows } = draw.pick(goods);
    const stdin = damaged(file, draw);
    const wrong: string[] = [];
    for (const line of [
      ["inspect", "-"],
      ["inspect", "-", "--json"],
      ["predict", "-", ...rows, "--probabilities"],
      ["explain", "-", ...rows, "--row", "2"],
    ]) {
      const { code, stdout, stderr } = await world.ranksim(line, { stdin, isTerminal: true, isErrorTerminal: false });
      const text = stdout + stderr;
      const found = (what: string) => wrong.push(`${line[0]}: ${what}: ${JSON.stringify(text.slice(0, 400))}`);
      if (/"code":"internal"|\n {4}at /.test(text)) found("an internal error");
      // 2 would be a command line at fault, which is ours.
      if (code > 1) found(`exit code ${code}`);
      if (CONTROL.test(text)) found("a control character");
      if (code === 0 && /\b(NaN|Infinity)\b/.test(text)) found("a number that is none");
      // Refused as a file: the other commands would say the same.
      if (line.length === 2 && code === 1) break;
    }
    return wrong;
  });
});

/** The file after a change, its digest that of its bytes. */
function damaged(file: Uint8Array, draw: Draw): Uint8Array {
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const header = file.subarray(8, 8 + length);
  const arrays = file.subarray(8 + length);
  switch (draw.below(4)) {
    case 0:
      return signed(mutate(file, draw));
    case 1: {
      // As many bytes as before: most go into the numbers of some array.
      const bytes = mutate(arrays, draw);
      const fitting = new Uint8Array(arrays.length);
      fitting.set(bytes.subarray(0, arrays.length));
      return assembled(header, fitting);
    }
    default:
      return assembled(otherHeader(header, draw), draw.chance(0.2) ? mutate(arrays, draw) : arrays);
  }
}

/** The header with one value of the model's description replaced by another. */
function otherHeader(header: Uint8Array, draw: Draw): Uint8Array {
  const text = new TextDecoder().decode(header).trimEnd();
  const parsed = JSON.parse(text) as { __metadata__: { model: string } };
  const tree = JSON.parse(parsed.__metadata__.model) as unknown;
  const places: [holder: Record<string, unknown>, key: string][] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const key of Object.keys(value)) {
      places.push([value as Record<string, unknown>, key]);
      walk((value as Record<string, unknown>)[key]);
    }
  };
  walk(tree);
  for (let change = draw.below(2); change >= 0; change--) {
    const [holder, key] = draw.pick(places);
    const old = holder[key];
    if (draw.chance(0.1)) delete holder[key];
    else if (typeof old === "number" && draw.chance(0.3)) holder[key] = old + draw.from(-2, 2);
    else holder[key] = draw.pick(ODD_VALUES);
  }
  const model = JSON.stringify(JSON.stringify(tree));
  const made = text.replace(JSON.stringify(parsed.__metadata__.model), () => model);
  return new TextEncoder().encode(made.padEnd(made.length + ((8 - (Buffer.byteLength(made) % 8)) % 8)));
}

function assembled(header: Uint8Array, arrays: Uint8Array): Uint8Array {
  const file = new Uint8Array(8 + header.length + arrays.length);
  new DataView(file.buffer).setBigUint64(0, BigInt(header.length), true);
  file.set(header, 8);
  file.set(arrays, 8 + header.length);
  return signed(file);
}

/** Writes the digest that the bytes give, where a digest stands. */
function signed(file: Uint8Array): Uint8Array {
  const mark = Buffer.from(file).indexOf('"digest":"');
  if (mark < 0 || mark + 74 > file.length) return file;
  const at = mark + 10;
  file.fill(48, at, at + 64);
  file.set(new TextEncoder().encode(createHash("sha256").update(file).digest("hex")), at);
  return file;
}
