/** When, by what and how something was made: for pages beside a model, never for the model itself. */

import { readFileSync } from "node:fs";
import type { Command } from "commander";
import type { Io } from "./io.ts";

/** Date, version and command. */
export interface Provenance {
  /** Day and minute in UTC. */
  readonly date: string;
  readonly version: string;
  readonly command: string;
}

/** The circumstances of the command at work. SOURCE_DATE_EPOCH stands for the clock where it is set. */
export function provenanceOf(command: Command, io: Io): Provenance {
  const epoch = io.env.SOURCE_DATE_EPOCH;
  const date = epoch === undefined ? new Date() : new Date(Number(epoch) * 1000);
  const { rawArgs = [] } = (command.parent ?? command) as unknown as { rawArgs?: readonly string[] };
  return {
    date: `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`,
    version: versionOf(),
    command: ["ranksim", ...rawArgs.map(quoted)].join(" "),
  };
}

/** The version of this package. */
export function versionOf(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** A word of a command line, in quotes where a shell would take it apart. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
