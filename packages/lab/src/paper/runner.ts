/** Measures points that have no result yet, one process at a time, cheap ones first, and keeps each result at once. */

import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { machineBusySeconds, pythonScript, run } from "../bench/launch.ts";
import type { Python } from "../bench/python.ts";
import type { DataShelf, LaidData } from "./data.ts";
import type { Experiment } from "./experiment.ts";
import type { Job } from "./job.ts";
import { chooseRows } from "./rows.ts";
import type { Measured, Point, PointResult, Spec } from "./spec.ts";
import type { Store } from "./store.ts";

/** Most processor time of one process, and most time on the clock, which a busy machine stretches. */
const LIMIT_SECONDS = 3000;
const CLOCK_LIMIT_SECONDS = 4 * LIMIT_SECONDS;

/** Where and with what points are measured. */
interface Workshop {
  readonly scratch: string;
  readonly shelf: DataShelf;
  readonly store: Store;
  readonly program: string;
  /** Looked for when the first point needs it. */
  readonly python: () => Promise<Python>;
  readonly tell: (message: string) => void;
  /** Called after every point, to keep what became known of data and machine. */
  readonly keepFacts: () => Promise<void>;
  /** Only points whose names contain one of these; all where empty. */
  readonly only: readonly string[];
  /** No point is begun after this time (of `performance.now`). */
  readonly until: number;
}

/** A point of an experiment that is to be measured. */
interface Planned {
  readonly experiment: Experiment;
  readonly point: Point;
}

/** Measures what is missing of the experiments, in their order, points marked late after all others. */
export async function measureMissing(
  workshop: Workshop,
  experiments: readonly Experiment[],
  quick: boolean,
): Promise<void> {
  const { store, tell } = workshop;
  const planned = experiments.flatMap((experiment) => experiment.points(quick).map((point) => ({ experiment, point })));
  const wanted = ({ name }: Point) => workshop.only.length === 0 || workshop.only.some((text) => name.includes(text));
  const missing = planned.filter(({ point }) => wanted(point) && store.find(point)?.measured === undefined);
  const order = [...missing.filter(({ point }) => !point.late), ...missing.filter(({ point }) => point.late)];
  tell(`${planned.length} points, ${order.length} to measure`);
  const stopped = await measureInOrder(workshop, order, quick);
  if (stopped > 0) tell(`time is up: ${stopped} points are left for another run`);
  for (const experiment of experiments) store.write(experiment, experiment.points(quick));
}

/** How many points were left when time was up. */
async function measureInOrder(workshop: Workshop, order: readonly Planned[], quick: boolean): Promise<number> {
  const { store, tell } = workshop;
  for (const [at, { experiment, point }] of order.entries()) {
    if (store.find(point)?.measured !== undefined) continue;
    if (performance.now() > workshop.until) return order.length - at;
    const result = await measurePoint(workshop, point);
    store.put(result);
    store.write(experiment, experiment.points(quick));
    await workshop.keepFacts();
    tell(`[${at + 1}/${order.length}] ${experiment.panels[0]}, ${point.name}: ${outcomeOf(result)}`);
  }
  return 0;
}

async function measurePoint(workshop: Workshop, { name, spec }: Point): Promise<PointResult> {
  const facts = { name, spec, date: new Date().toISOString(), commit: commitOf() };
  const laid = await workshop.shelf.open(spec.data);
  if (typeof laid === "string") return { ...facts, failure: laid };
  const job = jobOf(workshop.scratch, laid, spec);
  const isPython = spec.task === "sklearn";
  const python = isPython ? await workshop.python() : undefined;
  if (isPython && !python?.facts?.versions.sklearn) return { ...facts, failure: "python3 has no scikit-learn" };
  rmSync(job.out, { force: true });
  const script = isPython ? pythonScript("paper_peers.py") : fileURLToPath(new URL("./child.js", import.meta.url));
  const [before, began] = [machineBusySeconds(), performance.now()];
  const ended = await run(
    isPython ? workshop.program : execPath,
    [script, JSON.stringify(job)],
    { ...process.env, ...python?.env },
    CLOCK_LIMIT_SECONDS,
  );
  if (!ended.ok) return { ...facts, failure: ended.why };
  const measured = JSON.parse(readFileSync(job.out, "utf8")) as Measured | { readonly failure: string };
  if ("failure" in measured) return { ...facts, failure: measured.failure };
  const busy = machineBusySeconds() - before - measured.cpu;
  return { ...facts, measured, others: Math.max(0, busy / ((performance.now() - began) / 1000)) };
}

function jobOf(scratch: string, laid: LaidData, spec: Spec): Job {
  const { train, test } = chooseRows(laid, spec.rows);
  const paths = { train: join(scratch, "train.rows"), test: join(scratch, "test.rows") };
  writeFileSync(paths.train, train);
  writeFileSync(paths.test, test);
  const places = { ...paths, folder: laid.folder, multilabel: laid.y === undefined, out: join(scratch, "result.json") };
  return { ...places, spec, limitSeconds: LIMIT_SECONDS };
}

function outcomeOf({ measured, failure }: PointResult): string {
  if (!measured) return failure ?? "no result";
  const parts: string[] = [];
  if (measured.macroF1 !== undefined) parts.push(`macro F1 ${measured.macroF1.toFixed(4)}`);
  if (measured.seconds) {
    const { train, apply } = measured.seconds;
    parts.push(`train ${train.toFixed(2)} s, apply ${apply.toFixed(2)} s`);
  } else parts.push(`${measured.cpu.toFixed(1)} s`);
  return parts.join(", ");
}

function commitOf(): string {
  try {
    const folder = fileURLToPath(new URL(".", import.meta.url));
    const options = { cwd: folder, stdio: ["ignore", "pipe", "ignore"] as ("ignore" | "pipe")[] };
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], options).toString().trim();
  } catch {
    return "unknown";
  }
}
