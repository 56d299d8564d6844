/**
 * Runs one command line and answers with the exit code: 0 done, 1 error in data or request, 2 usage error,
 * 130 and 143 interrupted. Errors of the user are one line; a stack is shown for --debug and for our own mistakes only.
 */

import { RanksimError } from "@ranksim/core";
import { type Command, CommanderError } from "commander";
import { EXIT, Interruption, interruptedText } from "./exit.ts";
import { readConfig, withConfig } from "./flags/config-file.ts";
import { noteFor, notesOf } from "./flags/notes.ts";
import { called } from "./flags/parameters.ts";
import { UsageError } from "./flags/usage-error.ts";
import type { Io } from "./io.ts";
import { OUTPUT_SCHEMA } from "./output.ts";
import { amongProcesses } from "./processes.ts";
import { commandOf, makeProgram } from "./program.ts";
import { noteLine, printable, printableJson, printableLines, styleOf } from "./terminal/style.ts";

/** Runs `ranksim` with these arguments (without the names of node and script). Never throws. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const among = amongProcesses(io);
  const code = await runAlone(argv, among?.io ?? io);
  return among ? among.leave(code) : code;
}

async function runAlone(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await attempt(argv, io);
  } catch (error) {
    if (io.signal.aborted) {
      await io.stderr.write(interruptedText(argv)).catch(() => undefined);
      return io.signal.reason instanceof Interruption ? io.signal.reason.exitCode : EXIT.interrupted;
    }
    // Where even the error cannot be written, only the exit code remains.
    await tell(error, argv, io).catch(() => undefined);
    return error instanceof CommanderError ? EXIT.usage : EXIT.failed;
  }
}

/** Runs the program. What commander has to say is said when it is known whether people or programs listen. */
async function attempt(argv: readonly string[], io: Io): Promise<number> {
  const said: { readonly to: "stdout" | "stderr"; readonly text: string }[] = [];
  try {
    const helpAll = argv.some((word, w) => isHelp(word) && argv[w + 1] === "all");
    const configured = await readConfig(helpAll ? argv.filter((word) => word !== "all") : argv, io);
    // A file may hold flags of all commands; flags that no command has are reported.
    const only = configured.file === undefined ? commandOf(configured.argv) : undefined;
    const program = await makeProgram(io, (to, text) => said.push({ to, text }), { only, helpAll });
    const { argv: all, note } = withConfig(configured, program);
    program.hook("preAction", async (_, command) => {
      if (note !== undefined) noteFor(command, note);
      await tellNotes(argv, command, io);
    });
    await program.parseAsync(all, { from: "user" });
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof CommanderError) || error instanceof UsageError) throw error;
    // For programs an error of usage is reported like any other; help that was asked for is printed as it is.
    if (error.exitCode !== 0 && isForPrograms(argv)) throw error;
    for (const { to, text } of said) await io[to].write(text);
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
}

/** Tells people what is to be said of the command line; programs get it with the result. Only a typed --quiet silences it. */
async function tellNotes(argv: readonly string[], command: Command, io: Io): Promise<void> {
  if (isForPrograms(argv) || argv.some((word) => word === "--quiet" || word.startsWith("-q"))) return;
  for (const note of notesOf(command)) await io.stderr.write(noteLine(note, io.stderr));
}

const isHelp = (word: string): boolean => word === "--help" || word === "-h";
const isForPrograms = (argv: readonly string[]): boolean => argv.includes("--json");

async function tell(error: unknown, argv: readonly string[], io: Io): Promise<void> {
  const message = messageOf(error).split("\n").map(printable).join("\n");
  if (isForPrograms(argv)) {
    const told = { schema: OUTPUT_SCHEMA, error: { code: codeOf(error), message } };
    await io.stderr.write(`${printableJson(told)}\n`);
  } else {
    await io.stderr.write(`${styleOf(io.stderr).bad("error:")} ${message}\n`);
  }
  if (argv.includes("--debug") || codeOf(error) === "internal") {
    await io.stderr.write(`${printableLines(String(error instanceof Error ? error.stack : error))}\n`);
  }
}

function codeOf(error: unknown): string {
  if (error instanceof RanksimError) return error.code;
  if (error instanceof CommanderError) return "usage";
  if (isOutOfMemory(error)) return "memory";
  return isSystemError(error) ? "system" : "internal";
}

/** Errors of the operating system, such as a file that is not there. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string";
}

/** What engines say where an array, a buffer or a string cannot be had. */
function isOutOfMemory(error: unknown): error is RangeError {
  return (
    error instanceof RangeError &&
    /allocation failed|Invalid (string|typed array|array( buffer)?) length/.test(error.message)
  );
}

const REASONS: { readonly [code: string]: string } = {
  ENOENT: "no such file or folder",
  EACCES: "permission denied",
  EPERM: "not permitted",
  EISDIR: "is a folder, expected a file",
  ENOTDIR: "a part of the path is not a folder",
  ENOSPC: "no space left",
  EDQUOT: "no space left: the quota is used up",
  EFBIG: "the file would be larger than allowed here",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "links that lead round in a circle",
  EROFS: "the file system is read-only",
};

function messageOf(error: unknown): string {
  if (isSystemError(error)) {
    const reason = REASONS[error.code ?? ""] ?? error.message;
    return error.path === undefined ? reason : `${error.path}: ${reason}`;
  }
  const message = error instanceof Error ? error.message : String(error);
  if (isOutOfMemory(error)) return `there is not enough memory for this (${message})`;
  if (error instanceof UsageError) return message;
  if (error instanceof CommanderError) return message.replace(/^error: /, "");
  return error instanceof RanksimError ? error.messageWith(called) : message;
}
