/** The command line of the reproduction. */

import { parseArgs } from "node:util";

/** What is to be done. */
export interface Options {
  /** Tables and figures; all where empty. */
  readonly names: readonly string[];
  readonly quick: boolean;
  /** Only make the page and the plots again from the results at hand. */
  readonly page: boolean;
  readonly python: string;
  readonly data: string | undefined;
  readonly results: string | undefined;
  /** Only points whose names contain one of these; all where empty. */
  readonly only: readonly string[];
  /** No point is begun after this many minutes. */
  readonly minutes: number;
  readonly help: boolean;
}

export const HELP = `Reproduces the tables and figures of the paper: measures what has no result yet, draws the plots, writes the page.

  npm run paper                       everything
  npm run paper -- figure-3c table-1  some of it (figure-2 means all its panels)

  --quick           everything on a few hundred rows, in minutes; the committed results stay as they are
  --page            only draw and write again, from the results at hand
  --only TEXT       measure only points whose names contain this ("KNN"); may be repeated
  --minutes N       begin nothing more after N minutes; the next run goes on from there
  --data FOLDER     where the data sets are, besides the places that \`ranksim data\` names (RANKSIM_DATA does the same)
  --python PROGRAM  python3 with scikit-learn (/usr/bin/python3)
  --results FOLDER  where results and plots go (packages/lab/results/paper; quick: a temporary folder)
  --help            this text

To measure a point again, delete it from its file in the results folder.
`;

/** Reads the command line; refuses what it does not know. */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: "boolean", default: false },
      page: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      minutes: { type: "string" },
      data: { type: "string" },
      python: { type: "string", default: "/usr/bin/python3" },
      results: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const minutes = Number(values.minutes ?? Number.POSITIVE_INFINITY);
  if (!(minutes > 0)) throw new Error(`--minutes: expected a number above 0, found ${values.minutes}`);
  const { quick, page, only, data, python, results, help } = values;
  return { names: positionals, quick, page, only, minutes, data, python, results, help };
}
