/** `npm run accuracy`: measures presets, recipes and tables, seed by seed, and writes the pages. Prints progress. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { stdout } from "node:process";
import { openBackend } from "@ranksim/core";
import { checkNames, readArguments, wholeNumber } from "../runner/arguments.ts";
import { dataFolder, LAB } from "../runner/machine.ts";
import { ONE_THREAD, type Workshop } from "../runner/process.ts";
import { Results, writeWhole } from "../runner/results.ts";
import { measureRows, type Planned } from "../runner/turns.ts";
import { TABLES } from "./all.ts";
import { PAGES, withTables } from "./pages.ts";
import { Shelf } from "./shelf.ts";
import { type Bench, shownTable } from "./table.ts";

const HELP = `Measures how accurate ranksim is, on one thread, and writes packages/lab/BEYOND.md, TABLES.md and NEIGHBOURS.md. What has a result is
not measured again: delete its line in packages/lab/results/accuracy to do so.

  npm run accuracy                   everything
  npm run accuracy -- tables         some of it (${TABLES.map(({ name }) => name).join(", ")})

  --seeds N         seeds 0 to N - 1 (5)
  --only TEXT       only rows whose names contain this; may be repeated
  --minutes N       begin nothing more after N minutes; the next run goes on from there
  --quick           small parts of the data; the committed results stay as they are
  --page            only write the pages again
  --data FOLDER     where the data sets are, besides the places that \`ranksim data\` names (RANKSIM_DATA does the same)
  --python PROGRAM  python3 with scikit-learn (/usr/bin/python3)
  --peers FOLDER    where usearch and umap-js are installed (npm install --ignore-scripts usearch umap-js), for neighbours and maps
  --help            this text
`;

const { values, names } = readArguments(HELP, {
  seeds: { type: "string", default: "5" },
  only: { type: "string", multiple: true, default: [] },
  minutes: { type: "string", default: "Infinity" },
  quick: { type: "boolean", default: false },
  page: { type: "boolean", default: false },
  data: { type: "string" },
  python: { type: "string", default: "/usr/bin/python3" },
  peers: { type: "string" },
});
const LONGEST_PEER_SECONDS = 7200;

checkNames(
  names,
  TABLES.map(({ name }) => name),
);
const scratch = mkdtempSync(join(tmpdir(), "ranksim-accuracy-"));
try {
  const results = new Results(values.quick ? scratch : join(LAB, "results/accuracy"));
  if (!values.page) await measure(results);
  for (const one of TABLES) {
    if (names.length > 0 && !names.includes(one.name)) continue;
    stdout.write(`## ${one.title}\n\n${shownTable(one, results)}\n\n`);
  }
  if (!values.quick) writePages(results);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** All on one thread: seconds are those of one core. */
async function measure(results: Results): Promise<void> {
  const seeds = wholeNumber("seeds", values.seeds, 1);
  const backend = await openBackend("wasm");
  const workshop: Workshop = {
    scratch,
    python: values.python,
    pythonEnv: ONE_THREAD,
    limitSeconds: LONGEST_PEER_SECONDS,
  };
  const shelf = new Shelf(dataFolder(values.data));
  const { quick, peers } = values;
  const bench: Bench = { shelf, backend, workshop, quick, ...(peers === undefined ? {} : { peers: resolve(peers) }) };
  const all = TABLES.flatMap(({ name: table, rows }) =>
    rows.map(
      (row): Planned => ({
        table,
        name: row.name,
        runs: Math.min(seeds, row.runs ?? seeds),
        measure: async (seed) => ({
          figures: await row.measure(seed, bench),
          ...(row.pictures ? { pictures: await row.pictures(bench) } : {}),
        }),
      }),
    ),
  );
  const isWanted = ({ table, name }: Planned) =>
    (names.length === 0 || names.includes(table)) &&
    (values.only.length === 0 || values.only.some((text) => name.includes(text)));
  const titles = Object.fromEntries(TABLES.map(({ name, title }) => [name, title]));
  await measureRows({ results, titles, all, chosen: all.filter(isWanted), minutes: Number(values.minutes) });
  await backend.close();
}

function writePages(results: Results): void {
  for (const page of PAGES) {
    const path = join(LAB, page);
    writeWhole(path, withTables(page, readFileSync(path, "utf8"), results));
  }
  for (const one of TABLES) {
    for (const [file, svg] of Object.entries(one.pictures?.(results) ?? {})) {
      writeWhole(join(LAB, "results", file), svg);
    }
  }
}
