/** Notices a case that never comes back, which nothing in the same thread could: a thread of its own looks at the clock of the cases. */

import { Worker } from "node:worker_threads";

/** Seconds after which a case is taken for endless, even on a busy machine. */
const ENDLESS_SECONDS = 120;

const SCRIPT = `
  const { workerData: { shared, names, seed, seconds } } = require("node:worker_threads");
  const { writeSync } = require("node:fs");
  const state = new Int32Array(shared);
  let last = [-1, -1, 0];
  setInterval(() => {
    const now = [state[0], state[1], Date.now()];
    if (now[0] !== last[0] || now[1] !== last[1]) last = now;
    else if (now[2] - last[2] > 1000 * seconds) {
      writeSync(2, JSON.stringify({ target: names[now[0]], seed, case: now[1], wrong: "never comes back" }) + "\\n");
      process.kill(process.pid, "SIGKILL");
    }
  }, 1000);`;

/** Says which case of which target begins. */
type Begin = (target: number, number: number) => void;

/** Starts to watch; a case that does not end is told and ends the process. */
export function watch(names: readonly string[], seed: number): { begin: Begin; end: () => Promise<number> } {
  const shared = new SharedArrayBuffer(8);
  const state = new Int32Array(shared);
  const worker = new Worker(SCRIPT, { eval: true, workerData: { shared, names, seed, seconds: ENDLESS_SECONDS } });
  worker.unref();
  return {
    begin: (target, number) => {
      state[0] = target;
      state[1] = number;
    },
    end: () => worker.terminate(),
  };
}
