/** What launchers tell a process of the others: mpirun and mpiexec of Open MPI and MPICH, and Slurm's srun. */

/** A process among others. */
interface Launch {
  readonly rank: number;
  readonly size: number;
  /** Processes on the same machine. */
  readonly localSize: number;
}

type Environment = { readonly [name: string]: string | undefined };

/** The process's place among those that were started together; undefined where it was started by itself. */
export function launchOf(env: Environment): Launch | undefined {
  const found =
    placeOf(env, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE") ??
    placeOf(env, "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS") ??
    // A step of srun; a batch script is a process by itself, though its job has tasks.
    (env.SLURM_STEP_ID === undefined ? undefined : placeOf(env, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", ""));
  return found && found.size > 1 ? found : undefined;
}

function placeOf(env: Environment, rank: string, size: string, local: string): Launch | undefined {
  const [r, s, l] = [rank, size, local].map((name) => wholeNumber(env[name]));
  if (r === undefined || s === undefined || r >= s) return undefined;
  return { rank: r, size: s, localSize: Math.max(1, l ?? slurmLocal(env) ?? 1) };
}

/** "2(x3),1" tells of three machines with two tasks each and one with one; the largest number is safe. */
function slurmLocal(env: Environment): number | undefined {
  const counts = env.SLURM_STEP_TASKS_PER_NODE?.split(",").map((part) => Number.parseInt(part, 10));
  return counts?.every((count) => count > 0) ? Math.max(...counts) : undefined;
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
