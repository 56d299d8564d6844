/** The command line of a program: what every program reads in the same way. */

import { argv, exit, stdout } from "node:process";
import { type ParseArgsConfig, parseArgs } from "node:util";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** What `parseArgs` gives for these options. */
type Parsed<Known extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; allowPositionals: true; options: Known }>
>["values"];

/** Reads the command line; refuses what it does not know. `--help` prints the text and ends the process. */
export function readArguments<const Known extends Options>(
  help: string,
  options: Known,
): { readonly values: Parsed<Known>; readonly names: readonly string[] } {
  const { values, positionals } = parseArgs({
    args: argv.slice(2),
    allowPositionals: true,
    options: { ...options, help: { type: "boolean", default: false } as const },
  });
  if ((values as { readonly help?: boolean }).help) {
    stdout.write(help);
    exit(0);
  }
  return { values: values as Parsed<Known>, names: positionals };
}

/** A whole number from `least`. */
export function wholeNumber(flag: string, text: string, least = 0): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new Error(`--${flag}: expected a whole number from ${least}, found ${text}`);
}

/** Refuses names that are none of those there are. */
export function checkNames(names: readonly string[], known: readonly string[]): void {
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`no ${unknown.join(", ")}; there are ${known.join(", ")}`);
}
