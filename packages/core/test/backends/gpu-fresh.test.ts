/** Memory for large answers: zeros, and what is written to it stays, however late other threads touch it. */

import { describe, expect, it } from "vitest";
import { FreshNumbers } from "../../src/backends/gpu/fresh.ts";

describe("fresh memory", () => {
  it.each([
    [0, Uint16Array],
    [1000, Uint16Array],
    [3 * 2 ** 23 + 5, Uint16Array],
    [5 * 2 ** 23 + 5, Uint8Array],
  ])("%d numbers may be written to once they are ready", async (length, Type) => {
    const fresh = new FreshNumbers<Uint8Array | Uint16Array>(new Type(length));
    expect(fresh.values.length).toBe(length);
    const middle = Math.floor(length / 2);
    await fresh.ready(middle);
    fresh.values.fill(7, 0, middle);
    await fresh.ready(length);
    fresh.values.fill(9, middle);
    await new Promise((resume) => setTimeout(resume, 20));
    expect(fresh.values.subarray(0, middle).every((value) => value === 7)).toBe(true);
    expect(fresh.values.subarray(middle).every((value) => value === 9)).toBe(true);
  });

  it("is zero where nothing was written", async () => {
    const fresh = new FreshNumbers(new Uint16Array(3 * 2 ** 23));
    await fresh.ready(fresh.values.length);
    expect(fresh.values.every((value) => value === 0)).toBe(true);
  });
});
