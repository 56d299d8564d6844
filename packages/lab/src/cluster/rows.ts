/** Clustered rows of bytes as a .npy file of any size: each row is one of some kinds, and noise. */

import { open } from "node:fs/promises";

export const FEATURES = 1500;
const KINDS = 200;
const CLASSES = 10;
const NOISE = 1 << 20;

/** Writes rows, and their labels where a file is named for them. The first rows are the same whatever their number. */
export async function writeRows(path: string, count: number, labels?: string): Promise<void> {
  let state = 9;
  const draw = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const kinds = Array.from({ length: KINDS }, () => Uint8Array.from({ length: FEATURES }, () => draw(200)));
  const noise = Uint8Array.from({ length: NOISE }, () => draw(40));
  const file = await open(path, "w");
  await file.write(headerOf("|u1", `${count}, ${FEATURES}`));
  const own = new Uint8Array(labels ? count : 0);
  for (let from = 0; from < count; from += 4096) {
    const block = new Uint8Array(Math.min(4096, count - from) * FEATURES);
    for (let r = 0, at = 0; at < block.length; r++, at += FEATURES) {
      const kind = draw(KINDS);
      if (labels) own[from + r] = kind % CLASSES;
      const values = kinds[kind];
      const shift = draw(NOISE - FEATURES);
      for (let i = 0; i < FEATURES; i++) block[at + i] = values[i] + noise[shift + i];
    }
    await file.write(block);
  }
  await file.close();
  if (!labels) return;
  const beside = await open(labels, "w");
  await beside.write(headerOf("|u1", `${count},`));
  await beside.write(own);
  await beside.close();
}

function headerOf(type: string, shape: string): Uint8Array {
  const text = `{'descr': '${type}', 'fortran_order': False, 'shape': (${shape}), }`;
  const fields = Buffer.from(`${text.padEnd(117)}\n`);
  return Buffer.concat([Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, fields.length, 0), fields]);
}
