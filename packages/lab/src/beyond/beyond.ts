/** `npm run beyond`: measures what goes beyond the paper, seed by seed, and writes the page. Prints progress. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv, stderr, stdout } from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openBackend } from "@ranksim/core";
import { experiments } from "./experiments/all.ts";
import { makePage, makePictures, readResults, writeResults, writeWhole } from "./results.ts";
import { Shelf } from "./shelf.ts";

const LAB = fileURLToPath(new URL("../../", import.meta.url));
/** A folder of data beside the checkout is used where RANKSIM_DATA is not set. */
const BESIDE = join(LAB, "../../../shared/data");

const HELP = `Measures what ranksim does beyond the paper and writes packages/lab/BEYOND.md. What has a result is not measured again.

  npm run beyond                   everything
  npm run beyond -- partial-fit    some of it (${experiments.map(({ name }) => name).join(", ")})

  --seeds N      seeds 0 to N - 1 (5)
  --quick        small parts of the data; the committed results stay as they are
  --page         only write the page again
  --data FOLDER  where the data sets are, besides the places that \`ranksim data\` names (RANKSIM_DATA does the same)
  --help         this text

To measure a seed again, delete its line in packages/lab/results/beyond.
`;

const { values, positionals } = parseArgs({
  args: argv.slice(2),
  allowPositionals: true,
  options: {
    seeds: { type: "string", default: "5" },
    quick: { type: "boolean", default: false },
    page: { type: "boolean", default: false },
    data: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) stdout.write(HELP);
else await measure();

async function measure(): Promise<void> {
  const unknown = positionals.find((name) => !experiments.some((experiment) => experiment.name === name));
  if (unknown !== undefined) throw new Error(`no experiment ${unknown}\n\n${HELP}`);
  const seeds = Number(values.seeds);
  if (!(Number.isSafeInteger(seeds) && seeds > 0))
    throw new Error(`--seeds: expected a whole number from 1, found ${values.seeds}`);
  const scratch = mkdtempSync(join(tmpdir(), "ranksim-beyond-"));
  try {
    const folder = values.quick ? scratch : join(LAB, "results/beyond");
    if (!values.page) await measureMissing(folder, seeds);
    const page = makePage(experiments, folder);
    if (!values.quick) {
      writeWhole(join(LAB, "BEYOND.md"), page);
      for (const { name, svg } of makePictures(experiments, folder)) writeWhole(join(LAB, "results", name), svg);
    }
    stdout.write(page);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** All on one thread: seconds are those of one core. */
async function measureMissing(folder: string, seeds: number): Promise<void> {
  const shelf = new Shelf(values.data ?? process.env.RANKSIM_DATA ?? (existsSync(BESIDE) ? BESIDE : undefined));
  const backend = await openBackend("wasm");
  const commit = commitOf(); // of the code that runs, whatever is committed meanwhile
  for (const experiment of experiments) {
    if (positionals.length > 0 && !positionals.includes(experiment.name)) continue;
    const runs = readResults(folder, experiment);
    for (let seed = 0; seed < seeds; seed++) {
      if (runs.some((run) => run.seed === seed)) continue;
      const figures = await experiment.measure(seed, { shelf, backend, quick: values.quick });
      runs.push({ seed, date: new Date().toISOString(), commit, figures });
      writeResults(folder, experiment, runs);
      stderr.write(`${experiment.name}, seed ${seed}: ${JSON.stringify(figures)}\n`);
    }
  }
  await backend.close();
}

function commitOf(): string {
  const options = { cwd: LAB, stdio: ["ignore", "pipe", "ignore"] as ("ignore" | "pipe")[] };
  return execFileSync("git", ["rev-parse", "--short", "HEAD"], options).toString().trim();
}
