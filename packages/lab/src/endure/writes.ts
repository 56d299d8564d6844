/**
 * `npm run writes`: commands that write are killed, and run out of disk, again and again. The file they were to write is the old
 * one or the new one each time, and what a killed run left is gone after the next.
 */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { argv, stderr, stdout } from "node:process";
import { parseArgs } from "node:util";
import { Draw } from "../differential/draw.ts";
import { JOBS, type Job, PREPARING, start } from "./jobs.ts";

const HELP = `Kills commands that write, and lets them run out of disk.

  npm run writes -- --times 20

  --times N       kills, and full disks, of each command (20)
  --only TEXT     commands whose line holds this text
  --seed N        (1)
  --results FILE  where to write what was found as JSON
  --help          this text

Ends with 1 where a file was neither the old one nor the new one.
`;

const { values } = parseArgs({
  args: argv.slice(2),
  options: {
    times: { type: "string", default: "20" },
    only: { type: "string", default: "" },
    seed: { type: "string", default: "1" },
    results: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

/** What is in the place of the file before. */
const OLD = Buffer.from("old\n".repeat(64));
/** Blocks of 512 bytes, as a shell counts. */
const BLOCK = 512;

/** What became of the runs of one command. */
interface Found {
  readonly line: string;
  readonly bytes: number;
  readonly kills: number;
  /** Of the kills, those in the middle of writing. */
  readonly whileWriting: number;
  readonly fullDisks: number;
  /** How often the new file was there after a kill: it came too late. */
  readonly finished: number;
  readonly wrong: readonly string[];
}

if (values.help) stdout.write(HELP);
else await main();

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "ranksim-writes-"));
  const found: Found[] = [];
  try {
    for (const line of PREPARING) {
      const { code, said } = await start(line, folder).ended;
      if (code !== 0) throw new Error(`${line}: ${said}`);
    }
    for (const [j, job] of JOBS.filter(({ line }) => line.includes(values.only)).entries()) {
      found.push(await endure(job, folder, Number(values.times), new Draw(Number(values.seed), j)));
      const { line, wrong } = found[found.length - 1];
      stderr.write(`${wrong.length === 0 ? "fine" : wrong.join("; ")}: ${line}\n`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const report = { times: Number(values.times), seed: Number(values.seed), commands: found };
  stdout.write(`${JSON.stringify(report, undefined, 1)}\n`);
  if (values.results !== undefined) writeFileSync(values.results, `${JSON.stringify(report, undefined, 1)}\n`);
  if (found.some(({ wrong }) => wrong.length > 0)) process.exitCode = 1;
}

async function endure({ line, target }: Job, folder: string, times: number, draw: Draw): Promise<Found> {
  const path = join(folder, target);
  mkdirSync(dirname(path), { recursive: true });
  const wrong: string[] = [];
  const whole = async (what: string): Promise<{ content: Buffer; milliseconds: number }> => {
    const { code, said, milliseconds } = await start(line, folder).ended;
    if (code !== 0) wrong.push(`${what}: ${said.slice(-300)}`);
    return { content: readFileSync(path), milliseconds };
  };
  const { content: after, milliseconds } = await whole("undisturbed");
  let [whileWriting, finished] = [0, 0];
  for (let j = 0; j < times; j++) {
    writeFileSync(path, OLD);
    // Every other kill waits until the writing begins.
    const kill = await killed(line, dirname(path), folder, j % 2 === 0 ? undefined : draw.share() * 1.1 * milliseconds);
    if (kill === "while writing") whileWriting++;
    const now = readFileSync(path);
    if (isLike(now, after)) finished++;
    else if (!now.equals(OLD)) wrong.push(`kill ${j}: neither the old file nor the new one`);
  }
  await whole("after the kills");
  for (const left of leftIn(dirname(path), target)) wrong.push(`left behind: ${left}`);
  for (let j = 0; j < times; j++) {
    writeFileSync(path, OLD);
    const limit = Math.floor((j * Math.floor((after.length - 1) / BLOCK)) / Math.max(1, times - 1));
    const { code, said } = await start(line, folder, limit).ended;
    if (code !== 1) wrong.push(`full disk ${j}: exit code ${code}`);
    // A command of several files may fail at another one; the old file stays in any case.
    if (!readFileSync(path).equals(OLD)) wrong.push(`full disk ${j}: the old file is gone`);
    if (!/would be larger|no space left/.test(said)) wrong.push(`full disk ${j}: ${said.slice(-200)}`);
    for (const left of leftIn(dirname(path), target)) wrong.push(`full disk ${j} left ${left}`);
  }
  rmSync(path, { force: true });
  return { line, bytes: after.length, kills: times, whileWriting, fullDisks: times, finished, wrong };
}

/** Kills a run after a time, or as soon as it begins to write. */
async function killed(
  line: string,
  folder: string,
  cwd: string,
  after: number | undefined,
): Promise<"while writing" | "at a time" | "too late"> {
  let how: "while writing" | "at a time" | "too late" = "too late";
  const watcher = after === undefined ? watch(folder) : undefined;
  const { child, ended } = start(line, cwd);
  watcher?.on("change", (_, name) => {
    if (!String(name).startsWith(".ranksim-") || how !== "too late") return;
    how = "while writing";
    child.kill("SIGKILL");
  });
  const timer =
    after === undefined
      ? undefined
      : setTimeout(() => {
          how = "at a time";
          child.kill("SIGKILL");
        }, after);
  await ended;
  clearTimeout(timer);
  watcher?.close();
  return how;
}

/** Pages say when they were made, so that two of them differ in a few letters; one that was cut short lacks its end. */
function isLike(found: Buffer, after: Buffer): boolean {
  if (found.equals(after)) return true;
  const end = 16;
  const isNear = Math.abs(found.length - after.length) < 200;
  return isNear && found.length > OLD.length + 200 && found.subarray(-end).equals(after.subarray(-end));
}

/** Temporary files, and folders that should not be there. */
function leftIn(folder: string, target: string): string[] {
  return readdirSync(folder).filter(
    (name) =>
      name.startsWith(".ranksim-") &&
      name !== target &&
      existsSync(join(folder, name)) &&
      statSync(join(folder, name)).isFile(),
  );
}
