/**
 * Processes that work together through MPI: `openShards` makes a back end of them.
 *
 * @packageDocumentation
 */

import { fstatSync } from "node:fs";
import { RanksimError } from "@ranksim/core";
import { MpiCollective } from "./collective.ts";
import { loadLibrary } from "./library.ts";
import type { Collective } from "./wire.ts";

export { openShards } from "./shards.ts";
export type { Collective } from "./wire.ts";

/** Seconds after which a call that others take no part in is given up, unless RANKSIM_MPI_DEADLINE says otherwise. */
const DEADLINE = 1800;
/** The library is called by one thread alone. */
const FUNNELED = 1;

/** The processes that this one belongs to. */
export interface Joined {
  readonly collective: Collective;
  /** Leaves them once all have come so far. Nothing can be done together afterwards. */
  leave(): Promise<void>;
  /** Ends all processes at once, with this exit code where the launcher hands it on. */
  abort(code: number): void;
}

/**
 * Joins the processes that were started together by mpirun, mpiexec or srun; once in the life of a process. A process that was
 * started by itself is alone. Refuses (code "no-backend") a library that knows of another number of processes than `expected`.
 *
 * ```ts
 * const { collective, leave } = await joinProcesses();
 * const backend = openShards(await openBackend("auto", { threads: 1 }), collective);
 * const model = await estimator.fit(x, y, { backend }); // in every process the same
 * await leave();
 * ```
 */
export async function joinProcesses(
  env: { readonly [name: string]: string | undefined } = process.env,
  expected?: number,
): Promise<Joined> {
  const seconds = Number(env.RANKSIM_MPI_DEADLINE ?? DEADLINE);
  if (!(seconds > 0)) {
    throw new RanksimError("bad-params", `RANKSIM_MPI_DEADLINE: expected seconds, found ${env.RANKSIM_MPI_DEADLINE}`);
  }
  refuseLostSocket(env);
  const library = loadLibrary(env);
  const flag = new Int32Array(new ArrayBuffer(4));
  library.call("MPI_Initialized", flag);
  if (flag[0] !== 0) throw new RanksimError("no-backend", "MPI: expected to join once, found it joined already");
  const code = library.call("MPI_Init_thread", null, null, FUNNELED, new Int32Array(new ArrayBuffer(4)));
  if (code !== 0) throw new RanksimError("no-backend", `MPI: ${library.name} did not start, code ${code}`);
  const collective = new MpiCollective(library, seconds * 1000);
  if (expected !== undefined && expected !== collective.size) {
    throw new RanksimError(
      "no-backend",
      `MPI: the launcher started ${expected} processes, ${library.name} knows of ${collective.size}: it belongs to another MPI; use its own mpirun, srun --mpi=pmi2 or --mpi=pmix, or name the library with RANKSIM_MPI_LIBRARY`,
    );
  }
  return {
    collective,
    async leave() {
      await collective.barrier();
      library.call("MPI_Finalize");
    },
    abort: (exitCode) => void library.call("MPI_Abort", library.world, exitCode),
  };
}

/**
 * MPICH talks to its launcher through an open socket, of which it is told the number alone. Node hands no socket on to the programs that
 * it starts, npx and npm are such programs, and under that number another file may be open: the library would write into it.
 */
function refuseLostSocket(env: { readonly [name: string]: string | undefined }): void {
  if (env.PMI_FD === undefined || isSocket(Number(env.PMI_FD))) return;
  throw new RanksimError(
    "no-backend",
    `MPI: the launcher speaks to its processes through open file ${env.PMI_FD}, which this process was not given, because npx, npm or another program lies between them; start the command itself: mpirun -n 4 node_modules/.bin/ranksim`,
  );
}

function isSocket(file: number): boolean {
  try {
    return fstatSync(file).isSocket();
  } catch {
    return false;
  }
}
