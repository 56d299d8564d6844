/**
 * Measures rows run by run, in turns through all of them, so that a slow spell of the machine falls on all. Every run is kept at
 * once beside the results, so that a session may be stopped at any moment and the next one goes on from there.
 */

import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { stderr } from "node:process";
import { commitOf, machineLine } from "./machine.ts";
import { keyOf, type Measured, type Results, type RowName, rounded, summarize, writeWhole } from "./results.ts";

/** A row that may be measured. */
export interface Planned extends RowName {
  /** The table it belongs to. */
  readonly table: string;
  readonly runs: number;
  /** Whether it takes so long that all others go first. */
  readonly late?: boolean;
  measure(run: number): Promise<Measured>;
}

export interface TurnsOptions {
  readonly results: Results;
  /** Titles of the tables. */
  readonly titles: { readonly [table: string]: string };
  /** All rows of the tables, in their order. */
  readonly all: readonly Planned[];
  /** Those to measure. */
  readonly chosen: readonly Planned[];
  /** Nothing is begun after this many minutes. */
  readonly minutes?: number;
  /** Whether only rows of this commit count as measured. */
  readonly again?: boolean;
  /** Says more of the machine than its own facts. */
  readonly about?: string;
}

/** Measures the chosen rows that have no result yet. */
export async function measureRows(options: TurnsOptions): Promise<void> {
  const { results, titles, all, chosen, minutes = Number.POSITIVE_INFINITY, again = false, about = "" } = options;
  const commit = commitOf(); // of the code that runs, whatever is committed meanwhile
  const machine = `${machineLine()}${about}`;
  const until = performance.now() + minutes * 60_000;
  const open = new Unfinished(join(results.folder, "unfinished.txt"), commit);
  const isThere = (row: Planned) => {
    const found = results.find(row);
    return found !== undefined && found.failure === undefined && (!again || found.commit === commit);
  };
  const missing = chosen.filter((row) => !isThere(row));
  const order = [...missing.filter(({ late }) => !late), ...missing.filter(({ late }) => late)];
  const failed = new Set<Planned>();
  stderr.write(`${chosen.length} rows, ${order.length} to measure\n`);
  for (let run = 0; run < Math.max(0, ...order.map(({ runs }) => runs)); run++) {
    for (const row of order) {
      if (run >= row.runs || failed.has(row) || open.runs(row).length > run) continue;
      if (performance.now() > until) {
        stderr.write("time is up; the next run goes on from here\n");
        return;
      }
      const where = `${row.table}: ${row.name}, run ${run + 1} of ${row.runs}`;
      try {
        open.add(row, await row.measure(run));
        stderr.write(`${where}: ${JSON.stringify(open.runs(row).at(-1)?.figures, rounded)}\n`);
      } catch (error) {
        failed.add(row);
        const failure = error instanceof Error ? error.message : String(error);
        // What was measured before stays, with its commit.
        if ((results.find(row)?.runs ?? 0) === 0)
          results.put({ ...nameOf(row), commit, runs: 0, figures: {}, failure });
        stderr.write(`${where}: ${failure}\n`);
      }
      if (!failed.has(row) && run + 1 < row.runs) continue;
      if (!failed.has(row)) results.put(summarize(row, commit, open.take(row)));
      const own = all.filter(({ table }) => table === row.table);
      results.write(row.table, titles[row.table], own, machine);
    }
  }
}

const nameOf = ({ name, spec }: Planned): RowName => (spec === undefined ? { name } : { name, spec });

/** Runs of rows that are not done, of one commit. */
class Unfinished {
  readonly #path: string;
  readonly #commit: string;
  readonly #runs: Map<string, Measured[]>;

  constructor(path: string, commit: string) {
    this.#path = path;
    this.#commit = commit;
    const kept = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
    this.#runs = new Map(kept?.commit === commit ? kept.runs : []);
  }

  runs(row: RowName): readonly Measured[] {
    return this.#runs.get(keyOf(row)) ?? [];
  }

  add(row: RowName, measured: Measured): void {
    this.#runs.set(keyOf(row), [...this.runs(row), measured]);
    this.#write();
  }

  take(row: RowName): readonly Measured[] {
    const runs = this.runs(row);
    this.#runs.delete(keyOf(row));
    this.#write();
    return runs;
  }

  #write(): void {
    if (this.#runs.size === 0) rmSync(this.#path, { force: true });
    else writeWhole(this.#path, JSON.stringify({ commit: this.#commit, runs: [...this.#runs] }));
  }
}
