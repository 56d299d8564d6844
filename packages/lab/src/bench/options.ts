/** The command line of the benchmark. */

import { parseArgs } from "node:util";

/** How a session is run. */
export interface Options {
  readonly python: string;
  readonly pythonPackage: string | undefined;
  readonly fashionMnist: string;
  readonly newsgroups: string | undefined;
  readonly quick: boolean;
  /** Folder for results and plots. */
  readonly results: string | undefined;
  /** Only cases whose work or system contains one of these; all where empty. */
  readonly only: readonly string[];
  /** Only make tables and plots again from the results at hand. */
  readonly tables: boolean;
  /** Seconds of the session that may be spent waiting for a quiet machine before figures that are read off the clock. */
  readonly patience: number;
  readonly help: boolean;
}

export const HELP = `Measures ranksim against its peers and writes results, tables and plots.

  npm run bench -- [options]

  --python PROGRAM         python3 for the Python peers (/usr/bin/python3)
  --python-package FOLDER  checkout of github.com/KatharineShapcott/rank-similarity
  --fashion-mnist FOLDER   the four files of Fashion-MNIST (/usr/share/datasets/fashion-mnist)
  --newsgroups FILE        20news-bydate.tar.gz
  --quick                  everything on small parts, in about a minute; the committed results stay as they are
  --results FOLDER         where to write (packages/lab/results; quick: nowhere)
  --only TEXT              only works or systems whose names contain this; may be repeated; prints, keeps no results
  --tables                 make the tables and plots again from existing results
  --patience SECONDS       most time spent waiting for a quiet machine before figures read off the clock (120; quick: 0)
  --help                   this text

npm packages that are not dependencies (TensorFlow.js) are found through NODE_PATH.
`;

/** Reads the command line; refuses what it does not know. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      python: { type: "string", default: "/usr/bin/python3" },
      "python-package": { type: "string" },
      "fashion-mnist": { type: "string", default: "/usr/share/datasets/fashion-mnist" },
      newsgroups: { type: "string" },
      quick: { type: "boolean", default: false },
      results: { type: "string" },
      only: { type: "string", multiple: true, default: [] },
      tables: { type: "boolean", default: false },
      patience: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const patience = Number(values.patience ?? (values.quick ? 0 : 120));
  if (!(patience >= 0)) throw new Error(`--patience: expected seconds, found ${values.patience}`);
  return {
    python: values.python,
    pythonPackage: values["python-package"],
    fashionMnist: values["fashion-mnist"],
    newsgroups: values.newsgroups,
    quick: values.quick,
    results: values.results,
    only: values.only,
    tables: values.tables,
    patience,
    help: values.help,
  };
}
