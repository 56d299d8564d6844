/** Slots of a context lie within it and apart from each other: one outside, or shared, would read what another kernel left there. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import * as pool from "../../src/backends/wasm/dense/pool-slots.ts";
import * as dense from "../../src/backends/wasm/dense/slots.ts";
import { CONTEXT_BYTES } from "../../src/backends/wasm/engine/slots.ts";
import * as refining from "../../src/backends/wasm/shared/refine-slots.ts";
import * as sparse from "../../src/backends/wasm/sparse/slots.ts";

const ASSEMBLY = join(import.meta.dirname, "../../assembly");

/** Names that a kernel looks up in a context; the other constants of these files are sizes and kinds. */
const looked = new Set(
  readdirSync(ASSEMBLY, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => [...readFileSync(join(ASSEMBLY, file), "utf8").matchAll(/\(context, \w+\.([A-Z][A-Z0-9_]+)\)/g)])
    .map(([, name]) => name),
);

it.each([
  ["dense rows and refinement", { ...dense, ...refining }, 60],
  ["sparse rows and refinement", { ...sparse, ...refining }, 40],
  ["pooled images", { ...pool }, 10],
])(
  "slots of %s lie within a context, apart from each other",
  (_, names: { readonly [name: string]: number }, least) => {
    const slots = Object.entries(names).filter(([name]) => looked.has(name));
    expect(slots.length).toBeGreaterThan(least);
    const byPlace = new Map<number, string>();
    for (const [name, slot] of slots) {
      expect(slot % 8, name).toBe(0);
      expect(slot + 8, name).toBeLessThanOrEqual(CONTEXT_BYTES);
      expect(byPlace.get(slot), `${name} is at ${slot}, as is`).toBeUndefined();
      byPlace.set(slot, name);
    }
  },
);
