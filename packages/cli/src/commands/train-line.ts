/** The command line that trains what tuning chose: the flags that were typed for tuning, and the parameters of the choice. */

import { type Preset, TABLE_PARAMETERS } from "@ranksim/data";
import type { Command } from "commander";
import { estimatorName, parameterTables } from "../flags/estimator-flags.ts";
import { flagOf } from "../flags/parameter-flags.ts";
import { PATCH_OPTIONS } from "../flags/patch-flags.ts";
import { vectorizerTables } from "../flags/vectorizer-flags.ts";
import { quoted } from "../provenance.ts";

/** Flags as they were typed, by the name of their option. */
type TypedFlags = ReadonlyMap<string, { readonly flag: string; readonly value: string | undefined }>;

type Params = { readonly [name: string]: unknown };

/** What was chosen. */
interface Choice {
  readonly params: Params;
  /** The parameters that training has by the typed flags alone. */
  readonly usual: Params;
  /** Parameters to name in any case: those in which candidates differ, and those that training would choose by itself. */
  readonly named: readonly string[];
  readonly preset?: Preset;
}

/** What says how to tune, or where the work runs, and nothing of the model. */
const OF_TUNING = new Set([
  ...["folds", "seconds", "scoring", "try", "baselines", "out", "plot", "model", "groupColumn", "timeColumn"],
  ...["json", "quiet", "printConfig", "debug", "backend", "threads", "mpi", "memory"],
]);

/** What is said by another flag, or belongs to presets, where the choice is none. */
const OF_PRESETS = ["vectorizer", ...PATCH_OPTIONS];

/** Keeps the flags of a command as they are typed; to be called before the command line is read. */
export function keepTyped(command: Command): TypedFlags {
  const typed = new Map<string, { flag: string; value: string | undefined }>();
  for (const option of command.options) {
    command.on(`option:${option.name()}`, (value?: string | null) => {
      typed.set(option.attributeName(), { flag: option.long as string, value: value ?? undefined });
    });
  }
  return typed;
}

/** The line, for any data like that of tuning. */
export function trainLine(choice: Choice, typed: TypedFlags, options: { readonly [name: string]: unknown }): string {
  const { preset } = choice;
  const chosen = chosenFlags(choice);
  const vectorizer = String(options.vectorizer ?? "tfidf");
  const kind = preset
    ? [`--preset ${preset}`, ...(options.text === true ? ["--text"] : [])]
    : [
        `--estimator ${estimatorName(options)}`,
        ...(options.text === true ? [`--text --vectorizer ${vectorizer}`] : []),
      ];
  // A choice beside the preset is trained without it.
  const said = ["preset", "estimator", "text", "ignoreColumns", ...(preset ? [] : OF_PRESETS)];
  const kept = [...typed].filter(([name]) => !OF_TUNING.has(name) && !said.includes(name) && !chosen.has(name));
  const flags = kept.map(([, { flag, value }]) => (value === undefined ? flag : `${flag} ${quoted(value)}`));
  // Columns that say how to split are no features.
  const ignored = ["ignoreColumns", "groupColumn", "timeColumn"].flatMap((name) => typed.get(name)?.value ?? []);
  const columns = ignored.length === 0 ? [] : [`--ignore-columns ${quoted(ignored.join(","))}`];
  return ["ranksim train DATA --model FILE", ...kind, ...flags, ...columns, ...chosen.values()]
    .filter((part) => part !== "")
    .join(" ");
}

/** The flags of parameters that the typed flags alone would not give. */
function chosenFlags({ params, usual, named, preset }: Choice): ReadonlyMap<string, string> {
  const flags = new Map<string, string>();
  for (const [full, value] of Object.entries(params)) {
    const isNamed = preset === undefined && named.includes(full);
    if (!isNamed && JSON.stringify(value) === JSON.stringify(usual[full])) continue;
    const name = full.slice(full.lastIndexOf(".") + 1);
    flags.set(name, written(name, value));
  }
  // Another number of filters could be divided into another number of banks.
  const banks = Object.entries(params).findLast(([full]) => /(^|\.)committee$/.test(full))?.[1];
  if (preset && flags.has("filters") && Number(banks) > 1) flags.set("committee", written("committee", banks));
  return flags;
}

function written(name: string, value: unknown): string {
  if (typeof value === "boolean") {
    // A flag that is on by default is there to be taken away.
    const isOn = [...parameterTables(), ...vectorizerTables(), ...TABLE_PARAMETERS].some(
      (info) => info.name === name && info.default === true,
    );
    if (value === isOn) return "";
    return value ? flagOf(name) : `--no-${flagOf(name).slice(2)}`;
  }
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return `${flagOf(name)} ${quoted(value)}`;
  return `${flagOf(name)} ${quoted(name === "ngramRange" ? (value as number[]).join("-") : JSON.stringify(value))}`;
}
