/**
 * What every command has around its work: the options all commands share, the two outputs with their styles, notes, a
 * progress meter and a back end that is closed again. A command reads data, calls the library and hands values to `print`.
 */

import { availableParallelism } from "node:os";
import {
  BACKEND_NAMES,
  type Backend,
  type BackendName,
  type Collective,
  openBackend,
  openShards,
  type Run,
} from "@ranksim/core";
import { type Command, Option } from "commander";
import { wholeNumber } from "./flags/parameter-flags.ts";
import type { Io, Processes } from "./io.ts";
import { type CommandName, OUTPUT_SCHEMA } from "./output-schema.ts";
import { aloneWithMpi } from "./processes.ts";
import { type Meter, startMeter } from "./terminal/progress.ts";
import { printable, printableJson, type Style, styleOf, withoutControls } from "./terminal/style.ts";

/** Options all commands share, as commander gives them. */
export interface CommonOptions {
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Options of commands that compute. */
export interface ComputeOptions extends CommonOptions {
  readonly backend?: BackendName;
  readonly threads?: number;
  readonly mpi?: boolean;
}

/** Adds --json and --quiet. */
export function addCommonOptions(command: Command): Command {
  return command
    .option("--json", "print the result as JSON, for programs")
    .option("-q, --quiet", "no progress and no notes on standard error")
    .option("--print-config", "print all options as they are, in the form of ranksim.json, and do nothing")
    .addOption(new Option("--debug").hideHelp());
}

/** Adds --backend and --threads. */
export function addComputeOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--backend <name>", "where the work runs; the result is the same everywhere").choices(BACKEND_NAMES),
    )
    .addOption(
      new Option("--threads <n>", "maximum number of threads; the result does not depend on it").argParser(
        (text: string) => wholeNumber(text, 1),
      ),
    )
    .option(
      "--mpi",
      "work together with the other processes of mpirun or srun; detected automatically where they start several",
    );
}

/** The back end of this process. Processes of one machine share its cores. */
function openOwn({ backend, threads }: ComputeOptions, processes: Processes | undefined): Promise<Backend> {
  const name = backend ?? "auto";
  if (!processes || threads !== undefined || (name !== "auto" && name !== "threads")) {
    return openBackend(name, threads === undefined ? {} : { threads });
  }
  const cores = availableParallelism(); // those that the launcher left to this process
  return openBackend(name, { threads: Math.max(1, Math.floor(cores / processes.localSize)) });
}

/** The run of a command's work, which may also tell its share where no estimator does. */
type Computing = Run & {
  readonly backend: Backend;
  readonly onShare: Meter["show"];
  /** The processes that do the work together. */
  readonly collective?: Collective;
};

/** One command at work. */
export class Session {
  readonly io: Io;
  readonly style: Style;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly #noteStyle: Style;
  readonly #notes: string[] = [];

  constructor(io: Io, { json = false, quiet = false }: CommonOptions) {
    this.io = io;
    this.json = json;
    this.quiet = quiet;
    this.style = styleOf(io.stdout);
    this.#noteStyle = styleOf(io.stderr);
  }

  /** Prints the result of a command: as JSON if that was asked for, else for people. */
  async print(command: CommandName, value: object, forPeople: () => string): Promise<void> {
    const result = { schema: OUTPUT_SCHEMA, command, ...value, notes: this.#notes };
    await this.io.stdout.write(
      this.json ? `${printableJson(result, 2)}\n` : withoutControls(forPeople(), this.io.stdout),
    );
  }

  /** Tells something that is not part of the result: at once to people, with the result to programs. */
  async note(text: string): Promise<void> {
    if (this.json) this.#notes.push(text);
    else if (!this.quiet) await this.io.stderr.write(`${this.#noteStyle.note("note:")} ${printable(text)}\n`);
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
    const collective = await processes?.join();
    const inner = await openOwn(options, processes);
    const opened = collective ? openShards(inner, collective) : inner;
    try {
      return await this.metered(title, (meter) =>
        work({
          ...{ backend: opened, signal: this.io.signal, onProgress: meter.onProgress, onShare: meter.show },
          ...(collective ? { collective } : {}),
        }),
      );
    } finally {
      await opened.close();
    }
  }
}
