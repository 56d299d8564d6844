/** Banks that are refined by several processes, and training that ends between two of them: the model of one process that never ended. */

import {
  type Checkpoint,
  Dense,
  openBackend,
  RankSimilarityClassifier,
  type RowSource,
  type Saved,
  saveModel,
  toCsr,
} from "@ranksim/core";
import { openShards } from "@ranksim/mpi";
import { describe, expect, it } from "vitest";
import { drawBelow, generatorOf } from "../../core/src/random.ts";
import { readRows } from "../../core/test/backends/read-rows.ts";
import { makeProcesses } from "./processes.ts";

const ROWS = 420;
const FEATURES = 30;
const BANKS = 3;
const EPOCHS = 4;

/** Rows of three classes, two of which share most of their high features: refinement helps. */
function makeRows(): Dense {
  const generator = generatorOf(3);
  const values = Uint8Array.from({ length: ROWS * FEATURES }, (_, j) => {
    const [r, i] = [Math.floor(j / FEATURES), j % FEATURES];
    const high = r % 3 === 2 ? i >= FEATURES / 2 : i < FEATURES / 2;
    const sign = r % 3 === 1 && i % 5 === 0 ? -25 : 0;
    const near = (i + Math.floor(r / 3)) % 6 === 0 ? 30 : 0;
    return 60 + (high ? 40 : 0) + sign + near + drawBelow(generator, 60);
  });
  return Dense.of(values, ROWS, FEATURES);
}

const bytes = makeRows();
const y = Array.from({ length: ROWS }, (_, r) => `class ${r % 3}`);
const estimator = new RankSimilarityClassifier({
  ...{ filters: 12 * BANKS, committee: BANKS, iterations: 1 },
  ...{ refine: true, refineEpochs: EPOCHS, seed: 2 },
});

/** What a process kept, which ends before it has kept something for the nth time. */
class Memory implements Checkpoint {
  readonly kept = new Map<string, Saved>();
  left = Number.POSITIVE_INFINITY;
  count = 0;

  recall = async (name: string): Promise<Saved | undefined> => this.kept.get(name);
  isDue = async (): Promise<boolean> => true;

  async keep(name: string, state: Saved): Promise<void> {
    if (this.left-- <= 0) throw new Error("killed");
    this.count++;
    // As a file would: its names and values have to be those of one.
    saveModel({ kind: state.kind, save: () => state });
    this.kept.set(name, structuredClone(state));
  }
}

/** Trains in so many processes, and tells the model and the epochs that each of them made; all keep the same. */
async function train(size: number, x: RowSource, checkpoints?: Memory) {
  const epochs: number[] = new Array(size).fill(0);
  const models = await Promise.all(
    makeProcesses(size).map(async (collective) => {
      const inner = await openBackend("wasm");
      const own = checkpoints && Object.assign(new Memory(), { left: checkpoints.left });
      if (own) for (const [name, state] of checkpoints.kept) own.kept.set(name, state);
      try {
        const run = {
          ...{ backend: openShards(inner, collective), ...(own ? { checkpoint: own } : {}) },
          onProgress: ({ stage }: { stage: string }) => {
            if (stage === "refine") epochs[collective.rank]++;
          },
        };
        return await estimator.fit(x, y, run);
      } finally {
        if (own && collective.rank === 0) {
          checkpoints.count = own.count;
          for (const [name, state] of own.kept) checkpoints.kept.set(name, state);
        }
        await inner.close();
      }
    }),
  );
  const files = models.map((model) => saveModel(model));
  for (const file of files) expect(file).toEqual(files[0]);
  return { file: files[0], refinement: models[0].report.refinement, epochs };
}

describe("a committee", () => {
  it.each([
    ["bytes", bytes],
    ["sparse rows", toCsr(bytes)],
  ])("of %s is refined by several processes, each of which refines some of the banks", async (_, x) => {
    const alone = await train(1, x);
    // With its banks refined twice, the second time with all rows.
    expect(alone.refinement).toMatchObject({ refined: true });
    const trials = alone.epochs[0] - EPOCHS - (2 * BANKS - 1) * (alone.refinement?.epochs as number);
    for (const size of [2, 4]) {
      const { file, epochs } = await train(size, x);
      expect(file).toEqual(alone.file);
      // All choose by the first bank; the others, and then all again, are shared out.
      const done = alone.refinement?.epochs as number;
      const shares = epochs.map((count) => (count - trials - EPOCHS) / done);
      expect(shares.reduce((a, b) => a + b)).toBe(2 * BANKS - 1);
      expect(Math.max(...shares)).toBe(Math.ceil((BANKS - 1) / size) + Math.ceil(BANKS / size));
    }
  });

  it("ends at every bank, goes on in another number of processes, and is the same file", async () => {
    const x = readRows(bytes, 16 * FEATURES * 50);
    const all = new Memory();
    const expected = await train(2, x, all);
    const refinedOf = ({ kept }: Memory) => [...kept.keys()].filter((name) => name.startsWith("refine-")).length;
    expect(refinedOf(all)).toBe(2 * BANKS);
    let before = Number.POSITIVE_INFINITY;
    for (let done = 0; done < 2 * BANKS; done++) {
      const memory = new Memory();
      memory.left = all.count - 2 * BANKS + done;
      await expect(train((done % 3) + 1, x, memory)).rejects.toThrow("killed");
      expect(refinedOf(memory)).toBe(done);
      memory.left = Number.POSITIVE_INFINITY;
      const { file, epochs } = await train(1, x, memory);
      expect(file).toEqual(expected.file);
      // Less is left to do from state to state.
      expect(epochs[0]).toBeLessThan(before);
      before = epochs[0];
    }
    expect((await train(3, x, all)).epochs).toEqual([0, 0, 0]);
  });
});

it("refuses a state of other banks", async () => {
  const all = new Memory();
  await train(1, bytes, all);
  const state = all.kept.get("refine-first") as Saved;
  const [bank] = state.steps as [Saved];
  const changed = (change: object) => all.kept.set("refine-first", { ...state, ...change });
  changed({ arrays: { ...state.arrays, numbers: { shape: [2], values: Uint32Array.of(7, 1) } } });
  await expect(train(1, bytes, all)).rejects.toThrow(/refine-first: expected the bank of this training/);
  const narrow = { shape: [12, 5], values: new Uint16Array(60) };
  changed({ steps: [{ ...bank, meta: { features: 5 }, arrays: { ...bank.arrays, filters: narrow } }] });
  await expect(train(1, bytes, all)).rejects.toThrow(/refine-first: .*expected filters of 30 features/);
  changed({ steps: [{ ...bank, arrays: { ...bank.arrays, norm: undefined } }] });
  await expect(train(1, bytes, all)).rejects.toThrow(/array norm is missing/);
  changed({ arrays: {} });
  await expect(train(1, bytes, all)).rejects.toThrow(/array numbers is missing/);
});
