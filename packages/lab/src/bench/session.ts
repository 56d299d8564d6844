/** A session: everything in the plan is measured, process by process, and becomes one set of results. */

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { readPart } from "./data-files.ts";
import { type Launcher, launch, type Outcome, run } from "./launch.ts";
import { machineFacts, Patience } from "./machine.ts";
import { missingPackage, NPM_PEERS } from "./npm-peers.ts";
import type { Options } from "./options.ts";
import { type Case, KERNELS, planCases, planGrowth } from "./plan.ts";
import { prepare, type Sizes } from "./prepare.ts";
import { findPython } from "./python.ts";
import type {
  BenchResults,
  GrowthPoint,
  KernelRate,
  Measurement,
  Missing,
  PythonFacts,
  RunResult,
  StartUp,
} from "./results.ts";

const FULL: Sizes = { small: { train: 2000, test: 1000 } };
const QUICK: Sizes = {
  fashion: { train: 1500, test: 300 },
  small: { train: 100, test: 50 },
  newsgroups: { train: 400, test: 100 },
};
const START_UPS = 10;

/** Runs the whole plan. `tell` hears what is being done. */
export async function measureAll(
  options: Options,
  scratch: string,
  tell: (message: string) => void,
): Promise<BenchResults> {
  const began = performance.now();
  tell("reading the data");
  const prepared = await prepare(scratch, options, options.quick ? QUICK : FULL);
  tell("looking for python3 and its fastest setting");
  const python = await findPython(options.python, options.pythonPackage);
  const patience = new Patience(options.patience);
  const launcher: Launcher = { scratch, python: options.python, pythonEnv: python.env };
  const model = join(scratch, "classifier.safetensors");

  const missing: Missing[] = [...prepared.missing, ...python.missing];
  const cases = planCases(options.quick)
    .filter(({ work, system }) => wanted(options, work, system))
    .filter(({ data }) => prepared.folders[data] !== undefined)
    .filter(({ system }) => {
      const lacks = lacking(system, python.facts);
      if (lacks && !missing.some(({ name }) => name === lacks.name)) missing.push(lacks);
      return lacks === undefined;
    });
  for (const { name, why } of missing) tell(`missing: ${name}: ${why}`);

  const jobOptions = { pythonPackage: options.pythonPackage, model };
  const measurements = await measureCases(cases, patience, tell, ({ job, data, limitSeconds }) =>
    launch<RunResult>(launcher, job(prepared.folders[data], jobOptions), limitSeconds),
  );

  const kernels: KernelRate[] = [];
  const startUp: StartUp[] = [];
  if (measurements.some(({ work, system, runs }) => work === "classifier" && system === "ranksim" && runs.length > 0)) {
    if (wanted(options, "kernel", "")) {
      kernels.push(...(await measureKernels(launcher, model, prepared.folders.fashion, options.quick, tell)));
    }
    if (wanted(options, "start-up", ""))
      startUp.push(...(await measureStarts(scratch, model, options.quick, patience, tell)));
  }
  const growth = wanted(options, "growth", "") ? await measureGrowth(launcher, options.quick, tell) : [];

  return {
    format: 1,
    date: new Date().toISOString(),
    commit: commitOf(),
    quick: options.quick,
    seconds: Math.round((performance.now() - began) / 1000),
    machine: machineFacts(),
    python: python.facts,
    missing,
    measurements,
    kernels,
    startUp,
    growth,
  };
}

function wanted({ only }: Options, work: string, system: string): boolean {
  return only.length === 0 || only.some((text) => work.includes(text) || system.includes(text));
}

function lacking(system: string, facts: PythonFacts | undefined): Missing | undefined {
  const peer = NPM_PEERS[system];
  if (peer) {
    const name = missingPackage(peer);
    return name === undefined ? undefined : { name: system, why: `the npm package ${name} is not installed` };
  }
  const module = system.startsWith("authors") ? "ranksim" : system.startsWith("sklearn") ? "sklearn" : undefined;
  if (module === undefined || facts?.versions[module]) return undefined;
  const name = module === "ranksim" ? "the authors' Python package" : module;
  return { name, why: "python3 cannot load it" };
}

/** Round by round through all cases; a case that fails is not tried again. */
async function measureCases(
  cases: readonly Case[],
  patience: Patience,
  tell: (message: string) => void,
  measure: (one: Case) => Promise<Outcome<RunResult>>,
): Promise<Measurement[]> {
  const runs = cases.map((): RunResult[] => []);
  const failures = new Map<Case, string>();
  const rounds = Math.max(0, ...cases.map((one) => one.runs));
  for (let round = 0; round < rounds; round++) {
    for (const [at, one] of cases.entries()) {
      if (round >= one.runs || failures.has(one)) continue;
      if (one.byTheClock) await patience.wait();
      const outcome = await measure(one);
      const name = `${one.work}, ${one.system}, run ${round + 1} of ${one.runs}`;
      if (outcome.ok) {
        runs[at].push({ ...outcome.value, others: outcome.others });
        tell(`${name}: ${phaseLine(outcome.value)}`);
      } else {
        failures.set(one, outcome.why);
        tell(`${name}: ${outcome.why}`);
      }
    }
  }
  return cases.map((one, at) => {
    const failure = failures.get(one);
    return { work: one.work, system: one.system, runs: runs[at], ...(failure === undefined ? {} : { failure }) };
  });
}

function phaseLine({ phases, scores }: RunResult): string {
  const times = Object.entries(phases).map(([name, phase]) => `${name} ${phase.cpu.toFixed(3)} s`);
  const f1 = scores.macroF1 === undefined ? [] : [`macro F1 ${scores.macroF1.toFixed(4)}`];
  return [...times, ...f1].join(", ");
}

async function measureKernels(
  launcher: Launcher,
  model: string,
  data: string,
  quick: boolean,
  tell: (message: string) => void,
): Promise<KernelRate[]> {
  const rates: KernelRate[] = [];
  for (const { kernel, rows, k } of KERNELS) {
    const job = { task: "kernel", kernel, model, data, rows, k, runs: quick ? 1 : 3 } as const;
    const outcome = await launch<KernelRate>(launcher, job, 120);
    const failed = { kernel, rows, filters: 0, features: 0, k, cpu: [], pruned: 0 };
    rates.push(outcome.ok ? outcome.value : { ...failed, failure: outcome.why });
    tell(`kernel ${kernel}, k = ${k}: ${outcome.ok ? `${outcome.value.cpu.join(", ")} s` : outcome.why}`);
  }
  return rates;
}

async function measureStarts(
  scratch: string,
  model: string,
  quick: boolean,
  patience: Patience,
  tell: (message: string) => void,
): Promise<StartUp[]> {
  const { x } = readPart(join(scratch, "fashion"), "test");
  const row = join(scratch, "row");
  writeFileSync(row, x.values.subarray(0, x.features));
  const script = fileURLToPath(new URL("./start-up.js", import.meta.url));
  const starts: StartUp[] = [];
  for (let start = 0; start < (quick ? 2 : START_UPS); start++) {
    await patience.wait();
    const ended = await run(execPath, [script, model, row], process.env, 60);
    if (ended.ok) starts.push(JSON.parse(ended.text) as StartUp);
    tell(`start-up: ${ended.ok ? ended.text.trim() : ended.why}`);
  }
  return starts;
}

async function measureGrowth(
  launcher: Launcher,
  quick: boolean,
  tell: (message: string) => void,
): Promise<GrowthPoint[]> {
  const points: GrowthPoint[] = [];
  for (const size of planGrowth(quick)) {
    const runs: RunResult[] = [];
    let failure: string | undefined;
    for (let round = 0; round < (quick ? 1 : 2) && failure === undefined; round++) {
      const outcome = await launch<RunResult>(launcher, { task: "growth", backend: "wasm", ...size }, 400);
      if (outcome.ok) runs.push({ ...outcome.value, others: outcome.others });
      else failure = outcome.why;
    }
    points.push({ ...size, runs, ...(failure === undefined ? {} : { failure }) });
    const { axis, rows, features, filters } = size;
    const said = failure ?? runs.map(phaseLine).join("; ");
    tell(`growth in ${axis}: ${rows} x ${features}, ${filters} filters: ${said}`);
  }
  return points;
}

function commitOf(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { stdio: ["ignore", "pipe", "ignore"] })
      .toString()
      .trim();
  } catch {
    return "unknown";
  }
}
