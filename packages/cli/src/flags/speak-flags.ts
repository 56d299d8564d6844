/**
 * The library's messages name its options and parameters; on the command line these are flags. Names in
 * camelCase can mean nothing else and are replaced wherever they stand; a name that is also a word only where it stands as
 * a name: in backquotes, or before the colon of a refusal.
 */

import { parameterTables } from "./estimator-flags.ts";
import { flagOf } from "./parameter-flags.ts";
import { speakPatchFlags } from "./patch-flags.ts";
import { READING_NAMES } from "./reading-flags.ts";
import { vectorizerTables } from "./vectorizer-flags.ts";

/** The message in words of the command line. */
export function speakFlags(message: string): string {
  const names = [
    ...READING_NAMES,
    "table",
    "keep",
    ...[...parameterTables(), ...vectorizerTables()].map(({ name }) => name),
  ];
  const any = names.join("|");
  const camel = names.filter((name) => /[A-Z]/.test(name)).join("|");
  return speakPatchFlags(message)
    .replace(new RegExp(`(?:the option |the parameter )?\`(${any})\``, "g"), (_, name: string) => flagOf(name))
    .replace(
      new RegExp(`(^|: )(?:parameter )?(${any})(?=(?:, [a-z]+ \\d+)?: )`, "g"),
      (_, before: string, name: string) => before + flagOf(name),
    )
    .replace(new RegExp(`(?<![\\w-])(?:parameter )?(${camel})\\b`, "g"), (_, name: string) => flagOf(name))
    .replace(/(--[a-z-]+): true\b/g, "$1")
    .replace(/\bpartialFit\b/g, "update");
}
