/** `npm run differential`: random cases on every back end, compared bit by bit, also between versions of Node. Prints and writes counts. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv, stderr, stdout, versions } from "node:process";
import { openBackend } from "@ranksim/core";
import { readArguments, wholeNumber } from "../runner/arguments.ts";
import { LAB } from "../runner/machine.ts";
import { writeWhole } from "../runner/results.ts";
import { drawCase } from "./case.ts";
import { type Counts, compareCase, type Difference, noCounts, type Subject } from "./compare.ts";

const HELP = `Compares all back ends on random cases, bit by bit: models, predictions, probabilities, transforms, added rows, refinement.

  npm run differential -- --cases 20000 --seed 1

  --cases N       how many (1000)
  --seed N        which (1)
  --from N        number of the first case (0)
  --case N        this one alone, and what it is
  --node PROGRAM  another Node that goes through the same cases; may be repeated
  --results FILE  where to write counts and differences (packages/lab/results/differential.json for 20,000 cases or more)
  --help          this text

Ends with 1 where any answer differs.
`;

/** Counts of fewer cases are not kept. */
const WORTH_KEEPING = 20_000;
const TELL_EVERY = 500;

/** What one Node found. */
interface Session {
  readonly node: string;
  readonly seconds: number;
  readonly counts: Counts;
  readonly differences: readonly Difference[];
  /** Of each case, in order. */
  readonly digests: readonly string[];
}

const { values } = readArguments(HELP, {
  cases: { type: "string", default: "1000" },
  seed: { type: "string", default: "1" },
  from: { type: "string", default: "0" },
  case: { type: "string" },
  node: { type: "string", multiple: true, default: [] },
  results: { type: "string" },
  session: { type: "string" }, // for another Node: where to leave what it found
});

if (values.session !== undefined) writeWhole(values.session, JSON.stringify(await compareAll()));
else await main();

async function main(): Promise<void> {
  if (values.case !== undefined) {
    const { train, test, later, y, laterY, ...rest } = drawCase(number("seed"), number("case"));
    stdout.write(
      `${JSON.stringify({ ...rest, classes: new Set(Array.from(y as string[]).flat()).size }, undefined, 1)}\n`,
    );
  }
  const sessions = [await compareAll(), ...values.node.map(compareElsewhere)];
  const [own] = sessions;
  const differences = sessions.flatMap((session) =>
    session.differences.map((found) => ({ node: session.node, ...found })),
  );
  for (const other of sessions.slice(1)) {
    for (const [j, digest] of other.digests.entries()) {
      if (digest === own.digests[j]) continue;
      const about = { question: "all answers", expected: own.digests[j], found: digest };
      differences.push({ node: other.node, case: number("from") + j, backend: "reference", ...about });
    }
  }
  const report = {
    seed: number("seed"),
    from: number("from"),
    sessions: sessions.map(({ node, seconds, counts }) => ({ node, seconds, ...counts })),
    differences,
  };
  stdout.write(`${JSON.stringify(report, undefined, 1)}\n`);
  const kept = own.counts.cases >= WORTH_KEEPING ? join(LAB, "results/differential.json") : undefined;
  const file = values.results ?? kept;
  if (file !== undefined) writeWhole(file, `${JSON.stringify(report, undefined, 1)}\n`);
  if (differences.length > 0) process.exitCode = 1;
}

/** Goes through the cases with this Node. */
async function compareAll(): Promise<Session> {
  const subjects = await openAll();
  const began = performance.now();
  const counts = noCounts();
  const differences: Difference[] = [];
  const digests: string[] = [];
  const [first, cases] = values.case === undefined ? [number("from"), number("cases")] : [number("case"), 1];
  try {
    for (let j = 0; j < cases; j++) {
      const found = await compareCase(number("seed"), first + j, subjects, counts);
      digests.push(found.digest);
      differences.push(...found.differences);
      for (const { case: which, backend, question } of found.differences) {
        stderr.write(`case ${which}: ${backend}: ${question} differs\n`);
      }
      if ((j + 1) % TELL_EVERY === 0) {
        stderr.write(
          `Node ${versions.node}: ${j + 1} cases, ${counts.compared} answers, ${differences.length} differ\n`,
        );
      }
    }
  } finally {
    for (const { backend } of subjects) await backend.close();
  }
  const seconds = Math.round((performance.now() - began) / 1000);
  return { node: versions.node, seconds, counts, differences, digests };
}

async function openAll(): Promise<Subject[]> {
  const threads = [1, 2, 3, 4].map(async (count) => ({
    name: `threads ${count}`,
    backend: await openBackend("threads", { threads: count }),
  }));
  return [
    { name: "reference", backend: await openBackend("reference") },
    { name: "wasm", backend: await openBackend("wasm") },
    ...(await Promise.all(threads)),
  ];
}

/** The same with another Node, in a process of its own. */
function compareElsewhere(program: string): Session {
  const folder = mkdtempSync(join(tmpdir(), "ranksim-differential-"));
  try {
    const file = join(folder, "session.json");
    const same = ["cases", "seed", "from", "case"] as const;
    const args = same.flatMap((name) => (values[name] === undefined ? [] : [`--${name}`, values[name]]));
    execFileSync(program, [argv[1], ...args, "--session", file], { stdio: ["ignore", "inherit", "inherit"] });
    return JSON.parse(readFileSync(file, "utf8")) as Session;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function number(name: "cases" | "seed" | "from" | "case"): number {
  return wholeNumber(name, values[name] ?? "");
}
