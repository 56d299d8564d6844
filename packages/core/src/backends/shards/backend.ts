/**
 * A back end over a back end: each process holds a shard of the rows, consecutive ones, and all of them have the same answers. They
 * run the same program on the same data, so that whatever is small is worked out by each for itself; what is found in rows is
 * put together in the order of the rows.
 */

import type { Backend, Made } from "../contract.ts";
import type { Collective } from "./collective.ts";
import { isFew, ShardedRows, unrepeated } from "./rows.ts";
import { packArrays, packBank, unpackArrays, unpackBank } from "./wire.ts";

/** Fewer rows for each process than this are not worth a message: every process holds them all. */
const FEWEST = 64;

/** Bytes of rows in memory up to which each process holds all of them beside its shard, to make filters of any of them. */
const HELD_BYTES = 2 ** 28;

/**
 * Opens a back end on which processes work together, each through a back end of its own, which is the caller's to close. `heldBytes`
 * is for tests: rows of more bytes are gathered from memory whenever filters are made of them.
 */
export function openShards(inner: Backend, collective: Collective, heldBytes = HELD_BYTES): Backend {
  const { rank, size } = collective;
  return {
    processes: size,
    get name() {
      return size === 1 ? inner.name : `${inner.name} in ${size} processes`;
    },
    get threads() {
      return inner.threads;
    },
    estimate: (work) => {
      const own = inner.estimate(work);
      return "seconds" in own ? { seconds: own.seconds / size, bytes: own.bytes / size } : own;
    },
    async hold(source, plan) {
      if (size === 1 || source.rows < FEWEST * size) return inner.hold(source, plan);
      const [from, to] = [startOf(source.rows, rank, size), startOf(source.rows, rank + 1, size)];
      const holdAll = () => inner.hold(source, plan);
      const isOnce = source.form === "dense" && (plan?.searches ?? 1) > 1 && isFew(source, heldBytes);
      const all = isOnce ? await holdAll() : undefined;
      try {
        const part = all?.part?.(from, to);
        if (part) return new ShardedRows(source, part, from, collective, holdAll, heldBytes, all);
      } catch (error) {
        all?.release();
        throw error;
      }
      all?.release(); // held when it is asked for
      const own = await inner.hold(source.slice(from, to), plan);
      return new ShardedRows(source, own, from, collective, holdAll, heldBytes);
    },
    ...(size > 1 && { shareOut: (pieces, work) => shareOut(pieces, (piece) => work(piece, inner), collective) }),
    close: () => inner.close(),
  };
}

/** Every process does the pieces whose turn is its own, and tells the others. */
async function shareOut(
  pieces: number,
  work: (piece: number) => Promise<Made>,
  collective: Collective,
): Promise<Made[]> {
  const { rank, size } = collective;
  const own: Uint8Array[] = [];
  await unrepeated(async () => {
    for (let piece = rank; piece < pieces; piece += size) own.push(packMade(await work(piece)));
  });
  const all = (await collective.gather(packArrays(own))).map(unpackArrays);
  return Array.from({ length: pieces }, (_, piece) =>
    unpackMade(all[piece % size][Math.floor(piece / size)] as Uint8Array),
  );
}

const packMade = ({ banks, numbers }: Made): Uint8Array => packArrays([numbers, ...banks.map(packBank)]);

function unpackMade(bytes: Uint8Array): Made {
  const [numbers, ...banks] = unpackArrays(bytes);
  return { numbers: numbers as Uint32Array, banks: banks.map((bank) => unpackBank(bank as Uint8Array)) };
}

/** The first row of a process. */
const startOf = (rows: number, rank: number, size: number): number => Math.floor((rows * rank) / size);
