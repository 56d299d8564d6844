/** The data and the command line of the jobs that tests start, and the processes of a job. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { encodeNpy } from "@ranksim/data";

export const BIN = fileURLToPath(new URL("../../cli/bin/ranksim.js", import.meta.url));
export const program = (name: string) => fileURLToPath(new URL(`programs/${name}`, import.meta.url));

const ROWS = 3000;
const FEATURES = 100;

/** Six rounds, however little changes in them. */
export const HOW = "--estimator probabilistic --filters 80 --set iterations=6 --set tolerance=0";
export const LINE = `train rows.npy --labels labels.npy --set table=false ${HOW}`;

/** Three banks, which are refined twice: by some of the rows, then by all. */
export const REFINED =
  "train rows.npy --labels labels.npy --set table=false --estimator classifier --filters 30 --set iterations=1 --set committee=3 --set refine=true --set refineEpochs=6";

/** Rows of ten kinds, and their kinds. */
export function writeData(folder: string): void {
  let state = 5;
  const draw = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const kinds = Array.from({ length: ROWS }, () => draw(10));
  const values = Uint8Array.from(
    { length: ROWS * FEATURES },
    (_, j) => draw(200) + (((j % FEATURES) + kinds[Math.floor(j / FEATURES)]) % 10 === 0 ? 55 : 0),
  );
  writeFileSync(join(folder, "rows.npy"), encodeNpy(values, [ROWS, FEATURES]));
  writeFileSync(join(folder, "labels.npy"), encodeNpy(Uint8Array.from(kinds), [ROWS]));
}

/** The processes of the command whose command line says this. */
export function processesOf(said: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const [node, bin, ...rest] = commandOf(pid);
      return /\bnode$/.test(node) && /ranksim(\.js)?$/.test(bin ?? "") && rest.includes(said);
    });
}

function commandOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [""]; // it has ended
  }
}
