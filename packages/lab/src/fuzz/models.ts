/**
 * Model files with something changed and their digest made right again, through `inspect`, `predict` and `explain`: a reader trusts a
 * digest as little as anything else. Changes go into the arrays, into the description of the model, or anywhere.
 */

import { createHash } from "node:crypto";
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
import { type Io, type Output, run } from "ranksim/node";
import { Draw } from "../differential/draw.ts";
import { mutate } from "./mutate.ts";
import type { Target } from "./target.ts";

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

/** A model file and the rows it is asked about. */
interface Good {
  readonly file: Uint8Array;
  readonly rows: string;
  readonly flags: readonly string[];
}

/** Trains what is damaged later. */
export async function modelTarget(writeRows: (name: string, text: string) => string): Promise<Target> {
  const draw = new Draw(20_211_109, 0);
  const rows = Array.from({ length: 40 }, () => Array.from({ length: 12 }, () => Math.max(0, draw.below(30) - 10)));
  const labels = rows.map((row) => ["down", "up", "level"][Math.sign(row[0] - row[1]) + 1]);
  const x = Dense.fromRows(rows);
  const texts = rows.map((row) => row.map((value, i) => `word${i}`.repeat(value > 5 ? 1 : 0)).join(" "));
  const csv = writeRows(
    "rows.csv",
    `${rows
      .slice(0, 5)
      .map((row) => row.join(","))
      .join("\n")}\n`,
  );
  const txt = writeRows(
    "texts.csv",
    `text\n${texts
      .slice(0, 5)
      .map((text) => `"${text}"`)
      .join("\n")}\n`,
  );
  const numbers = { rows: csv, flags: ["--no-header"] };
  const words = { rows: txt, flags: ["--text-column", "text"] };
  const sets = labels.map((label, r) => (r % 4 === 0 ? [] : r % 5 === 0 ? [label, "extra"] : [label]));
  const goods: Good[] = [];
  const add = (model: Parameters<typeof saveModel>[0], about: Omit<Good, "file">) =>
    goods.push({ file: saveModel(model), ...about });
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
  return {
    name: "model files through inspect, predict, explain",
    async attempt(draw) {
      const good = draw.pick(goods);
      const file = damaged(good.file, draw);
      const wrong: string[] = [];
      for (const line of [
        ["inspect", "-"],
        ["inspect", "-", "--json"],
        ["predict", "-", good.rows, ...good.flags, "--probabilities"],
        ["explain", "-", good.rows, "--row", "2", ...good.flags],
      ]) {
        const { code, text } = await command(line, file);
        if (/"code":"internal"|\n {4}at /.test(text))
          wrong.push(`${line[0]}: an internal error: ${text.slice(0, 400)}`);
        // 2 would be a command line at fault, which is ours.
        if (code > 1) wrong.push(`${line[0]}: exit code ${code}: ${text.slice(0, 200)}`);
        if (CONTROL.test(text)) wrong.push(`${line[0]}: printed ${JSON.stringify(CONTROL.exec(text)?.[0])}`);
        if (code === 0 && /\b(NaN|Infinity)\b/.test(text)) {
          wrong.push(`${line[0]}: a number that is none: ${text.slice(0, 200)}`);
        }
        // Refused as a file: the other commands would say the same.
        if (line[1] === "-" && line.length === 2 && code === 1) break;
      }
      return wrong;
    },
  };
}

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

async function command(line: readonly string[], file: Uint8Array): Promise<{ code: number; text: string }> {
  const said: string[] = [];
  const output: Output = {
    write: async (chunk) => {
      said.push(typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk));
    },
    isTerminal: true,
    columns: 100,
    colourDepth: 1,
  };
  const stdin = (async function* () {
    yield file;
  })();
  const io: Io = {
    stdin,
    stdout: output,
    stderr: { ...output, isTerminal: false },
    env: {},
    cwd: process.cwd(),
    signal: new AbortController().signal,
  };
  const code = await run(line, io);
  return { code, text: said.join("") };
}
