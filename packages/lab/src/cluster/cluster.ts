/**
 * `npm run cluster`: what large data, checkpoints and several processes cost, measured on the command as it is installed. Each part can
 * be run by itself; what it found is put beside what the others found in the results.
 */

import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { argv, stderr, stdout } from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Measured, measure, processesOf, start } from "./jobs.ts";
import { FEATURES, writeRows } from "./rows.ts";
import { type Found, tableOf } from "./table.ts";

const PARTS = ["source", "predict", "ranks", "checkpoint", "kills"] as const;
type Part = (typeof PARTS)[number];

const HELP = `Measures data larger than memory, checkpoints and processes.

  npm run cluster -- --only source,predict

  --only LIST     parts, separated by commas (${PARTS.join(",")})
  --rows N        rows of 1,500 bytes in the large file (8000000)
  --small N       rows in memory that it is compared with (1333333, that is 2 GB)
  --memory SIZE   of training from the large file (1GB)
  --filters N     filters (300)
  --turns N       turns of what is compared in turns (3)
  --kills N       jobs that are killed (30)
  --mpirun NAME   the launcher (mpirun.mpich)
  --folder DIR    where the files of rows go, and stay; else a folder that is removed
  --results FILE  where to write what was found as JSON
  --help          this text
`;

const { values: flags } = parseArgs({
  args: argv.slice(2),
  options: {
    only: { type: "string", default: PARTS.join(",") },
    rows: { type: "string", default: "8000000" },
    small: { type: "string", default: "1333333" },
    memory: { type: "string", default: "1GB" },
    filters: { type: "string", default: "300" },
    turns: { type: "string", default: "3" },
    kills: { type: "string", default: "30" },
    mpirun: { type: "string", default: "mpirun.mpich" },
    folder: { type: "string" },
    results: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
const [rows, small] = [Number(flags.rows), Math.min(Number(flags.rows), Number(flags.small))];
const turns = Number(flags.turns);
const ROUNDS = 8;
const RANKS = 3;
const TRAIN_ROWS = Math.min(small, 60_000);

if (flags.help) stdout.write(HELP);
else await main();

async function main(): Promise<void> {
  const wanted = flags.only.split(",");
  const stray = wanted.find((name) => !PARTS.includes(name as Part));
  if (stray !== undefined) throw new Error(`--only: expected ${PARTS.join(", ")}, found ${stray}`);
  const folder = resolve(flags.folder ?? (await mkdtemp(join(tmpdir(), "ranksim-cluster-"))));
  await mkdir(folder, { recursive: true });
  const found: { [name: string]: unknown } =
    flags.results && existsSync(flags.results) ? JSON.parse(readFileSync(flags.results, "utf8")) : {};
  found.machine = { processor: cpus()[0]?.model ?? "unknown", cores: cpus().length, node: process.version };
  const parts = { source: fromSource, predict: predicted, ranks: twoAgainstOne, checkpoint: statesKept, kills: killed };
  try {
    for (const name of PARTS.filter((part) => wanted.includes(part))) {
      const load = loadavg()[0];
      stderr.write(`${name} (load ${load.toFixed(1)})\n`);
      found[name] = { ...(await parts[name](folder)), loadBefore: load };
      if (flags.results) writeFileSync(flags.results, `${JSON.stringify(found, undefined, 2)}\n`);
    }
    stdout.write(tableOf(found as Found));
  } finally {
    if (flags.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** A file of rows with their labels, written once. */
async function rowsIn(folder: string, count: number): Promise<string> {
  const name = `rows-${count}.npy`;
  // Labels are written last; the rows may have been deleted since to make room.
  if (![name, `labels-${count}.npy`].every((each) => existsSync(join(folder, each)))) {
    stderr.write(`writing ${((count * FEATURES) / 1e9).toFixed(1)} GB\n`);
    await writeRows(join(folder, name), count, join(folder, `labels-${count}.npy`));
  }
  return name;
}

function train(data: string, more: string): string {
  return `train ${data} --no-table --no-rows --estimator transform --filters ${flags.filters} --iterations 2 --tolerance 0 --quiet --json --threads 1 ${more}`;
}

/** Training from a file larger than the memory it may take, against training on its first rows in memory. */
async function fromSource(folder: string) {
  const here = await measure(train(await rowsIn(folder, small), "--memory 999GB -m here.ranksim"), folder);
  const large = await measure(train(await rowsIn(folder, rows), `--memory ${flags.memory} -m large.ranksim`), folder);
  const rates = { inMemory: small / here.fitSeconds, source: rows / large.fitSeconds };
  return {
    ...{ rows, bytes: rows * FEATURES, filters: Number(flags.filters), memory: flags.memory },
    inMemory: { rows: small, seconds: here.fitSeconds, peakMegabytes: here.peakMegabytes },
    source: { seconds: large.fitSeconds, wholeSeconds: large.seconds, peakMegabytes: large.peakMegabytes },
    rowsPerSecond: rates,
    shareOfRate: rates.source / rates.inMemory,
  };
}

/** Answers from that file, against answers to rows in memory, in turns. */
async function predicted(folder: string) {
  const few = await rowsIn(folder, TRAIN_ROWS);
  const [here, large] = [await rowsIn(folder, small), await rowsIn(folder, rows)];
  const recipe = `--labels labels-${TRAIN_ROWS}.npy --no-table --estimator probabilistic --filters ${flags.filters}`;
  await measure(`train ${few} ${recipe} --quiet --json -m predicts.ranksim`, folder);
  const program = fileURLToPath(new URL("in-memory.js", import.meta.url));
  const inMemory = async () =>
    JSON.parse((await measure(`predicts.ranksim ${here}`, folder, [], program)).stdout) as {
      readonly rows: number;
      readonly seconds: number;
    };
  const runs = [];
  for (let turn = 0; turn < turns; turn++) {
    // A machine may slow down in the minutes that the file takes: rows in memory are answered before and after it.
    const before = await inMemory();
    const source = await measure(`predict predicts.ranksim ${large} --threads 1 --quiet --out answers.txt`, folder);
    const after = await inMemory();
    const rates = {
      inMemory: (before.rows + after.rows) / (before.seconds + after.seconds),
      before: before.rows / before.seconds,
      after: after.rows / after.seconds,
      source: rows / source.seconds,
    };
    runs.push({ rowsPerSecond: rates, share: rates.source / rates.inMemory, peakMegabytes: source.peakMegabytes });
  }
  const answers = readFileSync(join(folder, "answers.txt")).reduce((sum, byte) => sum + (byte === 10 ? 1 : 0), 0);
  if (answers !== rows) throw new Error(`expected ${rows} answers, found ${answers}`);
  return {
    ...{ rows, bytes: rows * FEATURES, filters: Number(flags.filters), turns: runs },
    shareOfRate: middle(runs.map(({ share }) => share)),
    peakMegabytes: Math.max(...runs.map(({ peakMegabytes }) => peakMegabytes)),
  };
}

/** Fashion-MNIST, training alone, one thread a process, in turns; and two trainings that have nothing to do with each other at once. */
async function twoAgainstOne(folder: string) {
  const line = (name: string) =>
    `train fashion-mnist --estimator probabilistic --threads 1 --quiet --json -m ${name}.ranksim`;
  const alone = (name: string) => measure(line(name), folder, [flags.mpirun, "-n", "1"]);
  const runs = [];
  for (let turn = 0; turn < turns; turn++) {
    const one = await alone("ranks");
    const two = await measure(line("ranks"), folder, [flags.mpirun, "-n", "2"]);
    const [first, second] = await Promise.all([alone("first"), alone("second")]);
    const atOnce = Math.max(first.fitSeconds, second.fitSeconds);
    runs.push({ one: one.fitSeconds, two: two.fitSeconds, atOnce });
  }
  return {
    ...{ launcher: flags.mpirun, turns: runs },
    timesAsFast: middle(runs.map(({ one, two }) => one / two)),
    // Cores share caches, memory and the threads that compile and collect garbage.
    mostOfMachine: middle(runs.map(({ one, atOnce }) => (2 * one) / atOnce)),
  };
}

/** The command with and without a state after each round, in turns: with one, rows are hashed before training and not during it. */
async function statesKept(folder: string) {
  const data = await rowsIn(folder, small);
  const runs = [];
  for (let turn = 0; turn < turns; turn++) {
    rmSync(join(folder, "kept"), { recursive: true, force: true });
    const both = ["", "--checkpoint kept"];
    const found = new Map<string, Measured>();
    // Neither is always the first.
    for (const more of turn % 2 === 0 ? both : both.toReversed()) {
      found.set(more, await measure(train(data, `--memory ${flags.memory} -m plain.ranksim ${more}`), folder));
    }
    const [plain, kept] = both.map((more) => found.get(more) as Measured);
    runs.push({
      ...{ plain: plain.fitSeconds, kept: kept.fitSeconds },
      ...{ plainWhole: plain.seconds, keptWhole: kept.seconds },
    });
  }
  return {
    rows: small,
    turns: runs,
    overhead: middle(runs.map(({ plainWhole, keptWhole }) => keptWhole / plainWhole - 1)),
  };
}

/** Jobs of three processes, of which one is killed in a round of its own and at a moment of its own; then the job is started again. */
async function killed(folder: string) {
  const line = `train fashion-mnist:test --estimator probabilistic --filters 300 --iterations ${ROUNDS} --tolerance 0 --quiet --json --threads 1`;
  await measure(`${line} -m whole.ranksim`, folder);
  const expected = readFileSync(join(folder, "whole.ranksim"));
  const ends: { rank: number; states: number; seconds: number; isSame: boolean }[] = [];
  for (let j = 0; j < Number(flags.kills); j++) {
    const [rank, states] = [j % RANKS, Math.floor(j / RANKS) % ROUNDS];
    const kept = join(folder, `kept-${j}`);
    await mkdir(kept, { recursive: true });
    const again = `${line} --checkpoint ${kept} -m again.ranksim`;
    const { child, ended } = start(again, folder, [flags.mpirun, "-n", String(RANKS)]);
    const written = new Set<string>();
    while (child.exitCode === null && (written.size < states || processesOf(kept).length < RANKS)) {
      await new Promise((resume) => setTimeout(resume, 2));
      // A state takes the place of the one before.
      const files = readdirSync(kept).filter((file) => file.endsWith(".state"));
      for (const name of files)
        written.add(`${name} ${statSync(join(kept, name), { throwIfNoEntry: false })?.mtimeMs}`);
    }
    await new Promise((resume) => setTimeout(resume, (j * 37) % 100));
    const victim = processesOf(kept).sort((a, b) => a - b)[rank];
    if (victim === undefined) throw new Error(`job ${j} had ended before it was killed`);
    process.kill(victim, "SIGKILL");
    const began = performance.now();
    const { code } = await ended;
    const seconds = (performance.now() - began) / 1000;
    if (code === 0) throw new Error(`job ${j}: a process was killed, and the exit code is 0`);
    await measure(again, folder, [flags.mpirun, "-n", "2"]);
    const isSame = readFileSync(join(folder, "again.ranksim")).equals(expected);
    ends.push({ rank, states, seconds, isSame });
    rmSync(kept, { recursive: true, force: true });
  }
  return {
    ...{ launcher: flags.mpirun, jobs: ends.length, rounds: ROUNDS },
    slowestEndSeconds: Math.max(...ends.map(({ seconds }) => seconds)),
    sameFile: ends.filter(({ isSame }) => isSame).length,
    ends,
  };
}

function middle(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
