/** How long a folder of many small images takes to read. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Dense } from "@ranksim/core";
import { loadData } from "@ranksim/data/node";
import { encode } from "fast-png";
import { median } from "../../bench/results.ts";
import { type Bench, type Experiment, type Figures, figuresOf, timed } from "../experiment.ts";

/** Seconds of one core that the first reader took when the goal was set, and the least gain asked for. */
const BEFORE = 48;
const GAIN = 3;

/** Images of the sets that are written as files, and how many of each. */
const SETS = { "fashion-mnist:train": 60_000, "fashion-mnist:test": 10_000, "kmnist:test": 8200 };
const FEW = { "digits:train": 200 };

/** A folder of PNG files, in a folder for each class; answers with how many there are. */
async function writeImages(folder: string, { shelf, quick }: Bench): Promise<number> {
  let files = 0;
  for (const [name, count] of Object.entries(quick ? FEW : SETS)) {
    const { x, y } = await shelf.numbers(name);
    const { values, features } = x as Dense;
    const side = Math.sqrt(features);
    for (let r = 0; r < count; r++) {
      const data = Uint8Array.from(values.subarray(r * features, (r + 1) * features));
      const own = join(folder, String(y[r]));
      mkdirSync(own, { recursive: true });
      writeFileSync(join(own, `${files++}.png`), encode({ width: side, height: side, channels: 1, depth: 8, data }));
    }
  }
  return files;
}

export const imageFolder: Experiment = {
  name: "image-folder",
  title: "A folder of small images",
  about: `78,200 PNG files of 28 x 28 pixels (all of Fashion-MNIST and 8,200 of KMNIST), a folder for each class, read by \`loadData\`; the files had just been written, so that the disk does not count. The first reader took ${BEFORE} s of one core for as many when the goal was set; that was not measured again here. On 8,000 files the two were measured in turns: 5.0 to 6.9 s of processor time before, 0.8 to 1.5 s now. No workers are needed: two thirds of the time had gone to collecting garbage and to waiting.`,
  columns: [
    { figure: "files", title: "files" },
    { figure: "cpu", title: "processor seconds" },
    { figure: "wall", title: "seconds of the clock" },
  ],
  measure: async (_seed, bench): Promise<Figures> => {
    const folder = mkdtempSync(join(tmpdir(), "ranksim-images-"));
    try {
      const files = await writeImages(folder, bench);
      const began = performance.now();
      const { value, cpu } = await timed(() => loadData(folder));
      if (value.form !== "matrix" || value.x.rows !== files) throw new Error(`expected ${files} images`);
      return { files, cpu, wall: (performance.now() - began) / 1000 };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  targets: (runs) => {
    const middle = median(figuresOf(runs, "cpu")) ?? Number.NaN;
    const most = BEFORE / GAIN;
    return [
      {
        name: "78,200 PNG files read, processor seconds",
        wanted: `≤ ${most}`,
        measured: middle.toFixed(1),
        met: middle <= most,
      },
    ];
  },
};
