/**
 * Everything a command may touch of the world around it: streams, environment, working folder and the signal that ends it.
 * Passed as a value, so that tests and other programs can run commands without a process of their own.
 */

import { fstatSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import type { Collective } from "@ranksim/mpi";

/** Where text and bytes go. */
export interface Output {
  /** Resolves once the whole chunk was taken, so that a slow reader slows the writer down; rejects where it was not. */
  write(chunk: string | Uint8Array): Promise<void>;
  readonly isTerminal: boolean;
  /** Width in characters. */
  readonly columns: number;
  /** Bits per colour: 1 for none, 4, 8, or 24 for true colour. */
  readonly colourDepth: 1 | 4 | 8 | 24;
}

/** What tells a file from all others, whatever it is called. */
export interface FileIdentity {
  readonly dev: number;
  readonly ino: number;
}

/** Processes that were started together by mpirun or srun, and run the same command. The first prints and writes. */
export interface Processes {
  readonly rank: number;
  readonly size: number;
  /** Processes on this machine. */
  readonly localSize: number;
  /** Joins the others; once for all work of the command. */
  join(): Promise<Collective>;
}

/** The world of one run. */
export interface Io {
  readonly stdin: AsyncIterable<Uint8Array>;
  /** The file that standard input comes from, if it is one. */
  readonly stdinFile?: FileIdentity | undefined;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
  /** Aborted when the user interrupts; long work then stops and nothing half-done remains. */
  readonly signal: AbortSignal;
  /** Called by a command that needs time to end once interrupted: it is then not cut off, but for a second signal. */
  readonly endsByItself?: () => void;
  /** The processes that the command runs in, where several were started together. */
  readonly processes?: Processes;
  /** Calls the listener at each SIGHUP. */
  readonly onHangup?: (listener: () => void) => void;
}

/** Width taken where there is no terminal to ask. */
const DEFAULT_COLUMNS = 100;

/** The world of this process. */
export function processIo(signal: AbortSignal, endsByItself = (): void => {}): Io {
  return {
    // A getter: to touch it would keep a process alive that never asks for it.
    get stdin() {
      return process.stdin;
    },
    get stdinFile() {
      return fileOf(0);
    },
    stdout: streamOutput(process.stdout, "standard output"),
    stderr: streamOutput(process.stderr, "standard error"),
    env: process.env,
    cwd: process.cwd(),
    signal,
    endsByItself,
    onHangup: (listener) => void process.on("SIGHUP", listener),
  };
}

/** The file behind a descriptor; none where it is a pipe, a terminal or closed. */
function fileOf(fd: number): FileIdentity | undefined {
  try {
    const found = fstatSync(fd);
    return found.isFile() ? found : undefined;
  } catch {
    return undefined;
  }
}

function streamOutput(stream: NodeJS.WriteStream & { readonly fd: number }, name: string): Output {
  // Terminals and pipes are sockets; files and devices are not.
  const isStreamed = (stream as unknown) instanceof Socket;
  return {
    write: isStreamed ? (chunk) => toStream(stream, name, chunk) : async (chunk) => toFile(stream.fd, name, chunk),
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns || DEFAULT_COLUMNS;
    },
    colourDepth: colourDepth(stream),
  };
}

function toStream(stream: NodeJS.WriteStream, name: string, chunk: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(chunk, (error) => (error ? reject(named(error, name)) : resolve()));
  });
}

/** Node's own stream for files forgets what a full disk did not take of a chunk: the rest is written, or the reason is thrown. */
function toFile(fd: number, name: string, chunk: string | Uint8Array): void {
  const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
  try {
    for (let at = 0; at < bytes.byteLength; ) at += writeSync(fd, bytes, at);
  } catch (error) {
    throw named(error, name);
  }
}

/** An error of the system that says what it is about. */
export function named(error: unknown, path: string): unknown {
  return error instanceof Error && "syscall" in error && !("path" in error) ? Object.assign(error, { path }) : error;
}

/** Node's own judgement, which knows terminals and FORCE_COLOR; NO_COLOR has the last word. */
function colourDepth(stream: NodeJS.WriteStream): Output["colourDepth"] {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  if (NO_COLOR !== undefined && NO_COLOR !== "") return 1;
  if (stream.isTTY) return stream.getColorDepth() as Output["colourDepth"];
  if (FORCE_COLOR === undefined || FORCE_COLOR === "0" || FORCE_COLOR === "false") return 1;
  return FORCE_COLOR === "3" ? 24 : FORCE_COLOR === "2" ? 8 : 4;
}
