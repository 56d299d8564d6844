/**
 * `npm run gpu`: what a GPU is worth. Each piece of work is done on the GPU and on the processor of the same machine, warm, and the
 * model files or answers are compared byte for byte. Writes JSON, and the table of the lab's README.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { argv, stderr, stdout } from "node:process";
import { parseArgs } from "node:util";
import { openBackend } from "@ranksim/core";
import { measureCrossover, regret } from "./crossover.ts";
import { loadRows } from "./rows.ts";
import { type GpuResults, tableOf, withTable } from "./table.ts";
import { measureUpdates } from "./updates.ts";
import { WORKS } from "./works.ts";

const HELP = `Times the GPU back end against the processor and compares what they give.

  npm run gpu -- --data kmnist --results packages/lab/results/gpu.json

  --data NAME     a data set of images (kmnist); "drawn" for images from a seed
  --only LIST     ${WORKS.map(({ name }) => name).join(",")}
  --times N       timed runs on the GPU, after one that is not (5)
  --alone         leaves the processor out: times, and no comparison
  --results FILE  where to write what was found as JSON
  --crossover FILE  measures instead from which size on a GPU pays, and writes that as JSON
  --updates       times updates of refinement on the processor, and on the GPU the responses that they need
  --readme FILE   puts the table of --results into this file and measures nothing
  --help          this text

Ends with 1 where GPU and processor differ.
`;

/** Bytes that are given back to the system in a millisecond, at least. */
const FREED = 15e6;
/** Work that took longer than this many milliseconds on the processor is not done there twice. */
const MOST_AGAIN = 10_000;

const { values } = parseArgs({
  args: argv.slice(2),
  options: {
    data: { type: "string", default: "kmnist" },
    only: { type: "string" },
    times: { type: "string", default: "5" },
    alone: { type: "boolean", default: false },
    results: { type: "string" },
    crossover: { type: "string" },
    updates: { type: "boolean", default: false },
    readme: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) stdout.write(HELP);
else if (values.readme && values.results) {
  const results = JSON.parse(readFileSync(values.results, "utf8")) as GpuResults;
  writeFileSync(values.readme, withTable(readFileSync(values.readme, "utf8"), tableOf(results)));
} else if (values.crossover) {
  const crossings = await measureCrossover((line) => stderr.write(`${line}\n`));
  const { mean, worst } = regret(crossings);
  writeFileSync(values.crossover, `${JSON.stringify(crossings, undefined, 1)}\n`);
  stdout.write(`chosen by estimates: ${mean.toFixed(2)} × the time of the fastest, at worst ${worst.toFixed(2)} ×\n`);
} else if (values.updates) {
  for (const line of await measureUpdates(await loadRows(values.data))) stdout.write(`${line}\n`);
} else await main();

async function main(): Promise<void> {
  const rows = await loadRows(values.data);
  const wanted = WORKS.filter(({ name }) => !values.only || values.only.split(",").includes(name));
  const gpu = await openBackend("gpu");
  const described = (await gpu.describe?.()) as GpuResults["gpu"];
  stderr.write(`${described.adapter}: ${described.variant}\n`);
  const works: Timed[] = [];
  for (const { prepare, ...facts } of wanted) {
    const work = await prepare(rows);
    const first = await timed(() => work(gpu));
    const runs: number[] = [];
    for (let j = 0; j < Number(values.times); j++) {
      await clearAway();
      runs.push((await timed(() => work(gpu))).milliseconds);
    }
    const median = runs.sort((a, b) => a - b)[runs.length >> 1];
    works.push({
      work,
      given: first.given(),
      ...facts,
      first: first.milliseconds,
      milliseconds: median,
      least: runs[0],
      most: runs[runs.length - 1],
    });
    stderr.write(
      `${facts.name}: ${median.toFixed(2)} ms, at least ${runs[0].toFixed(2)}, the first ${first.milliseconds.toFixed(2)}\n`,
    );
  }
  await gpu.close();
  // The processor comes when the GPU is done: threads that wait for work would take time from it.
  const host = values.alone ? undefined : await openBackend("threads");
  const told: GpuResults["works"][number][] = [];
  for (const { work, given, ...facts } of works) {
    if (!host) {
      told.push(facts);
      continue;
    }
    const first = await timed(() => work(host));
    const again = first.milliseconds < MOST_AGAIN ? await timed(() => work(host)) : first;
    told.push({ ...facts, processor: again.milliseconds, same: first.given() === given });
    stderr.write(`${facts.name}: ${again.milliseconds.toFixed(2)} ms on the processor\n`);
  }
  const processor = { cpu: cpus()[0]?.model.trim() ?? "unknown", threads: host?.threads ?? 0 };
  const results = { gpu: described, processor, data: rows.title, works: told };
  if (values.results) writeFileSync(values.results, `${JSON.stringify(results, undefined, 1)}\n`);
  stdout.write(`${tableOf(results)}\n`);
  await host?.close();
  if (told.some(({ same }) => same === false)) process.exitCode = 1;
}

/** What was timed on the GPU, and how to do it again. */
type Timed = GpuResults["works"][number] & {
  readonly work: Awaited<ReturnType<(typeof WORKS)[number]["prepare"]>>;
  readonly given: string;
};

/** Frees what the run before left, which is no part of the next: other threads give memory back to the system, and take some time for that. */
async function clearAway(): Promise<void> {
  const before = process.memoryUsage().arrayBuffers;
  globalThis.gc?.();
  const freed = before - process.memoryUsage().arrayBuffers;
  // No longer than needed: the clock of a device without work falls.
  await new Promise((resume) => setTimeout(resume, freed / FREED));
}

async function timed<T>(work: () => Promise<T>): Promise<{ given: T; milliseconds: number }> {
  const began = performance.now();
  const given = await work();
  return { given, milliseconds: performance.now() - began };
}
