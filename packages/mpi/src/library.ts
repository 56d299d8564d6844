/**
 * The MPI library of this machine, called as it is. Open MPI's handles are addresses, those of MPICH and its relatives (Intel MPI,
 * MVAPICH, Cray MPICH) are numbers that their common binary interface fixes.
 */

import { RanksimError } from "@ranksim/core";
import koffi from "koffi";

type LibraryHandle = ReturnType<typeof koffi.load>;

/** The functions that are used. Buffers must stay where they are until a request is done. */
export interface Library {
  /** The name by which it was found. */
  readonly name: string;
  readonly world: unknown;
  readonly byte: unknown;
  readonly double: unknown;
  readonly add: unknown;
  call(name: FunctionName, ...values: readonly unknown[]): number;
  /** MPI_Test by itself. */
  readonly test: (request: Uint8Array, flag: Int32Array, status: Uint8Array) => number;
}

const FUNCTIONS = {
  MPI_Init_thread: "void *argc, void *argv, int required, void *provided",
  MPI_Initialized: "void *flag",
  MPI_Finalize: "",
  MPI_Abort: "H comm, int code",
  MPI_Comm_rank: "H comm, void *rank",
  MPI_Comm_size: "H comm, void *size",
  MPI_Iallreduce: "void *send, void *receive, int count, H type, H op, H comm, void *request",
  MPI_Iallgather: "void *send, int count, H type, void *receive, int each, H other, H comm, void *request",
  MPI_Iallgatherv:
    "void *send, int count, H type, void *receive, void *counts, void *places, H other, H comm, void *request",
  MPI_Ibcast: "void *buffer, int count, H type, int root, H comm, void *request",
  MPI_Ibarrier: "H comm, void *request",
  MPI_Isend: "void *buffer, int count, H type, int to, int tag, H comm, void *request",
  MPI_Irecv: "void *buffer, int count, H type, int from, int tag, H comm, void *request",
  MPI_Test: "void *request, void *flag, void *status",
} as const;

export type FunctionName = keyof typeof FUNCTIONS;

const OPEN_MPI = ["libmpi.so.40", "libmpi.so.80", "libmpi.40.dylib"];
const MPICH = ["libmpich.so.12", "libmpi.so.12", "libmpi_cray.so.12", "libmpi.12.dylib"];

/**
 * How transports are to behave in a process that is not theirs, unless the user says otherwise. They hook the system's calls for
 * memory and take signals, both of which an engine with threads uses itself. Three processes under MPICH with UCX 1.13 were seen to
 * crash below malloc; none of fifty jobs did with these settings, but too few did without them to call that a cure.
 */
const MANNERS = {
  UCX_MEM_EVENTS: "no",
  UCX_MEM_MMAP_HOOK_MODE: "none",
  UCX_ERROR_SIGNALS: "",
  OMPI_MCA_memory: "^patcher",
};

/** Loads the library that belongs to the launcher, or the one that RANKSIM_MPI_LIBRARY names. */
export function loadLibrary(env: { readonly [name: string]: string | undefined }): Library {
  for (const [name, value] of Object.entries(MANNERS)) process.env[name] ??= value;
  const given = env.RANKSIM_MPI_LIBRARY;
  // Under srun --mpi=pmix PMIx alone speaks of the others, and MPICH as it is mostly built knows the older PMI.
  const isPmix = env.PMIX_RANK !== undefined && env.PMI_RANK === undefined;
  const isOpen = env.OMPI_COMM_WORLD_SIZE !== undefined || env.OMPI_MCA_orte_launch !== undefined || isPmix;
  const names = given ? [given] : isOpen ? [...OPEN_MPI, ...MPICH] : [...MPICH, ...OPEN_MPI];
  const reasons: string[] = [];
  for (const name of names) {
    try {
      // Open MPI's own plug-ins look for its symbols among those of the process.
      return bind(name, koffi.load(name, { global: true }));
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new RanksimError(
    "no-backend",
    `MPI: expected the library of MPICH or Open MPI, found none of ${names.join(", ")} (${reasons[0]}); install one, or name it with RANKSIM_MPI_LIBRARY`,
  );
}

function bind(name: string, library: LibraryHandle): Library {
  const handles = openHandles(library) ?? {
    world: 0x44000000,
    byte: 0x4c00010d,
    double: 0x4c00080b,
    add: 0x58000003,
  };
  const type = typeof handles.world === "number" ? "int" : "void *";
  const functions = new Map<string, (...values: unknown[]) => number>();
  for (const [called, takes] of Object.entries(FUNCTIONS)) {
    functions.set(called, library.func(`int ${called}(${takes.replaceAll("H ", `${type} `)})`));
  }
  return {
    ...{ name, ...handles, test: functions.get("MPI_Test") as Library["test"] },
    call: (called, ...values) => (functions.get(called) as () => number)(...(values as [])),
  };
}

/** The handles of Open MPI; undefined for a library that is another. */
function openHandles(library: LibraryHandle) {
  try {
    return {
      world: library.symbol("ompi_mpi_comm_world"),
      byte: library.symbol("ompi_mpi_byte"),
      double: library.symbol("ompi_mpi_double"),
      add: library.symbol("ompi_mpi_op_sum"),
    };
  } catch {
    return undefined;
  }
}
