/** Processes that were started together find out whether they do the same. */

import { Dense } from "@ranksim/core";
import type { Collective } from "@ranksim/mpi";
import { expect, it } from "vitest";
import { agree, memoryFor, sampleDigest } from "../src/agreement.ts";
import type { Io } from "../src/io.ts";

/** A process among others, which give these parts. */
function among(others: readonly Uint8Array[]): Collective {
  const gather = async (own: Uint8Array) => [own, ...others];
  return { rank: 0, size: 1 + others.length, gather } as unknown as Collective;
}
const facts = (given: object) => new TextEncoder().encode(JSON.stringify(given));

it("different facts are refused, with the process and what differs", async () => {
  const own = { filters: "20", seed: "0" };
  await agree(undefined, own);
  await agree(among([facts(own), facts({ seed: "0", filters: "20" })]), own);
  await expect(agree(among([facts(own), facts({ filters: "21" })]), own)).rejects.toThrow(
    "processes 0 and 2 were given different work: filters 20 and 21; seed 0 and nothing; start all of them with one command line",
  );
});

it("the least memory of all is what each may take", async () => {
  const bytes = (count: number) => new Uint8Array(Float64Array.of(count).buffer);
  const processes = { join: async () => among([bytes(5e6), bytes(7e6)]) };
  expect(await memoryFor({ memory: 6e6 }, { processes } as unknown as Io)).toBe(5e6);
  expect(await memoryFor({ memory: 4e6 }, { processes } as unknown as Io)).toBe(4e6);
  expect(await memoryFor({ memory: 6e6 }, {} as Io)).toBe(6e6);
});

it("processes of one machine divide what it has, where nothing says how much each may take", async () => {
  const processes = { localSize: 16, join: async () => among([]) };
  const [alone, each] = [await memoryFor({}, {} as Io), await memoryFor({}, { processes } as unknown as Io)];
  // What is free changes from moment to moment.
  expect(each).toBeLessThan(alone / 4);
  expect(each).toBeGreaterThan(alone / 64);
  expect(await memoryFor({ memory: 6e6 }, { processes } as unknown as Io)).toBe(6e6);
});

it.each([1, 2, 255, 256, 257, 5000])("a sample of %i rows has the first and the last", async (rows) => {
  const values = new Uint8Array(rows * 3).fill(7);
  const digests = [undefined, 0, rows * 3 - 1].map((changed) => {
    const own = values.slice();
    if (changed !== undefined) own[changed] = 8;
    return sampleDigest(Dense.of(own, rows, 3));
  });
  expect(new Set(await Promise.all(digests)).size).toBe(3);
});
