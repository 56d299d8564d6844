/** `npm run bench`: measures ranksim beside its peers, in turns, and writes the tables. Prints progress. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stdout } from "node:process";
import { checkNames, readArguments, wholeNumber } from "../runner/arguments.ts";
import { DataShelf } from "../runner/data.ts";
import { dataFolder, LAB } from "../runner/machine.ts";
import { findPython } from "../runner/python.ts";
import { Results, writeWhole } from "../runner/results.ts";
import { measureRows, type Planned } from "../runner/turns.ts";
import { comparePairs, withCommit } from "./against.ts";
import { countFunctions } from "./functions.ts";
import { allTables, frontPage, isOnFrontPage, PAGES, TABLE } from "./pages.ts";
import { type BenchRow, ROWS, type Tools, WORKS } from "./rows.ts";

const HELP = `Measures ranksim beside its peers, every run in a process of its own, in turns, and writes the tables.
A row that was measured at the commit that is checked out is not measured again.

  npm run bench                          all but what needs a GPU, MPI, or much time
  npm run bench -- readme                what the front page shows
  npm run bench -- functions             how many functions and own files a prediction runs
  npm run bench -- --against COMMIT      speed beside another commit, pair by pair; keeps nothing

  --only TEXT              only this work (${Object.keys(WORKS).join(", ")}),
                           or systems whose names contain the text; may be repeated
  --pairs N                runs of each row with --against (as many as usual)
  --quick                  small parts; the committed results stay as they are
  --page                   only write the pages again
  --python PROGRAM         python3 for the Python peers (/usr/bin/python3)
  --python-package FOLDER  checkout of github.com/KatharineShapcott/rank-similarity
  --data FOLDER            where the data sets are, besides the places that \`ranksim data\` names (RANKSIM_DATA does the same)
  --results FOLDER         where results of a quick run go (a temporary folder)
  --help                   this text
`;

const LIMIT_SECONDS = 900;

const { values, names } = readArguments(HELP, {
  only: { type: "string", multiple: true, default: [] },
  against: { type: "string" },
  pairs: { type: "string" },
  quick: { type: "boolean", default: false },
  page: { type: "boolean", default: false },
  python: { type: "string", default: "/usr/bin/python3" },
  "python-package": { type: "string" },
  data: { type: "string" },
  results: { type: "string" },
});
checkNames(names, ["readme", "functions"]);

const scratch = mkdtempSync(join(tmpdir(), "ranksim-bench-"));
try {
  if (names.includes("functions")) {
    const { functions, files } = countFunctions(scratch);
    stdout.write(`ranksim predict runs ${functions} functions of ${files} own files\n`);
  } else if (values.against !== undefined) await compare(values.against);
  else await measure();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function measure(): Promise<void> {
  const results = new Results(values.quick ? (values.results ?? join(scratch, "results")) : join(LAB, "results/bench"));
  if (!values.page) await measureMissing(results);
  stdout.write(`${names.includes("readme") ? frontPage(results) : allTables(results)}\n`);
  if (values.quick) return;
  for (const [path, withTables] of Object.entries(PAGES)) {
    writeWhole(join(LAB, path), withTables(readFileSync(join(LAB, path), "utf8"), results));
  }
}

async function measureMissing(results: Results): Promise<void> {
  const tools = await openTools();
  const { python } = tools;
  const planned = new Map<Planned, BenchRow>(
    ROWS.map((row) => [
      {
        table: TABLE,
        name: row.system,
        spec: { work: row.work, system: row.system },
        runs: values.quick ? 1 : row.runs,
        measure: () => row.measure(tools),
      },
      row,
    ]),
  );
  const chosen = [...planned].filter(([, row]) => isWanted(row)).map(([one]) => one);
  const titles = { [TABLE]: "Speed and memory" };
  await measureRows({ results, titles, all: [...planned.keys()], chosen, again: true, about: python.about });
}

async function compare(commit: string): Promise<void> {
  const tools = await openTools();
  const rows = ROWS.filter((row) => row.comparable && isWanted(row)).map((row) => ({
    name: `${row.work}: ${row.system}`,
    runs: values.pairs === undefined ? row.runs : wholeNumber("pairs", values.pairs, 1),
    measure: (build?: Parameters<BenchRow["measure"]>[1]) => row.measure(tools, build),
  }));
  const text = await withCommit(commit, scratch, (build) => comparePairs(rows, build, commit));
  stdout.write(`${text}\n`);
}

async function openTools(): Promise<Tools> {
  const folder = dataFolder(values.data);
  if (folder !== undefined) process.env.RANKSIM_DATA = folder; // for the processes that load data by name
  const pythonPackage = values["python-package"];
  const python = await findPython(values.python, pythonPackage);
  const workshop = { scratch, python: values.python, pythonEnv: python.env, limitSeconds: LIMIT_SECONDS };
  return { shelf: new DataShelf(scratch, folder), workshop, python, pythonPackage, quick: values.quick };
}

function isWanted({ work, system, onDemand = false }: BenchRow): boolean {
  if (names.includes("readme")) return isOnFrontPage(work, system);
  const fits = (text: string) => (text in WORKS ? text === work : system.includes(text));
  return values.only.length === 0 ? !onDemand : values.only.some(fits);
}
