/**
 * Rates of the search for the strongest filters, kernel by kernel: a naive loop of the kind one writes first, the
 * reference kernel, and the search in WebAssembly with and without bounds. All see the same rows and the same trained
 * filters; a search that is repeated finds both already in memory.
 */

import { readFileSync } from "node:fs";
import {
  type BackendName,
  type ClassifierModel,
  type Dense,
  type DenseBank,
  loadModel,
  openBackend,
} from "@ranksim/core";
import { readPart } from "./data-files.ts";
import type { KernelJob } from "./job.ts";
import { timed } from "./measure.ts";
import type { KernelRate } from "./results.ts";

/** Measures one kernel: once to warm up, then the runs that count. */
export async function measureKernel(job: KernelJob): Promise<KernelRate> {
  const { bank } = loadModel(readFileSync(job.model)) as ClassifierModel;
  const { x } = readPart(job.data, "test");
  if (bank.form !== "dense" || x.form !== "dense") throw new Error("kernels are measured on dense rows and filters");
  const rows = x.slice(0, Math.min(job.rows, x.rows));
  const search = job.kernel === "naive" ? naiveSearch(rows.values, bank) : await backendSearch(job, rows, bank);
  const cpu: number[] = [];
  await search.once();
  for (let run = 0; run < job.runs; run++) cpu.push((await timed(search.once))[1].cpu);
  const { filters, features } = bank;
  return { kernel: job.kernel, rows: rows.rows, filters, features, k: job.k, cpu, pruned: await search.close() };
}

interface Search {
  readonly once: () => unknown;
  /** Frees what was held and tells the share of pairs pruned. */
  readonly close: () => Promise<number>;
}

async function backendSearch(job: KernelJob, rows: Dense, bank: DenseBank): Promise<Search> {
  const backend = await openBackend(job.kernel === "wasm-full" ? "wasm" : (job.kernel as BackendName));
  const held = await backend.hold(rows);
  const searched = held.load(job.kernel === "wasm-full" ? withUnequalNorms(bank) : bank);
  return {
    once: () => held.topFilters(searched, job.k),
    async close() {
      const { pairs, exact } = held.work();
      searched.release();
      held.release();
      await backend.close();
      const pruned = 1 - exact / pairs;
      if (job.kernel === "wasm-full" && pruned > 0) throw new Error("expected a full search, found a pruned one");
      return pruned;
    },
  };
}

/** The same weights; bounds ask for equal norms, so these are searched in full. */
function withUnequalNorms(bank: DenseBank): DenseBank {
  return { ...bank, norm: bank.norm.map((norm, f) => (f === 0 ? 2 * norm : norm)) };
}

/** The first thing one would write; the strongest filter only. */
function naiveSearch(x: ArrayLike<number>, { weights, filters, features }: DenseBank): Search {
  const rows = x.length / features;
  const winners = new Uint32Array(rows);
  return {
    once() {
      for (let r = 0; r < rows; r++) {
        let best = Number.NEGATIVE_INFINITY;
        for (let f = 0; f < filters; f++) {
          let response = 0;
          for (let i = 0; i < features; i++) response += x[r * features + i] * weights[f * features + i];
          if (response > best) {
            best = response;
            winners[r] = f;
          }
        }
      }
    },
    close: async () => 0,
  };
}
