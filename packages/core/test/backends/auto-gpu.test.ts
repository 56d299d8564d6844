/** When `auto` takes a GPU: never for small work, in the background once enough was asked for, at once for long work. */

import { openBackend } from "@ranksim/core";
import { expect, it } from "vitest";
import { estimateOf } from "../../../gpu/src/estimate.ts";
import { openAuto } from "../../src/backends/auto.ts";
import type { Backend } from "../../src/backends/contract.ts";
import { openReference } from "../../src/backends/reference.ts";
import { secondsOf } from "../../src/backends/wasm/backend.ts";
import { sourceOf } from "../../src/kernels/rows.ts";
import { denseRows } from "./dense-data.ts";

/** The reference, as a GPU that would do anything in no time. */
function pretended(held: number[]): Backend {
  const { hold, ...rest } = openReference();
  return {
    ...rest,
    name: "gpu",
    estimate: () => ({ seconds: 0, bytes: 0 }),
    hold: (rows, plan) => {
      held.push(rows.rows);
      return hold(rows, plan);
    },
  };
}

const small = sourceOf(denseRows("u8", 40, 10, "noise", 1));
const shape = { rows: 40, features: 10, values: 400, bytes: 400, filters: 64 };
/** So many filters and searches that the processor would take as many seconds. */
const lasting = (seconds: number) => ({ filters: 64, searches: seconds / secondsOf({ ...shape, searches: 1 }, 1) });

async function held(asked: readonly number[], source = small, open?: () => Promise<Backend>): Promise<number> {
  const found: number[] = [];
  const auto = await openAuto(1, [open ?? (async () => pretended(found))]);
  try {
    for (const seconds of asked) (await auto.hold(source, lasting(seconds))).release();
    expect(auto.name).toBe(found.length > 0 ? "gpu" : "wasm");
    return found.length;
  } finally {
    await auto.close();
  }
}

it("small work stays on the processor, however often", async () => {
  let tries = 0;
  const counted = async (): Promise<Backend> => {
    tries++;
    throw new Error("no adapter");
  };
  // Together more than the second for which a GPU would be opened.
  const often = Array.from({ length: 500 }, () => 0.002);
  expect(await held(often, small, counted)).toBe(0);
  expect(tries).toBe(0);
});

it("once enough was asked for, the GPU opens beside the work and then takes over", async () => {
  expect(await held([0.3, 0.3, 0.3])).toBe(1);
});

it("long work waits for it", async () => {
  expect(await held([100])).toBe(1);
});

/** Whether an H200 would be taken for one search of so many filters, beside so many threads of the processor. */
function takesGpu(
  form: "u8" | "f32" | "csr",
  rows: number,
  features: number,
  filters: number,
  threads: number,
): boolean {
  const values = form === "csr" ? rows * 64 : rows * features;
  const work = { rows, features, values, bytes: values * (form === "u8" ? 1 : 4), filters, searches: 1 };
  const estimate = estimateOf(work, { rate: 4.3e13, latency: 1.7e-4 });
  return "seconds" in estimate && estimate.seconds < Math.min(secondsOf(work, 1), secondsOf(work, threads));
}

it.each([
  // Faster there when it was measured, at least by half.
  ["u8", 4096, 784, 256, 16, true],
  // Slower there.
  ["u8", 64, 16, 16, 1, false],
  // Not there at all.
  ["u8", 32_768, 4104, 4096, 1, false],
  ["f32", 32_768, 784, 4096, 1, false],
  ["csr", 32_768, 4096, 4096, 1, false],
] as const)(
  "%s: %d rows of %d features and %d filters, %d threads: the GPU %s",
  (form, rows, features, filters, threads, is) => {
    expect(takesGpu(form, rows, features, filters, threads)).toBe(is);
  },
);

it("where there is none, the processor does the work and nobody hears of it", async () => {
  let tries = 0;
  const none = async (): Promise<Backend> => {
    tries++;
    throw new Error("no adapter");
  };
  expect(await held([100, 100, 100], small, none)).toBe(0);
  expect(tries).toBe(1);
});

it("a GPU that is slower than the processor is not used", async () => {
  const slow = async (): Promise<Backend> => ({ ...pretended([]), estimate: () => ({ seconds: 1000, bytes: 0 }) });
  expect(await held([100], small, slow)).toBe(0);
});

it("a back end of another package is opened by its opener, and without one refused with the cure", async () => {
  const opened = await openBackend("gpu", { openers: { gpu: async () => pretended([]) } });
  expect(opened.name).toBe("gpu");
  await expect(openBackend("gpu")).rejects.toThrow(
    /expected back end auto, threads, wasm, reference, found gpu; pass its opener/,
  );
});
