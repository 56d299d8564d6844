/** `npm run stream`: the memory of `ranksim predict` on a CSV of gigabytes, which it is to answer block by block. */

import { execFileSync } from "node:child_process";
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv, stderr, stdout } from "node:process";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { start } from "./jobs.ts";
import { csvRows } from "./phases.ts";

const HELP = `Predicts a large CSV and watches the memory.

  npm run stream

  --gigabytes N   size of the file (2)
  --limit N       megabytes that the process may take at most (300)
  --results FILE  where to write what was found as JSON
  --help          this text

Ends with 1 where it took more, or where answers are missing.
`;

const { values } = parseArgs({
  args: argv.slice(2),
  options: {
    gigabytes: { type: "string", default: "2" },
    limit: { type: "string", default: "300" },
    results: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) stdout.write(HELP);
else await main();

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "ranksim-stream-"));
  try {
    await pipeline(Readable.from(csvRows(3e6)), createWriteStream(join(folder, "small.csv")));
    const bytes = Number(values.gigabytes) * 1e9;
    await pipeline(Readable.from(csvRows(bytes)), createWriteStream(join(folder, "large.csv")));
    const trained = await start(
      "train small.csv --label-column -1 --estimator classifier --filters 50 -m m.ranksim",
      folder,
    ).ended;
    if (trained.code !== 0) throw new Error(trained.said);
    const { child, ended } = start("predict m.ranksim large.csv --out answers.txt", folder);
    let peak = 0;
    const watching = setInterval(() => {
      peak = Math.max(peak, peakMegabytes(child.pid as number));
    }, 50);
    const { code, said, milliseconds } = await ended;
    clearInterval(watching);
    if (code !== 0) throw new Error(said);
    const rows = linesOf(join(folder, "large.csv"));
    const answers = linesOf(join(folder, "answers.txt"));
    const report = {
      bytes: statSync(join(folder, "large.csv")).size,
      rows,
      answers,
      peakMegabytes: peak,
      seconds: Math.round(milliseconds / 1000),
    };
    stdout.write(`${JSON.stringify(report, undefined, 1)}\n`);
    if (values.results !== undefined) writeFileSync(values.results, `${JSON.stringify(report, undefined, 1)}\n`);
    if (rows !== answers || peak > Number(values.limit)) process.exitCode = 1;
  } finally {
    stderr.write("\n");
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The largest resident memory so far, in megabytes, as Linux counts it. */
function peakMegabytes(id: number): number {
  try {
    return Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1] ?? 0) / 1024);
  } catch {
    return 0;
  }
}

function linesOf(path: string): number {
  return Number(execFileSync("wc", ["-l", path], { encoding: "utf8" }).trim().split(" ")[0]);
}
