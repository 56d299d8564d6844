/**
 * Pooled patches against a second statement of the definition, in numpy. Its answers are kept in patches.json; where python3
 * with numpy is there they are made again and must be the same.
 */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { windowsOf } from "../../../src/kernels/patches.ts";
import type { DenseBank } from "../../../src/kernels/shapes.ts";
import { Dense } from "../../../src/matrix/dense.ts";
import { platforms } from "../../platforms.ts";

interface Golden {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly patch: number;
  readonly stride: number;
  readonly grid: number;
  readonly nBest: number;
  /** Of values that are bytes. */
  readonly limit?: number;
  readonly images: readonly number[][];
  readonly filters: readonly number[][];
  readonly pooled: readonly number[][];
}

const cases = JSON.parse(readFileSync(new URL("patches.json", import.meta.url), "utf8")) as Golden[];

function bankOf(filters: readonly number[][]): DenseBank {
  const features = filters[0].length;
  const norm = new Float64Array(filters.length).fill(features * (features + 1));
  return { form: "dense", filters: filters.length, features, weights: Uint16Array.from(filters.flat()), norm };
}

describe.each(platforms)("golden patches on $title", ({ open }) => {
  it.each(cases)(
    "$width x $height x $channels, patch $patch, stride $stride, grid $grid, nBest $nBest, limit $limit",
    async (golden) => {
      const backend = await open();
      const { images, filters } = golden;
      const x = Dense.of(Uint8Array.from(images.flat()), images.length, images[0].length);
      const held = await backend.hold(x);
      const { values } = await held.pool([{ bank: bankOf(filters), windows: windowsOf(golden, golden, golden.limit) }]);
      expect(values).toBeInstanceOf(golden.limit === undefined ? Uint16Array : Uint8Array);
      expect([...values]).toEqual(golden.pooled.flat());
      await backend.close();
    },
  );
});

const hasNumpy = spawnSync("python3", ["-c", "import numpy"]).status === 0;

it.skipIf(!hasNumpy)("patches.json is what make_patches.py prints (python3 with numpy)", () => {
  const script = fileURLToPath(new URL("make_patches.py", import.meta.url));
  const made = JSON.parse(spawnSync("python3", [script], { encoding: "utf8" }).stdout) as Golden[];
  expect(made.length).toBe(cases.length);
  for (const [j, one] of made.entries())
    expect(JSON.stringify(one) === JSON.stringify(cases[j]), `case ${j}`).toBe(true);
});
