/** `npm run paper`: measures what is missing of the paper's tables and figures, draws them and writes the page. Prints progress. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stdout } from "node:process";
import { readArguments } from "../runner/arguments.ts";
import { DataShelf, placesOf } from "../runner/data.ts";
import { dataFolder, LAB } from "../runner/machine.ts";
import { measureApart, measureInPython, type Workshop } from "../runner/process.ts";
import { findPython } from "../runner/python.ts";
import { type Measured, Results, writeWhole } from "../runner/results.ts";
import { measureRows, type Planned } from "../runner/turns.ts";
import { idOf } from "./experiment.ts";
import { chooseExperiments, EXPERIMENTS } from "./experiments/all.ts";
import { DATA_NAMES, DATA_TABLE, dataRow, makeParts, withParts } from "./page.ts";
import type { Point } from "./spec.ts";

const HELP = `Reproduces the tables and figures of the paper: measures what has no result yet, draws the plots, writes the page.

  npm run paper                       everything
  npm run paper -- figure-3c table-1  some of it (figure-2 means all its panels)

  --quick           everything on a few hundred rows, in minutes; the committed results stay as they are
  --page            only draw and write again, from the results at hand
  --only TEXT       measure only points whose names contain this ("KNN"); may be repeated
  --minutes N       begin nothing more after N minutes; the next run goes on from there
  --data FOLDER     where the data sets are, besides the places that \`ranksim data\` names (RANKSIM_DATA does the same)
  --python PROGRAM  python3 with scikit-learn (/usr/bin/python3)
  --results FOLDER  where results and plots of a quick run go (a temporary folder)
  --help            this text

To measure a point again, delete it from its file in packages/lab/results/paper.
`;

/** Most processor time of one process, and most time on the clock, which a busy machine stretches. */
const LIMIT_SECONDS = 3000;
const CLOCK_LIMIT_SECONDS = 4 * LIMIT_SECONDS;

const { values, names } = readArguments(HELP, {
  quick: { type: "boolean", default: false },
  page: { type: "boolean", default: false },
  only: { type: "string", multiple: true, default: [] },
  minutes: { type: "string", default: "Infinity" },
  data: { type: "string" },
  python: { type: "string", default: "/usr/bin/python3" },
  results: { type: "string" },
});

const scratch = mkdtempSync(join(tmpdir(), "ranksim-paper-"));
try {
  const quickFolder = values.results ?? join(scratch, "results");
  const results = new Results(values.quick ? quickFolder : join(LAB, "results/paper"));
  if (!values.page) await measure(results);
  const { parts, plots } = makeParts(results, values.quick, "results/paper");
  for (const { name, svg } of plots) writeWhole(join(results.folder, name), svg);
  const page = join(LAB, "PAPER.md");
  if (!values.quick) writeWhole(page, withParts(readFileSync(page, "utf8"), parts));
  stdout.write(`${parts.claims}\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function measure(results: Results): Promise<void> {
  const shelf = new DataShelf(scratch, dataFolder(values.data));
  const python = await findPython(values.python, undefined);
  const workshop: Workshop = {
    scratch,
    python: values.python,
    pythonEnv: python.env,
    limitSeconds: CLOCK_LIMIT_SECONDS,
  };
  const measurePoint = async ({ spec }: Point): Promise<Measured> => {
    const places = await placesOf(shelf, scratch, spec.data, spec.rows);
    if (spec.task !== "sklearn") return measureApart(workshop, "paper/task", { ...places, spec });
    const lacking = python.lacks("sklearn");
    if (lacking !== undefined) throw new Error(lacking);
    return measureInPython(workshop, "peers.py", { ...places, spec, limitSeconds: LIMIT_SECONDS });
  };
  const data = DATA_NAMES.map(
    (name): Planned => ({
      ...dataRow(name),
      table: DATA_TABLE,
      runs: 1,
      measure: async () => {
        const { set, title, substitute, ...figures } = (await shelf.open(name)).source;
        return { figures, facts: { set, title, ...(substitute === undefined ? {} : { substitute }) } };
      },
    }),
  );
  const plan = (experiments: readonly (typeof EXPERIMENTS)[number][]) =>
    experiments.flatMap((experiment) =>
      experiment.points(values.quick).map(
        (point): Planned => ({
          ...point,
          table: idOf(experiment),
          runs: 1,
          measure: () => measurePoint(point),
        }),
      ),
    );
  const isWanted = ({ name }: Planned) => values.only.length === 0 || values.only.some((text) => name.includes(text));
  await measureRows({
    results,
    titles: Object.fromEntries([[DATA_TABLE, "Data sets"], ...EXPERIMENTS.map((one) => [idOf(one), one.title])]),
    all: [...data, ...plan(EXPERIMENTS)],
    chosen: [...data, ...plan(chooseExperiments(names)).filter(isWanted)],
    minutes: Number(values.minutes),
    about: python.about,
  });
}
