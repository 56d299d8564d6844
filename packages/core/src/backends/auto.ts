/**
 * The back end of those who do not choose: it asks each back end that runs here what the work would take, and gives rows to
 * the one that would be done first. Workers are started by the first rows that are worth them.
 */

import { RanksimError } from "../errors.ts";
import type { RowSource } from "../kernels/shapes.ts";
import type { Backend, Plan, WorkShape } from "./contract.ts";
import { openReference } from "./reference.ts";

/** Filters that rows are taken to meet where nothing is known: as many as there are by default for a few thousand rows. */
const USUAL_FILTERS = 1000;
/** Seconds that starting the workers takes. Measured. */
const START = 0.05;

/** Opens the best back ends that run here, with at most `threads` workers. */
export async function openAuto(threads?: number): Promise<Backend> {
  const { hasSimd } = await import("./wasm/module.ts");
  if (!hasSimd()) return openReference();
  const { openWasm, secondsOf } = await import("./wasm/backend.ts");
  const single = await openWasm();
  const { availableThreads } = await import("./threads/worker.ts");
  const { openThreads, threadsRefusal } = await import("./threads/backend.ts");
  const most = threads ?? availableThreads();
  if (most === 1 || threadsRefusal()) return single;

  let pool: Promise<Backend> | undefined;
  let opened: Backend | undefined;
  const many = async (): Promise<Backend> => {
    pool ??= openThreads(threads).catch((error: unknown) => {
      // A page may forbid workers; that is no reason to fail where one thread does.
      if (error instanceof RanksimError && error.code === "no-backend") return single;
      throw error;
    });
    opened = await pool;
    return opened;
  };
  const best = (work: WorkShape): Promise<Backend> | Backend => {
    const alone = single.estimate(work);
    const together = (opened ? 0 : START) + secondsOf(work, most);
    return "seconds" in alone && alone.seconds <= together ? single : many();
  };
  return {
    get name() {
      return opened?.name ?? single.name;
    },
    get threads() {
      return opened?.threads ?? single.threads;
    },
    estimate: (work) => (opened ?? single).estimate(work),
    hold: async (rows, plan) => (await best(shapeOf(rows, plan))).hold(rows, plan),
    async close() {
      await single.close();
      await (await pool)?.close();
    },
  };
}

function shapeOf(rows: RowSource, { filters = USUAL_FILTERS, searches = 1 }: Plan = {}): WorkShape {
  const { entries: values, valueBytes, features } = rows;
  return { rows: rows.rows, features, values, bytes: values * valueBytes, filters, searches };
}
