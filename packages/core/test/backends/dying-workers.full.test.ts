/** Workers that end in the midst of their work: another takes their place, and calls are done again. */

import { Dense, RankSimilarityClassifier, saveModel } from "@ranksim/core";
import { describe, expect, it, vi } from "vitest";
import { openReference } from "../../src/backends/reference.ts";
import { openThreads } from "../../src/backends/threads/backend.ts";
import { type KernelWorker, startWorker, WorkerDied } from "../../src/backends/threads/worker.ts";
import { sourceOf } from "../../src/kernels/rows.ts";
import { denseRows } from "./dense-data.ts";
import { round } from "./round.ts";

/** Workers of which every so many-th message ends the one it was sent to. */
function mortal(every: number): { start: () => KernelWorker; deaths: () => number } {
  let sent = 0;
  let deaths = 0;
  const start = (): KernelWorker => {
    const worker = startWorker();
    return {
      get isDead() {
        return worker.isDead;
      },
      send(message) {
        const answer = worker.send(message);
        if ("kernel" in message && ++sent % every === 0) {
          deaths++;
          worker.end();
        }
        return answer;
      },
      end: () => worker.end(),
    };
  };
  return { start, deaths: () => deaths };
}

const X = denseRows("u8", 200, 40, "factors", 1);

describe("threads", () => {
  it("work on after a worker has died, with the right answers", async () => {
    const expected = await round(openReference(), sourceOf(X), 10);
    const { start, deaths } = mortal(83);
    const backend = await openThreads(2, { start });
    let right = 0;
    for (let attempt = 0; attempt < 20; attempt++) {
      const found = await round(backend, sourceOf(X), 10).catch((error) => error);
      if (found instanceof Error) expect(found).toBeInstanceOf(WorkerDied);
      else {
        expect(found).toEqual(expected);
        right++;
      }
    }
    expect(deaths()).toBeGreaterThan(2);
    expect(right).toBeGreaterThan(0);
    await backend.close();
  });

  it("let a call that lost its worker be done again, without the caller's noticing", async () => {
    const x = Dense.of(X.values, X.rows, X.features);
    const y = Array.from({ length: X.rows }, (_, r) => r % 4);
    const recipe = new RankSimilarityClassifier({ filters: 20 });
    const expected = saveModel(await recipe.fit(x, y, { backend: openReference() }));
    // The second run of a kernel fails; then all is well.
    const { start, deaths } = mortal(2);
    let calls = 0;
    const backend = await openThreads(2, { start: () => (calls++ < 2 ? start() : startWorker()) });
    expect(saveModel(await recipe.fit(x, y, { backend }))).toEqual(expected);
    expect(deaths()).toBeGreaterThan(0);
    await backend.close();
  });

  it("refuse calls after they were closed, and open calls end", async () => {
    const backend = await openThreads(2);
    const held = await backend.hold(sourceOf(denseRows("f64", 4000, 100, "noise", 2)));
    const bank = await held.rank({ offsets: Uint32Array.of(0, 1, 2), rows: Uint32Array.of(0, 1) });
    const open = held.topFilters(bank, 1).catch((error) => error);
    await backend.close();
    const ended = await open;
    if (ended instanceof Error) expect(ended).toMatchObject({ code: "no-backend" });
    await expect(held.topFilters(bank, 1)).rejects.toMatchObject({ code: "no-backend" });
  });
});

it("the back end that calls share is closed when it lies idle, and opened again", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const open = await import("../../src/backends/open.ts");
  const closed: string[] = [];
  const opened: string[] = [];
  const { withBackend } = await import("../../src/models/run.ts");
  const spied = vi.spyOn(open.BACKENDS, "reference").mockImplementation(async () => {
    opened.push("reference");
    const inner = openReference();
    return { ...inner, close: async () => void closed.push("reference") };
  });
  const ask = () => withBackend({ backend: "reference" }, [], async (backend) => backend.name);
  await Promise.all([ask(), ask()]);
  expect(opened).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(9_000);
  await ask();
  await vi.advanceTimersByTimeAsync(9_000);
  expect(closed).toHaveLength(0); // each call puts the closing off
  await vi.advanceTimersByTimeAsync(2_000);
  expect(closed).toHaveLength(1);
  await ask();
  expect(opened).toHaveLength(2);
  spied.mockRestore();
  vi.useRealTimers();
});
