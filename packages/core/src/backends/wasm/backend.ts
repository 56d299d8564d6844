/** The `wasm` back end: SIMD kernels in WebAssembly on this thread. */

import { RanksimError } from "../../errors.ts";
import type { Rows } from "../../kernels/shapes.ts";
import type { Backend, BackendName, Held } from "../backend.ts";
import { holdNarrow } from "../narrow.ts";
import { BankCache } from "./bank-cache.ts";
import { CsrBankCache } from "./csr-index.ts";
import { type Engine, openEngine } from "./engine.ts";
import { HeldCsr } from "./held-csr.ts";
import { HeldDense, LIMITS, type Limits } from "./held-dense.ts";
import { hasSimd } from "./module.ts";
import { poolImages } from "./patches.ts";

/** Opens the back end. `limits` is for tests: small ones make everything go in blocks. */
export async function openWasm(limits: Limits = LIMITS): Promise<Backend> {
  if (!hasSimd()) throw new RanksimError("no-backend", "wasm: expected WebAssembly with SIMD, found an engine without");
  return backendOn(await openEngine(), "wasm", limits);
}

/** A back end on an engine, whatever its threads. */
export function backendOn(engine: Engine, name: BackendName, limits: Limits): Backend {
  const banks = new BankCache(engine);
  const csrBanks = new CsrBankCache(engine);
  return {
    name,
    threads: engine.threads,
    hold: async (x: Rows): Promise<Held> =>
      x.form === "dense"
        ? HeldDense.hold(engine, banks, x, limits)
        : holdNarrow(x, (rows) => HeldCsr.hold(engine, csrBanks, rows, limits)),
    pool: (images, layers) => poolImages(engine, images, layers),
    async close() {
      banks.release();
      csrBanks.release();
      await engine.close();
    },
  };
}
