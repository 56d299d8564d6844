/** Bytes of good files, damaged: flipped, filled, cut, moved, inserted, repeated. The same draws give the same damage. */

import { expect } from "vitest";
import { cases } from "../../core/test/tier.ts";
import { Draw } from "../../lab/src/differential/draw.ts";
import { joined } from "./rows.ts";

export const CASES = cases(200, 2000);
const SEED = Number(process.env.RANKSIM_TEST_SEED ?? 1);
/** A case that takes longer is a failure. Processor time: the machine may have other work. */
const LONGEST_SECONDS = 2;

/** Makes many attempts, each with draws of its own. An attempt answers with what went wrong, and nothing if all is well. */
export async function attack(attempt: (draw: Draw) => Promise<readonly string[]>, count = CASES): Promise<void> {
  for (let number = 0; number < count; number++) {
    const began = process.cpuUsage();
    const wrong = await attempt(new Draw(SEED, number));
    const { user, system } = process.cpuUsage(began);
    expect(wrong, `seed ${SEED}, case ${number}`).toEqual([]);
    expect((user + system) / 1e6, `seconds of seed ${SEED}, case ${number}`).toBeLessThan(LONGEST_SECONDS);
  }
}

/** Numbers that break things more often than others. */
const ODD = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff];

/** One to four changes. */
export function mutate(good: Uint8Array, draw: Draw): Uint8Array {
  let bytes: Uint8Array = Uint8Array.from(good);
  for (let change = draw.below(4); change >= 0; change--) bytes = changed(bytes, draw);
  return bytes;
}

function changed(bytes: Uint8Array, draw: Draw): Uint8Array {
  const at = draw.below(Math.max(1, bytes.length));
  switch (draw.below(8)) {
    case 0:
      bytes[at] ^= 1 << draw.below(8);
      return bytes;
    case 1:
      bytes[at] = draw.below(256);
      return bytes;
    case 2:
      return bytes.slice(0, at + 1);
    case 3:
      return bytes.fill(draw.below(2) * 255, at, at + draw.below(9));
    case 4:
      return bytes.copyWithin(at, draw.below(Math.max(1, bytes.length)), bytes.length);
    case 5: {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (at + 4 <= bytes.length) view.setUint32(at, draw.pick(ODD), draw.chance(0.5));
      return bytes;
    }
    case 6: {
      const from = draw.below(Math.max(1, bytes.length));
      return joined([bytes.subarray(0, at), bytes.subarray(from, from + draw.below(40)), bytes.subarray(at)]);
    }
    default: {
      const noise = Uint8Array.from({ length: draw.below(9) }, () => draw.below(256));
      return joined([bytes.subarray(0, at), noise, bytes.subarray(at)]);
    }
  }
}
