import { Dense, type HeldBank, type HeldRows, openBackend } from "@ranksim/core";
import { describe, expect, it } from "vitest";
import type { HostBank } from "../../src/backends/host/bank.ts";
import { Spares, trimmed } from "../../src/backends/host/spares.ts";
import { singletons } from "../../src/bank/groups.ts";

describe("spare weights", () => {
  it("are given out again to one at a time, of the same type and large enough", () => {
    const spares = new Spares();
    const first = new Uint16Array([1, 2, 3, 4]);
    spares.give(first);
    expect(spares.take(new Float64Array(0), 2).buffer).not.toBe(first.buffer);
    expect(spares.take(new Uint16Array(0), 5).buffer).not.toBe(first.buffer);
    const again = spares.take(new Uint16Array(0), 3);
    expect(again.buffer).toBe(first.buffer);
    expect(again.length).toBe(3);
    expect(spares.take(new Uint16Array(0), 3).buffer).not.toBe(first.buffer);
  });

  it("come back whole after a part of them was used", () => {
    const spares = new Spares();
    spares.give(new Uint32Array(8));
    spares.give(spares.take(new Uint32Array(0), 2));
    expect(spares.take(new Uint32Array(0), 8).length).toBe(8);
  });

  it("of at most three banks are kept", () => {
    const spares = new Spares();
    const given = [1, 2, 3, 4].map((size) => new Uint16Array(size));
    for (const weights of given) spares.give(weights);
    const kept = given.map(() => spares.take(new Uint16Array(0), 1).buffer);
    expect(kept.filter((buffer) => given.some((weights) => weights.buffer === buffer))).toHaveLength(3);
    expect(kept).not.toContain(given[0].buffer);
  });

  it("leave no larger buffer behind a bank that is read", () => {
    const part = new Uint16Array([5, 6, 7, 8]).subarray(0, 2);
    expect(Array.from(trimmed(part))).toEqual([5, 6]);
    expect(trimmed(part).buffer.byteLength).toBe(4);
    const whole = new Uint16Array([5, 6]);
    expect(trimmed(whole)).toBe(whole);
  });
});

describe("weights of banks", () => {
  const x = Dense.of(
    Uint8Array.from({ length: 60 }, (_, at) => (at * 37) % 251),
    6,
    10,
  );
  const all = Uint32Array.of(0, 1, 2);
  const rank = (held: HeldRows, first: number): Promise<HeldBank> =>
    held.rank(singletons(Uint32Array.of(first, first + 1, first + 2)));
  const memoryOf = (bank: HeldBank) => (bank as HostBank).host.weights.buffer;
  /** The memory that the next bank of this size would have. */
  const spare = (bank: HeldBank) => (bank as HostBank).context.spares.take(new Uint16Array(0), 30).buffer;

  for (const name of ["reference", "wasm"] as const) {
    it(`${name}: are spare once the last bank that has them is released`, async () => {
      const backend = await openBackend(name);
      const held = await backend.hold(x);
      const [old, fresh] = [await rank(held, 0), await rank(held, 3)];
      const memory = memoryOf(fresh);
      const next = await old.replace(all, fresh); // every filter: it has the weights of the other
      fresh.release();
      expect(spare(old)).not.toBe(memory);
      next.release();
      expect(spare(old)).toBe(memory);
      await backend.close();
    });

    it(`${name}: are never spare after they were read, nor where they were loaded`, async () => {
      const backend = await openBackend(name);
      const held = await backend.hold(x);
      const [old, fresh] = [await rank(held, 0), await rank(held, 3)];
      const next = await old.replace(all, fresh);
      const bank = await fresh.read();
      fresh.release();
      next.release();
      expect(spare(old)).not.toBe(bank.weights.buffer);
      held.load(bank).release();
      expect(spare(old)).not.toBe(bank.weights.buffer);
      await backend.close();
    });
  }
});
