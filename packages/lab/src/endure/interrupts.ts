/**
 * `npm run interrupts`: how long commands take to end after one Ctrl-C or SIGTERM, phase by phase: reading, waiting, training, refining,
 * tuning, judging, writing.
 */

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv, stderr, stdout } from "node:process";
import { parseArgs } from "node:util";
import { Draw } from "../differential/draw.ts";
import { start } from "./jobs.ts";
import { PHASES, prepare } from "./phases.ts";

const HELP = `Measures how soon commands end when they are interrupted.

  npm run interrupts

  --times N       interrupts of each phase, half of them SIGTERM (10)
  --megabytes N   size of the file that is read (500)
  --seed N        (1)
  --results FILE  where to write what was found as JSON
  --help          this text

Ends with 1 where a command left a file, or ended by another code than 130 or 143. Times are those of the clock: measure on a quiet machine.
`;

const { values } = parseArgs({
  args: argv.slice(2),
  options: {
    times: { type: "string", default: "10" },
    megabytes: { type: "string", default: "500" },
    seed: { type: "string", default: "1" },
    results: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

const CODES = { SIGINT: 130, SIGTERM: 143 } as const;

if (values.help) stdout.write(HELP);
else await main();

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "ranksim-interrupts-"));
  const draw = new Draw(Number(values.seed), 0);
  const phases: object[] = [];
  let isWrong = false;
  try {
    await prepare(folder, Number(values.megabytes));
    const before = readdirSync(folder).join();
    for (const { phase, line } of PHASES) {
      const wall: number[] = [];
      const work: number[] = [];
      for (let j = 0; j < Number(values.times); j++) {
        const signal = j % 2 === 0 ? "SIGINT" : "SIGTERM";
        const { child, ended } = start(line, folder);
        // By its own work, not by the clock: a busy machine starts it late.
        const moment = 0.4 + 0.6 * draw.share();
        const latest = performance.now() + 20_000;
        while ((cpuSeconds(child.pid as number) ?? 9) < moment && performance.now() < latest) {
          await new Promise((resume) => setTimeout(resume, 20));
        }
        const spent = cpuSeconds(child.pid as number);
        const began = performance.now();
        child.kill(signal);
        let last = spent;
        const watching = setInterval(() => {
          last = cpuSeconds(child.pid as number) ?? last;
        }, 5);
        const { code, said } = await ended;
        clearInterval(watching);
        wall.push((performance.now() - began) / 1000);
        if (spent !== undefined && last !== undefined) work.push(last - spent);
        if (code !== CODES[signal] || !said.includes("interrupted") || readdirSync(folder).join() !== before) {
          isWrong = true;
          stderr.write(`${phase}: ended by ${code}, ${said.slice(-200)}\n`);
        }
      }
      const most = { clock: rounded(Math.max(...wall)), processor: rounded(Math.max(...work)) };
      phases.push({ phase, line, times: wall.length, most, median: rounded(median(wall)) });
      stderr.write(`${phase}: at most ${most.clock} s, of which ${most.processor} s at work\n`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const report = { seed: Number(values.seed), megabytes: Number(values.megabytes), phases };
  stdout.write(`${JSON.stringify(report, undefined, 1)}\n`);
  if (values.results !== undefined) writeFileSync(values.results, `${JSON.stringify(report, undefined, 1)}\n`);
  if (isWrong) process.exitCode = 1;
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function median(list: readonly number[]): number {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
}

/** Seconds of the processor that a process has had, as Linux counts them (a hundred a second); undefined where it is gone. */
function cpuSeconds(id: number): number | undefined {
  try {
    const fields = readFileSync(`/proc/${id}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return undefined;
  }
}
