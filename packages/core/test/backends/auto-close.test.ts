/** `auto` closes all that it opened, whatever fails. */

import { expect, it, vi } from "vitest";
import { openAuto } from "../../src/backends/auto.ts";
import { openReference } from "../../src/backends/reference.ts";
import { sourceOf } from "../../src/kernels/rows.ts";
import { denseRows } from "./dense-data.ts";

vi.mock("../../src/backends/threads/backend.ts", () => ({
  threadsRefusal: () => undefined,
  openThreads: async () => ({
    ...openReference(),
    close: async () => {
      throw new Error("a worker is stuck");
    },
  }),
}));

it("the GPU too, where workers fail to close, and the failure is told", async () => {
  let isOpen = true;
  const gpu = {
    ...openReference(),
    estimate: () => ({ seconds: 1e9, bytes: 0 }),
    close: async () => {
      isOpen = false;
    },
  };
  const auto = await openAuto(2, [async () => gpu]);
  const work = { filters: 64, searches: 1e9 };
  (await auto.hold(sourceOf(denseRows("u8", 4000, 10, "noise", 1)), work)).release();
  await expect(auto.close()).rejects.toThrow("a worker is stuck");
  expect(isOpen).toBe(false);
});
