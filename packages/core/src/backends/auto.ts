/**
 * The back end of those who do not choose: `wasm` for small matrices, `threads` for large ones, the reference where
 * neither runs. Workers are started by the first matrix that is worth them.
 */

import { RanksimError } from "../errors.ts";
import type { Rows } from "../kernels/shapes.ts";
import type { Backend, Held } from "./backend.ts";
import { openReference } from "./reference.ts";

/** Matrices of at least this many values go to the threads: below, starting and waking workers costs what they gain. */
const LARGE = 1 << 20;

/** Opens the best back end that runs here, on at most `threads` workers. */
export async function openAuto(threads?: number): Promise<Backend> {
  const { hasSimd } = await import("./wasm/module.ts");
  if (!hasSimd()) return openReference();
  const { openWasm } = await import("./wasm/backend.ts");
  const single = await openWasm();
  const { openThreads, threadsPay } = await import("./threads/backend.ts");
  if (threads === 1 || (threads === undefined && !threadsPay())) return single;

  let pool: Promise<Backend> | undefined;
  let opened: Backend | undefined;
  const large = async (): Promise<Backend> => {
    pool ??= openThreads(threads).catch((error: unknown) => {
      // A page may forbid workers; that is no reason to fail where one thread does.
      if (error instanceof RanksimError && error.code === "no-backend") return single;
      throw error;
    });
    opened = await pool;
    return opened;
  };
  return {
    get name() {
      return opened?.name ?? single.name;
    },
    get threads() {
      return opened?.threads ?? single.threads;
    },
    hold: async (x: Rows): Promise<Held> => (isLarge(x) ? (await large()).hold(x) : single.hold(x)),
    pool: async (images, layers) => (isLarge(images) ? await large() : single).pool(images, layers),
    async close() {
      await single.close();
      await (await pool)?.close();
    },
  };
}

function isLarge(x: Rows): boolean {
  return (x.form === "dense" ? x.rows * x.features : 8 * (x.offsets[x.rows] - x.offsets[0])) >= LARGE;
}
