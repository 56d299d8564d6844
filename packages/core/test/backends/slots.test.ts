/** Slots of lessons lie within a context and apart from each other: one outside would read what another kernel left there. */

import { expect, it } from "vitest";
import { CONTEXT_BYTES } from "../../src/backends/wasm/engine/slots.ts";
import * as lessons from "../../src/backends/wasm/shared/refine-context.ts";

it("slots of lessons lie within a context, apart from each other", () => {
  const slots = Object.values(lessons);
  expect(slots.length).toBeGreaterThan(10);
  expect(new Set(slots).size).toBe(slots.length);
  for (const slot of slots) {
    expect(slot % 8).toBe(0);
    expect(slot + 8).toBeLessThanOrEqual(CONTEXT_BYTES);
  }
});
