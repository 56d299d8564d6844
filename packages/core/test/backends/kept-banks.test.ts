/** Back ends keep no bank alive that nobody else holds, even within one turn of the event loop, which a whole training may be. */

import { memoryUsage } from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { openWasm } from "../../src/backends/wasm/backend.ts";
import { rankSums } from "../../src/kernels/rank-sums.ts";
import { csrRows } from "./csr-data.ts";
import { denseRows } from "./dense-data.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const FILTERS = 200;
const BANKS = 60;

it.each(["dense", "sparse"] as const)("%s rows", async (form) => {
  const x = form === "dense" ? denseRows("u8", 8, 2000, "noise", 1) : csrRows(8, 20_000, 0.1, "u8", "small", 1);
  const groups = {
    offsets: Uint32Array.from({ length: FILTERS + 1 }, (_, f) => f),
    rows: Uint32Array.from({ length: FILTERS }, (_, f) => f % 8),
  };
  const backend = await openWasm();
  const held = await backend.hold(x);
  const bank = rankSums(x, groups, undefined);
  const bytes = bank.weights.byteLength;
  let before = 0;
  for (let j = 0; j < BANKS; j++) {
    await held.topFilters({ ...bank, weights: bank.weights.slice() }, 1);
    collect();
    if (j === 4) before = memoryUsage().arrayBuffers;
  }
  expect(memoryUsage().arrayBuffers - before).toBeLessThan(10 * bytes);
  held.release();
  await backend.close();
});
