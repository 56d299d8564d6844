/**
 * A command that mpirun or srun started several times: the processes run the same command line on the same data. The first prints and
 * writes, the others are silent; when one fails, all end.
 */

import { RanksimError } from "@ranksim/core";
import type { Joined } from "@ranksim/mpi";
import { EXIT } from "./exit.ts";
import type { Io, Output, Processes } from "./io.ts";
import { launchOf } from "./launch.ts";

/** A command among others of its kind. */
interface Among {
  readonly io: Io;
  /** Leaves the others, and answers with the exit code; after a failure all are ended. */
  leave(code: number): Promise<number>;
}

/** Milliseconds that a failed process waits, so that the first process can report the error: mostly all fail for the same reason. */
const SPEAKS_FIRST = 1000;
/** Milliseconds that a launcher has to pass on what was said before it ends everything. */
const PASSES_ON = 250;

/** The command's world among other processes; undefined where it was started by itself. */
export function amongProcesses(io: Io): Among | undefined {
  const launch = launchOf(io.env);
  if (!launch) return undefined;
  const isFirst = launch.rank === 0;
  const [stdout, stderr] = isFirst ? [undefined, undefined] : [silence(), silence()];
  let joining: Promise<Joined> | undefined;
  const processes: Processes = {
    ...launch,
    async join() {
      joining ??= join(io, launch.size);
      return (await joining).collective;
    },
  };
  const own: Io = {
    ...io,
    get stdin() {
      return refused();
    },
    stdout: stdout?.output ?? io.stdout,
    stderr: stderr?.output ?? io.stderr,
    processes,
  };
  const speak = async (): Promise<void> => {
    await io.stderr.write(`process ${launch.rank} of ${launch.size}: ${stderr?.last() ?? ""}`);
    await wait(PASSES_ON);
  };
  return {
    io: own,
    async leave(code) {
      const joined = await joining?.catch(() => undefined);
      if (!joined) {
        // Launchers end all processes when one fails: the first has to have spoken.
        if (code !== EXIT.done) await wait(isFirst ? PASSES_ON : SPEAKS_FIRST);
        if (code !== EXIT.done && !isFirst) await speak();
        return code;
      }
      try {
        if (code === EXIT.done) await joined.leave();
      } catch (error) {
        await io.stderr.write(`error: ${error instanceof Error ? error.message : error}\n`);
        await wait(PASSES_ON);
        joined.abort(EXIT.failed);
        return EXIT.failed;
      }
      if (code === EXIT.done) return code;
      if (!isFirst) {
        await wait(SPEAKS_FIRST);
        await speak();
      }
      await wait(PASSES_ON);
      joined.abort(code);
      return code;
    },
  };
}

const wait = (milliseconds: number): Promise<void> => new Promise((resume) => setTimeout(resume, milliseconds));

/** A process by itself that insists on MPI: it finds out whether there is one. */
export async function aloneWithMpi(io: Io): Promise<Processes> {
  const { collective } = await join(io, undefined);
  return { rank: 0, size: collective.size, localSize: 1, join: async () => collective };
}

async function join(io: Io, size: number | undefined): Promise<Joined> {
  const { joinProcesses } = await import("@ranksim/mpi").catch((cause: unknown) => {
    throw new RanksimError(
      "no-backend",
      "several processes were started together; to work together they need the package @ranksim/mpi: npm install @ranksim/mpi",
      { cause },
    );
  });
  return joinProcesses(io.env, size);
}

/** Launchers hand standard input to the first process alone. */
// biome-ignore lint/correctness/useYield: nothing is ever read
async function* refused(): AsyncGenerator<Uint8Array> {
  throw new RanksimError("unsupported", "standard input: several processes cannot share it; name a file");
}

/** An output that only remembers what was last said. */
function silence(): { readonly output: Output; readonly last: () => string } {
  let last = "";
  return {
    output: {
      write: async (chunk) => {
        last = typeof chunk === "string" ? chunk : "";
      },
      isTerminal: false,
      columns: 80,
      colourDepth: 1,
    },
    last: () => last,
  };
}
