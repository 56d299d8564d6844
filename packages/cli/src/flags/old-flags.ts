/**
 * Flags of 0.2 and what says the same now: one table. They work for this version with a note, or are refused with what to do
 * instead; no help shows them.
 */

import type { EventEmitter } from "node:events";
import { type Command, Option } from "commander";
import { noteFor } from "./notes.ts";
import { flagOf, type Group, SETTINGS } from "./parameters.ts";
import { usageError } from "./usage-error.ts";
import { kebab } from "./values.ts";

/** An old flag: the new flag and its value, or why there is none. */
export interface OldFlag {
  readonly flag: string;
  /** Whether it takes a value. */
  readonly takes: boolean;
  readonly now: ((value: string) => readonly [flag: string, value: string]) | string;
  /** The group of parameters, or the new flag, that a command must have for the old one to have been there. */
  readonly of: Group | string;
}

const role = (flag: string, name: string): OldFlag => ({
  ...{ flag, takes: true, of: "--columns" },
  now: (value) => [
    "--columns",
    value
      .split(",")
      .map((column) => `${column}:${name}`)
      .join(","),
  ],
});

const set = (flag: string, takes: boolean, name: string, of: Group, fixed = ""): OldFlag => ({
  ...{ flag, takes, of },
  now: (value) => ["--set", `${name}=${takes ? value : fixed}`],
});

const PATCH_FLAGS: { readonly [name: string]: string } = {
  "patches.patch": "--patch-size",
  "patches.filters": "--patch-filters",
  "patches.grid": "--patch-grid",
  "patches.bytes": "--patch-bytes",
  "patches.shiftedCopies": "--shifted-copies",
};

/** Parameters that version 0.2 did not have. */
const NEW = ["layer"];

/** Every parameter had a flag of its own; yes and no were two. */
const OF_PARAMETERS = SETTINGS.filter(({ name }) => flagOf(name) === undefined && !NEW.includes(name)).flatMap(
  (setting): OldFlag[] => {
    const { name, form, group } = setting;
    const flag = PATCH_FLAGS[name] ?? `--${kebab(name)}`;
    if (flag.includes(".")) return [];
    if (form !== "flag") return [set(flag, true, name, group)];
    const no = `--no-${flag.slice(2)}`;
    return [
      ...(setting.default === true ? [] : [set(flag, false, name, group, "true")]),
      ...(setting.default === false && group !== "patches" ? [] : [set(no, false, name, group, "false")]),
    ];
  },
);

/** All of them. */
export const OLD_FLAGS: readonly OldFlag[] = [
  { flag: "--label-column", takes: true, of: "--columns", now: (value) => ["--label", value] },
  role("--text-column", "text"),
  role("--ignore-columns", "ignore"),
  role("--group-column", "group"),
  role("--time-column", "time"),
  role("--weight-column", "weight"),
  role("--id-column", "id"),
  ...OF_PARAMETERS,
  {
    ...{ flag: "--trace", takes: false, of: "--json" },
    now: "the report of every class and iteration is in what ranksim inspect MODEL --json prints",
  },
  {
    ...{ flag: "--print-config", takes: false, of: "--json" },
    now: "write flags into ranksim.json by the names that --help all shows",
  },
  {
    ...{ flag: "--checkpoint-minutes", takes: true, of: "--checkpoint" },
    now: "a checkpoint is written after each round",
  },
];

/** An option that no help shows; its value is nowhere but in that of the new flag. */
class OldOption extends Option {
  override attributeName(): string {
    return `old ${this.name()}`;
  }
}

/** Adds the old flags of a command whose new ones are there. */
export function addOldFlags(command: Command): void {
  const has = (flag: string) => command.options.some((option) => option.long === flag);
  for (const { flag, takes, now, of } of OLD_FLAGS) {
    if (has(flag) || !has(of === "reading" ? "--set" : of.startsWith("--") ? of : "--preset")) continue;
    const option = new OldOption(takes ? `${flag} <value>` : flag).hideHelp();
    command.addOption(option);
    command.on(`option:${option.name()}`, (value: string) => {
      if (typeof now === "string") throw usageError(`${flag} is gone: ${now}`);
      const [instead, text] = now(value);
      noteFor(command, `${flag} of 0.2 is now ${instead} ${text}`);
      (command as unknown as EventEmitter).emit(`option:${instead.slice(2)}`, text);
    });
  }
}
