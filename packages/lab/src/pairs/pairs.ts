/** `npm run bench:pairs`: the speed of two commits, measured in turns on one core. Prints a table and writes every ratio. */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv, execPath, stderr, stdout } from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { machineFacts } from "../bench/machine.ts";
import { prepare } from "../bench/prepare.ts";
import { type Build, buildCommit } from "./builds.ts";
import type { PairJob, PairResult } from "./measure.ts";
import { type Pair, summarize, tableOf } from "./summary.ts";

const HELP = `Compares the speed of two commits: every row is measured by fresh processes, one after the other, in turns.

  npm run bench:pairs -- --base COMMIT --pairs 15

  --base COMMIT           what is compared with
  --head COMMIT           what is compared (HEAD)
  --pairs N               how often (15)
  --only TEXT             only rows whose names contain this; may be repeated
  --least RATIO           ends with 1 where a median ratio, base / head, is below this (0.95)
  --fashion-mnist FOLDER  (/usr/share/datasets/fashion-mnist)
  --newsgroups FILE       20news-bydate.tar.gz
  --quick                 small parts of the data
  --core N                the core to run on, where taskset is at hand (0)
  --results FILE          where to write all pairs as JSON
  --help                  this text
`;

/** The rows. */
const ROWS: readonly {
  readonly work: string;
  readonly data: string;
  readonly job: Pick<PairJob, "estimator" | "params">;
}[] = [
  { work: "classifier", data: "fashion", job: { estimator: "classifier", params: { seed: 0 } } },
  { work: "probabilistic", data: "fashion", job: { estimator: "probabilistic", params: { seed: 0 } } },
  { work: "transform", data: "fashion", job: { estimator: "transform", params: { seed: 0 } } },
  { work: "newsgroups", data: "newsgroups", job: { estimator: "classifier", params: { seed: 0 } } },
  {
    work: "refined",
    data: "fashion",
    job: { estimator: "classifier", params: { seed: 0, filters: 300, refine: true } },
  },
];

const QUICK = { fashion: { train: 1500, test: 300 }, newsgroups: { train: 400, test: 100 } };

const { values } = parseArgs({
  args: argv.slice(2),
  options: {
    base: { type: "string" },
    head: { type: "string", default: "HEAD" },
    pairs: { type: "string", default: "15" },
    only: { type: "string", multiple: true, default: [] },
    least: { type: "string", default: "0.95" },
    "fashion-mnist": { type: "string", default: "/usr/share/datasets/fashion-mnist" },
    newsgroups: { type: "string" },
    quick: { type: "boolean", default: false },
    core: { type: "string", default: "0" },
    results: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

/** Whether processes can be kept to one core. */
const onOneCore = spawnSync("taskset", ["-c", values.core, "true"], { stdio: "ignore" }).status === 0;

if (values.help) stdout.write(HELP);
else if (values.base === undefined) throw new Error(`expected --base COMMIT\n\n${HELP}`);
else await main(values.base);

async function main(baseCommit: string): Promise<void> {
  const pairs = Number(values.pairs);
  if (!(Number.isSafeInteger(pairs) && pairs > 0)) throw new Error(`--pairs: expected a count, found ${values.pairs}`);
  const scratch = mkdtempSync(join(tmpdir(), "ranksim-pairs-"));
  const builds: Build[] = [];
  try {
    for (const [name, commit] of [
      ["base", baseCommit],
      ["head", values.head],
    ] as const) {
      stderr.write(`building ${commit}\n`);
      builds.push(buildCommit(commit, scratch, name));
    }
    const [base, head] = builds;
    stderr.write("reading the data\n");
    const paths = { fashionMnist: values["fashion-mnist"], newsgroups: values.newsgroups };
    const sizes = { small: { train: 1, test: 1 }, ...(values.quick ? QUICK : {}) };
    const { folders, missing } = await prepare(scratch, paths, sizes);
    for (const { name, why } of missing) stderr.write(`missing: ${name}: ${why}\n`);
    const wanted = ({ work }: { work: string }) =>
      values.only.length === 0 || values.only.some((text) => work.includes(text));
    const rows = ROWS.filter(wanted).filter(({ data }) => folders[data] !== undefined);
    const found = rows.map((): Pair[] => []);
    for (let turn = 0; turn < pairs; turn++) {
      for (const [at, { work, data, job }] of rows.entries()) {
        const measure = (build: Build) =>
          run({ ...job, core: build.core, data: folders[data], out: join(scratch, "out") });
        // Each goes first in every other turn.
        const first = measure(turn % 2 === 0 ? base : head);
        const second = measure(turn % 2 === 0 ? head : base);
        found[at].push(turn % 2 === 0 ? { base: first, head: second } : { base: second, head: first });
        stderr.write(`${work}, pair ${turn + 1} of ${pairs}\n`);
      }
    }
    const summary = rows.flatMap(({ work }, at) => summarize(work, found[at]));
    stdout.write(`base ${base.commit}, head ${head.commit}; ratios are base / head\n${tableOf(summary)}\n`);
    if (values.results !== undefined) {
      const all = rows.map(({ work }, at) => ({ work, pairs: found[at] }));
      const report = { base: base.commit, head: head.commit, machine: machineFacts(), missing, summary, all };
      writeFileSync(values.results, `${JSON.stringify(report, undefined, 1)}\n`);
    }
    if (summary.some(({ median }) => median < Number(values.least))) process.exitCode = 1;
  } finally {
    for (const build of builds) build.remove();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Measures in a fresh process, on one core where that can be said. */
function run(job: PairJob): PairResult {
  const script = fileURLToPath(new URL("./measure.js", import.meta.url));
  const command = [execPath, script, JSON.stringify(job)];
  const [program, ...args] = onOneCore ? ["taskset", "-c", values.core, ...command] : command;
  execFileSync(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  return JSON.parse(readFileSync(job.out, "utf8")) as PairResult;
}
