/** What the work behind a report cost: training, where the model still knows, and prediction, measured. */

import { type Backend, openBackend, type Report, type Run } from "@ranksim/core";
import { type CountedWork, countingBackend } from "../model/counting-backend.ts";
import { count, percent, seconds } from "../terminal/numbers.ts";
import type { Fact } from "./content.ts";

/** A prediction as it was measured. */
export interface Measured {
  readonly backend: Backend;
  readonly rows: number;
  readonly seconds: number;
  /** Absent in a browser, which does not tell it. */
  readonly cpuSeconds?: number;
  readonly work: CountedWork;
}

/** Runs `work` on a back end that counts, and measures time and processor time of it. */
export async function measure<T>(
  rows: number,
  run: Run,
  work: (run: Run) => Promise<T>,
): Promise<{ readonly value: T; readonly measured: Measured }> {
  const backend = typeof run.backend === "object" ? run.backend : await openBackend(run.backend ?? "auto");
  const counting = countingBackend(backend);
  const isNode = typeof process !== "undefined";
  const cpuBefore = isNode ? process.cpuUsage() : undefined;
  const began = performance.now();
  const value = await work({ ...run, backend: counting.backend });
  const used = isNode ? process.cpuUsage(cpuBefore) : undefined;
  const measured = {
    backend,
    rows,
    seconds: (performance.now() - began) / 1000,
    ...(used ? { cpuSeconds: (used.user + used.system) / 1e6 } : {}),
    work: counting.work(),
  };
  return { value, measured };
}

/** The costs as facts. What a loaded model no longer knows is left out. */
export function workFacts(report: Report | undefined, measured: Measured | undefined): Fact[] {
  const facts: Fact[] = [];
  if (report?.seconds !== undefined) facts.push(["training", `${seconds(report.seconds)} on ${report.backend}`]);
  if (report?.pruned !== undefined) facts.push(["pruned in training", share(report.pruned)]);
  if (measured) {
    const { backend, rows, work } = measured;
    const threads = backend.threads > 1 ? `, ${backend.threads} threads` : "";
    facts.push([
      "classes and probabilities",
      `${seconds(measured.seconds)} for ${count(rows)} rows (${count(rows / Math.max(measured.seconds, 1e-6))} rows a second) on ${backend.name}${threads}`,
    ]);
    if (measured.cpuSeconds !== undefined) facts.push(["processor time", seconds(measured.cpuSeconds)]);
    if (work.pairs > 0) facts.push(["pruned in prediction", share(1 - work.exact / work.pairs)]);
  }
  return facts;
}

const share = (pruned: number): string =>
  pruned > 0
    ? `${percent(pruned)} of all row and filter products were shown to be too small without computing them`
    : "nothing: every row was compared with every filter";
