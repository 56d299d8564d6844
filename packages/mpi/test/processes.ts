/** Processes that work together, as tasks of this one: what a `Collective` promises, without a library. */

import type { Collective } from "@ranksim/mpi";

/** So many collectives that belong together. A call that not all of them make never ends, as in earnest. */
export function makeProcesses(size: number): Collective[] {
  const meetings: { parts: Uint8Array[]; left: number; over: PromiseWithResolvers<Uint8Array[]> }[] = [];
  const letters = new Map<string, { queue: Uint8Array[]; waiting: ((bytes: Uint8Array) => void)[] }>();
  const boxOf = (from: number, to: number) => {
    const key = `${from} ${to}`;
    const box = letters.get(key) ?? { queue: [], waiting: [] };
    letters.set(key, box);
    return box;
  };
  return Array.from({ length: size }, (_, rank): Collective => {
    let calls = 0;
    const meet = (part: Uint8Array): Promise<Uint8Array[]> => {
      const call = calls++;
      meetings[call] ??= { parts: [], left: size, over: withResolvers() };
      const meeting = meetings[call];
      meeting.parts[rank] = part.slice();
      if (--meeting.left === 0) meeting.over.resolve(meeting.parts);
      return meeting.over.promise;
    };
    return {
      rank,
      size,
      gather: meet,
      async sum(values) {
        const parts = await meet(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
        const sum = new Float64Array(values.length);
        for (const part of parts) {
          const own = new Float64Array(part.slice().buffer);
          if (own.length !== sum.length) throw new Error("processes disagree about what they add up");
          for (let j = 0; j < sum.length; j++) sum[j] += own[j];
        }
        return sum;
      },
      broadcast: async (bytes, from) => (await meet(bytes))[from],
      async send(bytes, to) {
        const box = boxOf(rank, to);
        const next = box.waiting.shift();
        if (next) next(bytes.slice());
        else box.queue.push(bytes.slice());
      },
      receive(from) {
        const box = boxOf(from, rank);
        const next = box.queue.shift();
        return next ? Promise.resolve(next) : new Promise((resolve) => box.waiting.push(resolve));
      },
    };
  });
}

interface PromiseWithResolvers<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
}

function withResolvers<T>(): PromiseWithResolvers<T> {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
