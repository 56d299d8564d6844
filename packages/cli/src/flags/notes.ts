/** Notes about the command line itself: they are told before the command works, to programs with its result. */

import type { Command } from "commander";

/** Notes of a command so far. */
export const notesOf = (command: Command): readonly string[] => command.getOptionValue("notes") ?? [];

/** Adds a note. */
export function noteFor(command: Command, text: string): void {
  if (!notesOf(command).includes(text)) command.setOptionValue("notes", [...notesOf(command), text]);
}
