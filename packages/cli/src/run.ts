/**
 * Runs one command line and answers with the exit code: 0 done, 1 the data or the request is at fault, 2 the command line
 * is, 130 interrupted. Errors of the user are one line; a stack is shown for --debug and for our own mistakes only.
 */

import { RanksimError } from "@ranksim/core";
import { CommanderError } from "commander";
import { EXIT } from "./exit.ts";
import { flagOf } from "./flags/parameter-flags.ts";
import { UsageError } from "./flags/usage-error.ts";
import type { Io } from "./io.ts";
import { makeProgram } from "./program.ts";
import { printable, styleOf } from "./terminal/style.ts";

/** Runs `ranksim` with these arguments (without the names of node and script). Never throws. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const said: Promise<void>[] = [];
  try {
    const program = makeProgram(io, (output, text) => said.push(output.write(text)));
    await program.parseAsync(argv as string[], { from: "user" });
    return EXIT.done;
  } catch (error) {
    await Promise.all(said);
    if (error instanceof UsageError) {
      await tell(error, argv, io);
      return EXIT.usage;
    }
    // Commander has said what was wrong, or printed the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    if (io.signal.aborted) {
      await io.stderr.write("interrupted: nothing was changed\n");
      return EXIT.interrupted;
    }
    await tell(error, argv, io);
    return EXIT.failed;
  }
}

async function tell(error: unknown, argv: readonly string[], io: Io): Promise<void> {
  const known = error instanceof RanksimError || error instanceof UsageError || isSystemError(error);
  const message = messageOf(error).split("\n").map(printable).join("\n");
  if (argv.includes("--json")) {
    const code = codeOf(error);
    await io.stderr.write(`${JSON.stringify({ error: { code, message } })}\n`);
  } else {
    await io.stderr.write(`${styleOf(io.stderr).bad("error:")} ${message}\n`);
  }
  if (argv.includes("--debug") || !known) await io.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
}

function codeOf(error: unknown): string {
  if (error instanceof RanksimError) return error.code;
  if (error instanceof UsageError) return "usage";
  return isSystemError(error) ? "system" : "internal";
}

/** Errors of the operating system, such as a file that is not there. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string";
}

const REASONS: { readonly [code: string]: string } = {
  ENOENT: "no such file or folder",
  EACCES: "permission denied",
  EPERM: "not permitted",
  EISDIR: "is a folder, expected a file",
  ENOTDIR: "a part of the path is not a folder",
  ENOSPC: "no space left",
  EROFS: "the file system is read-only",
};

const READ_OPTIONS = /\b(labelColumn|textColumn|ignoreColumns|firstFeature)\b/g;

function messageOf(error: unknown): string {
  if (isSystemError(error)) {
    const reason = REASONS[error.code ?? ""] ?? error.message;
    return error.path === undefined ? reason : `${error.path}: ${reason}`;
  }
  const message = error instanceof Error ? error.message : String(error);
  // The readers speak of their options; here these are flags.
  return message.replace(READ_OPTIONS, (name) => flagOf(name));
}
