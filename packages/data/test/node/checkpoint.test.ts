/** States are written while training goes on, one after the other, and what cannot be written is told. */

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Saved } from "@ranksim/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openCheckpoint } from "../../src/node.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ranksim-checkpoint-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const state = (values: Float64Array): Saved => ({
  kind: "checkpoint",
  meta: {},
  arrays: { norm: { shape: [values.length], values } },
});

describe("a state that is kept", () => {
  it("is the one that was given, although its arrays change afterwards", async () => {
    const checkpoint = await openCheckpoint(join(folder, "kept"), { a: "b" });
    const values = Float64Array.from({ length: 100_000 }, (_, j) => j);
    for (let round = 0; round < 3; round++) {
      values[0] = round;
      await checkpoint.keep("bank", state(values));
      values.fill(-1); // the memory is the next round's
      for (let j = 0; j < values.length; j++) values[j] = j;
    }
    await checkpoint.keep("other", state(values));
    await checkpoint.settled?.();
    const again = await openCheckpoint(join(folder, "kept"), { a: "b" });
    expect((await again.recall("bank"))?.arrays.norm.values.slice(0, 3)).toEqual(Float64Array.of(2, 1, 2));
    expect((await checkpoint.recall("other"))?.arrays.norm.values[0]).toBe(0);
  });

  it("is told of where it cannot be written: by the next call, and at the end", async () => {
    const checkpoint = await openCheckpoint(join(folder, "blocked"), { a: "b" });
    mkdirSync(join(folder, "blocked", "bank.state"));
    await checkpoint.keep("bank", state(Float64Array.of(1)));
    await expect(checkpoint.settled?.()).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST|EPERM/);
    await expect(checkpoint.keep("other", state(Float64Array.of(1)))).rejects.toThrow(/bank\.state/);
  });
});
