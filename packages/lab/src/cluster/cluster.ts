/**
 * What large data, checkpoints and several processes cost, measured on the command as it is installed: memory and rate of a source against
 * rows in memory, two processes against one, jobs that are killed, states that are kept. Sizes are flags; the
 * goals are stated for the defaults.
 *
 *     npm run cluster -- --rows 8000000 --memory 1GB --kills 30
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, open } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const BIN = fileURLToPath(new URL("../../../cli/bin/ranksim.js", import.meta.url));
const RESULTS = fileURLToPath(new URL("../../results/cluster.json", import.meta.url));
const FEATURES = 1500;
const KINDS = 200;

const { values: flags } = parseArgs({
  options: {
    rows: { type: "string", default: "8000000" },
    memory: { type: "string", default: "1GB" },
    kills: { type: "string", default: "30" },
    filters: { type: "string", default: "300" },
    folder: { type: "string" },
    mpirun: { type: "string", default: "mpirun.mpich" },
  },
});

/** What a run of the command took. */
interface Measured {
  readonly seconds: number;
  readonly peakMegabytes: number;
  readonly rowsPerSecond: number;
}

const folder = flags.folder ?? (await mkdtemp(join(tmpdir(), "ranksim-cluster-")));
await mkdir(folder, { recursive: true });
const rows = Number(flags.rows);
const small = Math.min(rows, Math.floor(2e9 / FEATURES));

await writeRows("large.npy", rows);
await writeRows("small.npy", small);
const train = (data: string, more: string) =>
  `train ${data} --no-table --no-rows --estimator transform --filters ${flags.filters} --iterations 2 --tolerance 0 --quiet --json --threads 1 ${more}`;
const here = await measure(train("small.npy", "--memory 40GB -m here.ranksim"), small);
const source = await measure(train("large.npy", `--memory ${flags.memory} -m large.ranksim`), rows);
const outcome = {
  machine: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores`,
  node: process.version,
  rows,
  bytes: rows * FEATURES,
  inMemory: { rows: small, ...here },
  source: { memory: flags.memory, ...source, shareOfRate: source.rowsPerSecond / here.rowsPerSecond },
  ranks: await twoAgainstOne(),
  checkpoint: await statesKept(),
  kills: await killed(Number(flags.kills)),
};
writeFileSync(RESULTS, `${JSON.stringify(outcome, undefined, 2)}\n`);
console.log(JSON.stringify(outcome, undefined, 2));
if (flags.folder === undefined) rmSync(folder, { recursive: true, force: true });

/** Clustered rows of bytes: a kind of its own for each row, and noise. */
async function writeRows(name: string, count: number): Promise<void> {
  let state = 9;
  const draw = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const kinds = Array.from({ length: KINDS }, () => Uint8Array.from({ length: FEATURES }, () => draw(200)));
  const noise = Uint8Array.from({ length: 65_536 }, () => draw(40));
  const text = `{'descr': '|u1', 'fortran_order': False, 'shape': (${count}, ${FEATURES}), }`;
  const header = Buffer.from(`${text.padEnd(117)}\n`);
  const file = await open(join(folder, name), "w");
  await file.write(Buffer.concat([Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length, 0), header]));
  for (let from = 0; from < count; from += 4096) {
    const block = new Uint8Array(Math.min(4096, count - from) * FEATURES);
    for (let r = 0; r < block.length; r += FEATURES) {
      const kind = kinds[draw(KINDS)];
      const shift = draw(65_536 - FEATURES);
      for (let i = 0; i < FEATURES; i++) block[r + i] = kind[i] + noise[shift + i];
    }
    await file.write(block);
  }
  await file.close();
}

/** Runs the command; the most memory it had is what the system last said of it. */
async function measure(line: string, count: number, launch: readonly string[] = []): Promise<Measured> {
  const { child, stdout } = start(line, launch);
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid as number));
  }, 50);
  const [code] = await once(child, "close");
  clearInterval(timer);
  if (code !== 0) throw new Error(`ranksim ${line}: exit code ${code}`);
  const { report } = JSON.parse(stdout()) as { report: { seconds: number } };
  return { seconds: report.seconds, peakMegabytes: peak / 1000, rowsPerSecond: count / report.seconds };
}

function start(line: string, launch: readonly string[] = []): { child: ChildProcess; stdout: () => string } {
  const [command, ...args] = [...launch, process.execPath, BIN, ...line.trim().split(/ +/)];
  const child = spawn(command, args, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
  const out: string[] = [];
  child.stdout?.on("data", (chunk) => out.push(String(chunk)));
  return { child, stdout: () => out.join("") };
}

/** Kilobytes that a process has had at most. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0; // it has ended
  }
}

/** Fashion-MNIST, fit alone, one thread a process, in turns. */
async function twoAgainstOne() {
  const line = "train fashion-mnist --estimator probabilistic --threads 1 --quiet --json -m ranks.ranksim";
  const turns: { one: number; two: number }[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const one = await measure(line, 60_000, [flags.mpirun, "-n", "1"]);
    const two = await measure(line, 60_000, [flags.mpirun, "-n", "2"]);
    turns.push({ one: one.seconds, two: two.seconds });
  }
  const [middle] = turns
    .map(({ one, two }) => one / two)
    .sort((a, b) => a - b)
    .slice(1, 2);
  return { turns, timesAsFast: middle };
}

/** Training with and without a state after each round, in turns. */
async function statesKept() {
  const turns: { plain: number; kept: number }[] = [];
  for (let turn = 0; turn < 3; turn++) {
    rmSync(join(folder, "kept"), { recursive: true, force: true });
    const plain = await measure(train("small.npy", `--memory ${flags.memory} -m plain.ranksim`), small);
    const kept = await measure(
      train("small.npy", `--memory ${flags.memory} -m plain.ranksim --checkpoint kept`),
      small,
    );
    turns.push({ plain: plain.seconds, kept: kept.seconds });
  }
  const [middle] = turns
    .map(({ plain, kept }) => kept / plain - 1)
    .sort((a, b) => a - b)
    .slice(1, 2);
  return { turns, overhead: middle };
}

/** Jobs of three processes of which one is killed at a moment of its own; then the job is started again. */
async function killed(times: number) {
  const line =
    "train fashion-mnist:test --estimator probabilistic --filters 300 --iterations 8 --tolerance 0 --quiet --json --threads 1";
  await measure(`${line} -m whole.ranksim`, 10_000);
  const expected = readFileSync(join(folder, "whole.ranksim"));
  const length = (await measure(`${line} -m three.ranksim`, 10_000, [flags.mpirun, "-n", "3"])).seconds + 1;
  let [same, inTime, slowest] = [0, 0, 0];
  for (let j = 0; j < times; j++) {
    const kept = join(folder, `kept-${j}`);
    const again = `${line} --checkpoint ${kept} -m again.ranksim`;
    const { child } = start(again, [flags.mpirun, "-n", "3"]);
    const end = once(child, "close");
    await new Promise((resume) => setTimeout(resume, (length * 1000 * (j + 1)) / times));
    const victims = below(child.pid as number).filter((pid) => commandOf(pid).includes("ranksim.js"));
    const began = performance.now();
    if (victims.length > 0) {
      process.kill(victims[j % victims.length], "SIGKILL");
      inTime++;
    }
    await end;
    slowest = Math.max(slowest, victims.length > 0 ? (performance.now() - began) / 1000 : 0);
    await measure(again, 10_000, [flags.mpirun, "-n", "2"]);
    if (readFileSync(join(folder, "again.ranksim")).equals(expected)) same++;
  }
  return { jobs: times, killedInTime: inTime, slowestEndSeconds: slowest, sameFile: same };
}

/** The processes below one. */
function below(root: number): number[] {
  try {
    const children = readFileSync(`/proc/${root}/task/${root}/children`, "utf8").trim();
    return children === "" ? [] : children.split(" ").flatMap((pid) => [Number(pid), ...below(Number(pid))]);
  } catch {
    return [];
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
