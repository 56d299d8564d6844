/** The index of the npm package usearch, where a folder of peers has it, in a process of its own. */

import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { toDense } from "@ranksim/core";
import { readPart } from "../../../runner/data-files.ts";
import type { Measured } from "../../../runner/results.ts";
import { cpuSoFar } from "../../../runner/stopwatch.ts";

interface Job {
  readonly folder: string;
  /** The folder that has node_modules. */
  readonly peers: string | undefined;
  readonly k: number;
  readonly repeats: number;
}

/** As much of the package as is used. */
interface Usearch {
  Index: new (config: {
    readonly [name: string]: string | number;
  }) => {
    add(keys: BigUint64Array, vectors: Float32Array, threads: number): void;
    search(vectors: Float32Array, k: number, threads: number): { readonly keys: BigUint64Array };
    save(path: string): void;
    load(path: string): void;
  };
}

const EXPANSIONS = [10, 20, 40, 80];

export async function measure({ folder, peers, k, repeats }: Job): Promise<Measured> {
  if (peers === undefined) throw new Error("--peers: expected a folder in which usearch is installed");
  const { Index } = createRequire(join(peers, "index.js"))("usearch") as Usearch;
  const unit = (part: string) => {
    const x = toDense(readPart(folder, part).x);
    const values = Float32Array.from(x.values);
    for (let r = 0; r < x.rows; r++) {
      const row = values.subarray(r * x.features, (r + 1) * x.features);
      const length = Math.hypot(...row) || 1;
      for (let i = 0; i < row.length; i++) row[i] /= length;
    }
    return { values, rows: x.rows, features: x.features };
  };
  const [x, asked] = [unit("x"), unit("asked")];
  const exact = new Uint32Array(Uint8Array.from(readFileSync(join(folder, "exact"))).buffer);
  const config = { metric: "ip", dimensions: x.features, connectivity: 16, quantization: "f32" };
  const began = cpuSoFar();
  const index = new Index({ ...config, expansion_add: 200 });
  index.add(
    BigUint64Array.from({ length: x.rows }, (_, r) => BigInt(r)),
    x.values,
    1,
  );
  const figures: { [name: string]: number } = { buildCpu: cpuSoFar() - began };
  const path = join(folder, "usearch.index");
  index.save(path);
  figures.bytes = statSync(path).size;
  for (const expansion of EXPANSIONS) {
    const again = new Index({ ...config, expansion_search: expansion });
    again.load(path);
    let least = Number.POSITIVE_INFINITY;
    let keys: BigUint64Array = new BigUint64Array(0);
    for (let repeat = 0; repeat < repeats; repeat++) {
      const start = cpuSoFar();
      keys = again.search(asked.values, k, 1).keys;
      least = Math.min(least, cpuSoFar() - start);
    }
    let hits = 0;
    for (let at = 0; at < exact.length; at += k) {
      const own = new Set(exact.subarray(at, at + k));
      for (let e = at; e < at + k; e++) if (own.has(Number(keys[e]))) hits++;
    }
    figures[`recall@expansion ${expansion}`] = hits / exact.length;
    figures[`rate@expansion ${expansion}`] = asked.rows / least;
  }
  return { figures };
}
