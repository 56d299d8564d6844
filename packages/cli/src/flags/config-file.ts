/**
 * Flags from a file: `ranksim.json` in the working folder, or the file that --config names. It holds flags by name, for all
 * commands that have them, and under a command's name those of that command alone:
 *
 *     { "labelColumn": "species", "train": { "filters": 200, "refine": true } }
 *
 * What is typed goes first. Flags of the file are put before those that were typed, so there is one way to read them.
 */

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { didYouMean } from "@ranksim/data";
import type { Command } from "commander";
import type { Io } from "../io.ts";
import { flagOf } from "./parameter-flags.ts";
import { usageError } from "./usage-error.ts";

type Values = { readonly [name: string]: unknown };

/** What a command line says beside the name of its file, and what the file holds. */
interface Configured {
  readonly argv: readonly string[];
  readonly file: { readonly values: Values; readonly path: string } | undefined;
}

/** Reads the file that a command line names, or the one of the working folder. */
export async function readConfig(argv: readonly string[], io: Io): Promise<Configured> {
  const at = argv.findIndex((word) => word === "--config" || word.startsWith("--config="));
  const named = at < 0 ? undefined : argv[at].includes("=") ? argv[at].slice("--config=".length) : argv[at + 1];
  if (at >= 0 && named === undefined) throw usageError("--config: expected the name of a file, found nothing");
  const rest = at < 0 ? argv : [...argv.slice(0, at), ...argv.slice(at + (argv[at].includes("=") ? 1 : 2))];
  return { argv: rest, file: await read(named ?? "ranksim.json", named !== undefined, io) };
}

/** The arguments with those of the file put in; the program must have all commands where there is a file. */
export function withConfig({ argv, file }: Configured, program: Command): readonly string[] {
  const names = program.commands.map((command) => command.name());
  const place = argv.findIndex((word) => names.includes(word));
  if (file === undefined || place < 0) return argv;
  const command = program.commands.find((one) => one.name() === argv[place]) as Command;
  // The flags of subcommands (data list) are theirs alone.
  if (command.commands.length > 0) return argv;
  return [...argv.slice(0, place + 1), ...flagsOf(file.values, command, program, file.path), ...argv.slice(place + 1)];
}

async function read(name: string, isNamed: boolean, io: Io): Promise<Configured["file"]> {
  const text = await readFile(resolve(io.cwd, name), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" && !isNamed) return undefined;
    throw error;
  });
  // Empty is what `--print-config > ranksim.json` finds there.
  if (text === undefined || text.trim() === "") return undefined;
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch (error) {
    throw usageError(`${name}: expected JSON, ${(error as Error).message}`);
  }
  if (typeof values === "object" && values !== null && !Array.isArray(values))
    return { values: values as Values, path: name };
  throw usageError(`${name}: expected an object of flags, found ${JSON.stringify(values).slice(0, 40)}`);
}

function flagsOf(values: Values, command: Command, program: Command, path: string): string[] {
  const commands = new Map(program.commands.map((one) => [one.name(), one]));
  const known = new Set(program.commands.flatMap((one) => one.options.map((option) => option.attributeName())));
  const flags: string[] = [];
  const add = (given: Values, isOwn: boolean) => {
    for (const [name, value] of Object.entries(given)) {
      if (!isOwn && commands.has(name)) continue;
      const option = command.options.find((one) => one.attributeName() === camel(name));
      if (!option && (isOwn || !known.has(camel(name)))) {
        const names = [...(isOwn ? command.options.map((one) => one.attributeName()) : [...known, ...commands.keys()])];
        throw usageError(
          `${path}: ${isOwn ? `${command.name()} has no flag` : "no command has a flag"} ${JSON.stringify(name)}${didYouMean(camel(name), names)}`,
        );
      }
      if (option) flags.push(...written(command, camel(name), value, path));
    }
  };
  add(values, false);
  const own = values[command.name()];
  if (typeof own === "object" && own !== null) add(own as Values, true);
  return flags;
}

const camel = (name: string): string => name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** A flag as it would be typed. */
function written(command: Command, name: string, value: unknown, path: string): string[] {
  if (typeof value === "boolean") {
    // --header and --no-header are two flags of one name; some names have only one of them, the other being the default.
    const own = command.options.find((option) => option.attributeName() === name && option.negate === !value);
    return own?.long ? [own.long] : [];
  }
  if (typeof value === "string" || typeof value === "number") return [flagOf(name), String(value)];
  if (Array.isArray(value)) return [flagOf(name), value.join(",")];
  if (typeof value === "object" && value !== null) return [flagOf(name), JSON.stringify(value)];
  throw usageError(`${path}: ${name}: expected a value that a flag can have, found ${JSON.stringify(value)}`);
}

/** The options of a command as a config file that gives them again. */
export function configOf(command: Command): object {
  const given = Object.entries(command.opts()).filter(([name, value]) => value !== undefined && name !== "printConfig");
  return { [command.name()]: Object.fromEntries(given) };
}
