import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Csr, Dense } from "@ranksim/core";
import { afterAll, describe, expect, it } from "vitest";
import { readPart, writePart } from "../../src/runner/data-files.ts";

const folder = mkdtempSync(join(tmpdir(), "ranksim-data-files-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("data files", () => {
  it("give back dense rows of every type", () => {
    for (const type of [Uint8Array, Uint16Array, Int16Array, Float32Array, Float64Array]) {
      const part = { x: Dense.of(type.of(1, 2, 3, 4, 5, 6), 2, 3), y: Uint8Array.of(7, 8) };
      writePart(folder, "train", part);
      expect(readPart(folder, "train")).toEqual(part);
    }
  });

  it("give back sparse rows, also of a slice", () => {
    const x = Csr.fromRows([[[0, 9]], [[1, 2]], [], [[0, 3] as const, [4, 1] as const]], 5);
    writePart(folder, "test", { x: x.slice(1, 4), y: Uint8Array.of(0, 1, 2) });
    const { x: read, y } = readPart(folder, "test");
    expect(read).toEqual(Csr.fromRows([[[1, 2]], [], [[0, 3] as const, [4, 1] as const]], 5));
    expect(y).toEqual(Uint8Array.of(0, 1, 2));
  });
});
