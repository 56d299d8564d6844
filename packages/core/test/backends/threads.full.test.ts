/** The threads back end: any number of workers gives the same bytes; failures reject; nothing keeps a process alive. */

import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { type Backend, Dense, openBackend, RankSimilarityClassifier, saveModel } from "@ranksim/core";
import { afterEach, describe, expect, it } from "vitest";
import { startWorker } from "../../src/backends/threads/worker.ts";
import { compileKernels } from "../../src/backends/wasm/engine/module.ts";
import { drawBelow, generatorOf } from "../../src/random.ts";

const generator = generatorOf(21);
const FEATURES = 70;
const y = Array.from({ length: 900 }, (_, r) => r % 4);
const x = Dense.of(
  Uint8Array.from({ length: 900 * FEATURES }, (_, at) => {
    const row = Math.floor(at / FEATURES);
    return drawBelow(generator, 60) + ((at % FEATURES) % 4 === row % 4 ? 90 : 0);
  }),
  900,
  FEATURES,
);

let open: Backend | undefined;
afterEach(() => open?.close());

const train = async (backend: Backend) => {
  const model = await new RankSimilarityClassifier({ filters: 200 }).fit(x, y, { backend });
  const probabilities = await model.predictProbabilities(x, { backend });
  return { bytes: saveModel(model), probabilities: [...probabilities.values] };
};

describe("threads", () => {
  it.each([1, 2, 3, 4])("give the reference's bytes on %i workers", async (threads) => {
    const reference = await openBackend("reference");
    open = await openBackend("threads", { threads });
    expect(open.threads).toBe(threads);
    expect(await train(open)).toEqual(await train(reference));
  });

  it("answer calls that overlap", async () => {
    open = await openBackend("threads", { threads: 2 });
    const [first, ...others] = await Promise.all([train(open), train(open), train(open)]);
    for (const other of others) expect(other).toEqual(first);
  });

  it("refuse a wrong number of workers, and workers for another back end", async () => {
    await expect(openBackend("threads", { threads: 0 })).rejects.toThrow(/from 1 to 64, found 0/);
    await expect(openBackend("threads", { threads: 1.5 })).rejects.toMatchObject({ code: "bad-params" });
    await expect(openBackend("wasm", { threads: 2 })).rejects.toThrow(/back end "threads"/);
  });

  it("reject calls once they are closed, and may be closed twice", async () => {
    const backend = await openBackend("threads", { threads: 2 });
    const held = await backend.hold(x);
    await backend.close();
    await backend.close();
    const groups = { offsets: Uint32Array.of(0, 1), rows: Uint32Array.of(0) };
    await expect(held.rank(groups)).rejects.toThrow(/closed/);
  });
});

describe("a worker", () => {
  it("rejects what fails inside it and answers the next message all the same", async () => {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 65_535, shared: true });
    const worker = startWorker();
    await worker.send({ module: await compileKernels(true), memory });
    const run = { items: 1, piece: 1, scratch: 64, context: 128, counter: 0 };
    await expect(worker.send({ ...run, kernel: "no_such_kernel" })).rejects.toThrow(
      /a worker failed: .*not a function/,
    );
    const done = { ...run, items: 0, kernel: "bound_rows" };
    expect(await worker.send(done)).toEqual({ sum: 0, largest: 0 });
    await worker.end();
    await expect(worker.send(done)).rejects.toThrow(/closed/);
  });
});

describe("auto", () => {
  it("uses one thread for small matrices and several for large ones, with the same bytes", async () => {
    open = await openBackend("auto", { threads: 2 });
    const small = await open.hold(x);
    expect(open.name).toBe("wasm");
    small.release();
    const rows = Math.ceil(2 ** 20 / FEATURES);
    const plan = { filters: 1000, searches: 10 };
    const large = await open.hold(Dense.of(new Uint8Array(rows * FEATURES), rows, FEATURES), plan);
    expect([open.name, open.threads]).toEqual(["threads", 2]);
    large.release();
    expect(await train(open)).toEqual(await train(await openBackend("reference")));
  });

  it("stays on one thread when told so", async () => {
    open = await openBackend("auto", { threads: 1 });
    expect([open.name, open.threads]).toEqual(["wasm", 1]);
  });
});

it("a process that never closes its back end ends by itself", () => {
  // The sources are TypeScript, so the built package is what a plain process can load.
  const core = createRequire(import.meta.url).resolve("../../dist/index.js");
  const script = `
    const { openBackend, Dense, RankSimilarityTransform } = await import(${JSON.stringify(`file://${core}`)});
    const backend = await openBackend("threads", { threads: 2 });
    const x = Dense.of(new Uint8Array(4000).map((_, i) => (i * 7919) % 251), 100, 40);
    const model = await new RankSimilarityTransform({ filters: 9 }).fit(x, undefined, { backend });
    console.log(model.report.backend, model.bank.filters);`;
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", script], { timeout: 120_000 });
  expect(printed.toString()).toBe("threads 9\n");
});
