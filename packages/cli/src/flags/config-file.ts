/**
 * Flags from a file: `ranksim.json` in the working folder, or the file that --config names. It holds flags and parameters by
 * name, for all commands that have them, and under a command's name those of that command alone:
 *
 *     { "label": "species", "train": { "filters": 200, "refine": true } }
 *
 * What is typed goes first. Flags of the file are put before those that were typed, so there is one way to read them.
 *
 * A folder's file comes with the folder, which may be another's: what it sets is told, and it may not choose what is written
 * or who may connect.
 */

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { didYouMean } from "@ranksim/data";
import type { Command, Option } from "commander";
import type { Io } from "../io.ts";
import { SETTINGS } from "./parameters.ts";
import { usageError } from "./usage-error.ts";
import { kebab, writtenValue } from "./values.ts";

type Values = { readonly [name: string]: unknown };

/** A file of flags. */
interface ConfigFile {
  readonly values: Values;
  readonly path: string;
  /** Whether --config names it. */
  readonly isNamed: boolean;
}

/** What a command line says beside the name of its file, and what the file holds. */
interface Configured {
  readonly argv: readonly string[];
  readonly file: ConfigFile | undefined;
}

/** Arguments to parse, and what the user has to be told of them. */
interface WithConfig {
  readonly argv: readonly string[];
  readonly note?: string;
}

/** Flags that choose what is written, which address is opened and who may use it. */
const OUTWARD: ReadonlySet<string> = new Set([
  ...["model", "out", "card", "plot", "checkpoint", "folder"],
  ...["host", "port", "allowHost", "cors", "tokenFile", "watch", "open"],
]);

/** Reads the file that a command line names, or the one of the working folder. */
export async function readConfig(argv: readonly string[], io: Io): Promise<Configured> {
  const at = argv.findIndex((word) => word === "--config" || word.startsWith("--config="));
  const named = at < 0 ? undefined : argv[at].includes("=") ? argv[at].slice("--config=".length) : argv[at + 1];
  if (at >= 0 && named === undefined) throw usageError("--config: expected the name of a file, found nothing");
  const rest = at < 0 ? argv : [...argv.slice(0, at), ...argv.slice(at + (argv[at].includes("=") ? 1 : 2))];
  return { argv: rest, file: await read(named ?? "ranksim.json", named !== undefined, io) };
}

/** The arguments with those of the file put in; the program must have all commands where there is a file. */
export function withConfig({ argv, file }: Configured, program: Command): WithConfig {
  const names = program.commands.map((command) => command.name());
  const place = argv.findIndex((word) => names.includes(word));
  if (file === undefined || place < 0) return { argv };
  const command = program.commands.find((one) => one.name() === argv[place]) as Command;
  // The flags of subcommands (data list) are theirs alone.
  if (command.commands.length > 0) return { argv };
  const flags = flagsOf(file, command, program);
  const all = [...argv.slice(0, place + 1), ...flags.flat(), ...argv.slice(place + 1)];
  if (file.isNamed || flags.length === 0) return { argv: all };
  const told = [...new Set(flags.map(([flag]) => flag))].join(", ");
  return { argv: all, note: `flags from ${file.path} in this folder, unless typed: ${told}` };
}

async function read(name: string, isNamed: boolean, io: Io): Promise<ConfigFile | undefined> {
  const text = await readFile(resolve(io.cwd, name), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" && !isNamed) return undefined;
    throw error;
  });
  if (text === undefined || text.trim() === "") return undefined;
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch (error) {
    // The engine's own words show some of the text, which may be a secret where another file was meant.
    const [place] = /at position \d+/.exec((error as Error).message) ?? [""];
    throw usageError(`${name}: expected JSON, as in { "train": { "seed": 7 } }, found other text ${place}`.trimEnd());
  }
  if (typeof values === "object" && values !== null && !Array.isArray(values))
    return { values: values as Values, path: name, isNamed };
  throw usageError(`${name}: expected an object of flags, found ${JSON.stringify(values).slice(0, 40)}`);
}

/** The flags that a file sets for a command, each as its words. */
function flagsOf({ values, path, isNamed }: ConfigFile, command: Command, program: Command): string[][] {
  const commands = new Map(program.commands.map((one) => [one.name(), one]));
  const known = new Set([...program.commands.flatMap((one) => one.options.map(nameOf)), ...SETTING_NAMES]);
  const flags: string[][] = [];
  const add = (given: Values, isOwn: boolean) => {
    for (const [name, value] of Object.entries(given)) {
      if (!isOwn && commands.has(name)) continue;
      const option = command.options.find((one) => nameOf(one) === camel(name));
      const isSet = SETTING_NAMES.has(camel(name)) && command.options.some(({ long }) => long === "--set");
      if (!option && !isSet && (isOwn || !known.has(camel(name)))) {
        const names = [...(isOwn ? command.options.map(nameOf) : [...known, ...commands.keys()])];
        throw usageError(
          `${path}: ${isOwn ? `${command.name()} has no flag` : "no command has a flag"} ${JSON.stringify(name)}${didYouMean(camel(name), names)}`,
        );
      }
      const isFlag = option !== undefined && (!isSet || option.attributeName() === camel(name));
      const words = isFlag
        ? written(command, camel(name), value, path)
        : isSet
          ? ["--set", `${camel(name)}=${textOf(camel(name), value, path)}`]
          : [];
      if (words.length === 0) continue;
      // What 0.2 printed with --print-config has all flags, those that nobody gave with their defaults.
      const isDefault = JSON.stringify(value) === JSON.stringify(option?.defaultValue);
      if (!isNamed && !isDefault && OUTWARD.has(camel(name))) throw outward(words[0], path);
      flags.push(words);
    }
  };
  add(values, false);
  const own = values[command.name()];
  if (typeof own === "object" && own !== null) add(own as Values, true);
  return flags;
}

const SETTING_NAMES: ReadonlySet<string> = new Set(SETTINGS.map(({ name }) => name));

/** A flag by its name in a file. */
const nameOf = (option: Option): string => camel(option.name().replace(option.negate ? /^no-/ : "", ""));

/** What is said of a flag that a file may not set unless it is named. */
const outward = (flag: string, path: string): Error =>
  usageError(
    `${path}: ${flag}: expected on the command line or in a file that is named, found in the ${path} of this folder; type ${flag}, or name the file: --config ${path}`,
  );

const camel = (name: string): string => name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** A flag as it would be typed. */
function written(command: Command, name: string, value: unknown, path: string): string[] {
  if (typeof value === "boolean") {
    // --header and --no-header are two flags of one name; some names have only one of them, the other being the default.
    const own = command.options.find((option) => nameOf(option) === name && option.negate === !value);
    return own?.long ? [own.long] : [];
  }
  if (Array.isArray(value) && value.length === 0) return [];
  return [`--${kebab(name)}`, textOf(name, value, path)];
}

/** A value as it would be typed. */
function textOf(name: string, value: unknown, path: string): string {
  if (value === null || value === undefined)
    throw usageError(`${path}: ${name}: expected a value that a flag can have, found ${JSON.stringify(value)}`);
  if (Array.isArray(value) && name !== "ngramRange") return value.join(",");
  return writtenValue(name, value);
}
