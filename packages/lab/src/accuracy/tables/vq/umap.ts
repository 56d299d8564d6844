/** The map of the npm package umap-js, where a folder of peers has it, in a process of its own. */

import { createRequire } from "node:module";
import { join } from "node:path";
import { Dense, toDense } from "@ranksim/core";
import { Draw } from "../../../differential/draw.ts";
import { readPart, writePart } from "../../../runner/data-files.ts";
import type { Measured } from "../../../runner/results.ts";
import { timed } from "../../../runner/stopwatch.ts";

interface Job {
  readonly folder: string;
  readonly peers: string | undefined;
  readonly seed: number;
}

/** As much of the package as is used. */
interface UmapJs {
  UMAP: new (params: { random(): number }) => { fit(rows: number[][]): number[][] };
}

export async function measure({ folder, peers, seed }: Job): Promise<Measured> {
  if (peers === undefined) throw new Error("--peers: expected a folder in which umap-js is installed");
  const { UMAP } = createRequire(join(peers, "index.js"))("umap-js") as UmapJs;
  const x = toDense(readPart(folder, "x").x);
  const rows = Array.from({ length: x.rows }, (_, r) => Array.from(x.row(r)));
  const draw = new Draw(seed, 0);
  const { value, cpu } = await timed(() => new UMAP({ random: () => draw.share() }).fit(rows));
  writePart(folder, "places", { x: Dense.fromRows(value), y: new Uint8Array(x.rows) });
  return { figures: { fitCpu: cpu } };
}
