/**
 * What every command has around its work: the options all commands share, the two outputs with their styles, notes, a
 * progress meter and a back end that is closed again. A command reads data, calls the library and hands values to `print`.
 */

import { availableParallelism } from "node:os";
import type { Backend, Run } from "@ranksim/core";
import type { AroundFit } from "@ranksim/learn";
import type { Collective } from "@ranksim/mpi";
import { type Command, Option } from "commander";
import { aroundFit, type CheckpointFlags } from "./around-fit.ts";
import { COMMAND_BACKENDS, type CommandBackend, openNamed } from "./backends.ts";
import { wholeNumber } from "./flags/values.ts";
import type { Io, Processes } from "./io.ts";
import { type CommandName, OUTPUT_SCHEMA, type ResultOf } from "./output.ts";
import { aloneWithMpi } from "./processes.ts";
import { type Meter, startMeter } from "./terminal/progress.ts";
import { noteLine, printableJson, type Style, styleOf, withoutControls } from "./terminal/style.ts";

/** Options all commands share, as commander gives them. */
export interface CommonOptions {
  readonly json?: boolean;
  readonly quiet?: boolean;
  /** What is to be told with the result from the start. */
  readonly notes?: readonly string[];
}

/** Options of commands that compute. */
export interface ComputeOptions extends CommonOptions {
  readonly backend?: CommandBackend;
  readonly threads?: number;
  readonly mpi?: boolean;
}

/** The heading of flags about where work runs and what is printed. */
export const RUNNING = "Running:";

/** Adds --json and --quiet. */
export function addCommonOptions(command: Command): Command {
  return command
    .optionsGroup(RUNNING)
    .option("--json", "print the result as JSON, for programs")
    .option("-q, --quiet", "no progress and no notes on standard error")
    .addOption(new Option("--debug").hideHelp());
}

/** Adds --backend and --threads. */
export function addComputeOptions(command: Command): Command {
  return command
    .optionsGroup(RUNNING)
    .addOption(
      new Option("--backend <name>", "where the work runs; the result is the same everywhere").choices(
        COMMAND_BACKENDS,
      ),
    )
    .addOption(
      new Option("--threads <n>", "threads at most; the result is the same with any number").argParser((text: string) =>
        wholeNumber(text, 1),
      ),
    )
    .addOption(
      new Option(
        "--mpi",
        "insist on working with the other processes of mpirun or srun (default: detected)",
      ).hideHelp(),
    );
}

/** The back end of this process. Processes of one machine share its cores. */
function openOwn({ backend, threads }: ComputeOptions, processes: Processes | undefined): Promise<Backend> {
  const name = backend ?? "auto";
  if (!processes || threads !== undefined || (name !== "auto" && name !== "threads")) {
    return openNamed(name, threads === undefined ? {} : { threads });
  }
  const cores = availableParallelism(); // those that the launcher left to this process
  return openNamed(name, { threads: Math.max(1, Math.floor(cores / processes.localSize)) });
}

/** The run of a command's work, which may also tell its share where no estimator does. */
type Computing = Run & {
  readonly backend: Backend;
  readonly onShare: Meter["show"];
};

/** One command at work. */
export class Session {
  readonly io: Io;
  readonly style: Style;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly #noteStyle: Style;
  readonly #notes: string[];
  /** The processes that do the work together, once there is some. */
  #collective: Collective | undefined;

  constructor(io: Io, { json = false, quiet = false, notes = [] }: CommonOptions) {
    this.io = io;
    this.json = json;
    this.quiet = quiet;
    this.#notes = [...notes];
    this.style = styleOf(io.stdout);
    this.#noteStyle = styleOf(io.stderr);
  }

  /** Prints the result of a command: as JSON if that was asked for, else for people. */
  async print<Name extends CommandName>(command: Name, value: ResultOf<Name>, forPeople: () => string): Promise<void> {
    const result = { schema: OUTPUT_SCHEMA, command, ...value, notes: this.#notes };
    await this.io.stdout.write(
      this.json ? `${printableJson(result, 2)}\n` : withoutControls(forPeople(), this.io.stdout),
    );
  }

  /** Tells something that is not part of the result: at once to people, with the result to programs. */
  async note(text: string): Promise<void> {
    if (this.json) this.#notes.push(text);
    else if (!this.quiet) await this.io.stderr.write(noteLine(text, this.io.stderr));
  }

  /** Starts a progress meter. */
  meter(title: string): Meter {
    return startMeter(title, this.io.stderr, this.#noteStyle, this.quiet);
  }

  /** Runs `work` with a meter that is removed whatever happens. */
  async metered<T>(title: string, work: (meter: Meter) => Promise<T>): Promise<T> {
    const meter = this.meter(title);
    try {
      return await work(meter);
    } finally {
      await meter.end();
    }
  }

  /** Runs `work` with a back end that is closed whatever happens, a meter, and the signal of the session. */
  async compute<T>(title: string, options: ComputeOptions, work: (run: Computing) => Promise<T>): Promise<T> {
    this.io.signal.throwIfAborted();
    const processes = this.io.processes ?? (options.mpi ? await aloneWithMpi(this.io) : undefined);
    this.#collective = await processes?.join();
    const inner = await openOwn(options, processes);
    const backend = this.#collective ? (await import("@ranksim/mpi")).openShards(inner, this.#collective) : inner;
    try {
      return await this.metered(title, (meter) =>
        work({ backend, signal: this.io.signal, onProgress: meter.onProgress, onShare: meter.show }),
      );
    } finally {
      await backend.close();
    }
  }

  /** What goes on around a fit: a checkpoint, and agreement of the processes that train together. */
  around(options: CheckpointFlags): AroundFit {
    return aroundFit(options, this.io, this.#collective);
  }
}
