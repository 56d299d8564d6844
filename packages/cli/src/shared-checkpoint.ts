/** A checkpoint of several processes: the first has the folder and sends the others what is in it. */

import type { Checkpoint } from "@ranksim/core";
import { packState, unpackState } from "@ranksim/data/node";
import type { Collective } from "@ranksim/mpi";

/** The checkpoint that `open` opens in the first process. */
export async function sharedCheckpoint(collective: Collective, open: () => Promise<Checkpoint>): Promise<Checkpoint> {
  const own = collective.rank === 0 ? await open() : undefined;
  const fromFirst = (bytes: Uint8Array) => collective.broadcast(bytes, 0);
  return {
    async recall(name) {
      const state = await own?.recall(name);
      const bytes = await fromFirst(state ? packState(state) : new Uint8Array(0));
      return bytes.byteLength === 0 ? undefined : unpackState(bytes);
    },
    isDue: async () => (await fromFirst(Uint8Array.of((await own?.isDue()) ? 1 : 0)))[0] === 1,
    keep: async (name, state) => own?.keep(name, state),
    settled: async () => own?.settled?.(),
  };
}
