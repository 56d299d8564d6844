/** The command line that trains what tuning chose: the flags that were typed for tuning, and the parameters of the choice. */

import type { Preset } from "@ranksim/learn";
import type { Command } from "commander";
import { flagOf, SETTINGS } from "../flags/parameters.ts";
import { estimatorName, type PlanFlags } from "../flags/plan-flags.ts";
import { writtenValue } from "../flags/values.ts";
import { quoted } from "../provenance.ts";

/** Flags as they were typed. */
type TypedFlags = readonly { readonly flag: string; readonly value: string | undefined }[];

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

/** What says how to tune, or where the work runs, and nothing of the model; and what the choice says. */
const LEFT_OUT = new Set(
  [
    ...["folds", "seconds", "scoring", "try", "baselines", "out", "plot", "model"],
    ...["json", "quiet", "debug", "backend", "threads", "mpi", "memory"],
    ...["preset", "estimator", "text"],
  ].map((name) => `--${name}`),
);

/** Keeps the flags of a command as they are typed; to be called before the command line is read. */
export function keepTyped(command: Command): TypedFlags {
  const typed: { flag: string; value: string | undefined }[] = [];
  for (const option of command.options) {
    command.on(`option:${option.name()}`, (value?: string | null) => {
      typed.push({ flag: option.long as string, value: value ?? undefined });
    });
  }
  return typed;
}

/** The line, for any data like that of tuning. */
export function trainLine(choice: Choice, typed: TypedFlags, options: PlanFlags): string {
  const { preset } = choice;
  const chosen = chosenParams(choice);
  const kind = [
    preset ? `--preset ${preset}` : `--estimator ${estimatorName(options)}`,
    ...(options.text === true ? ["--text"] : []),
    ...(options.text === true && !preset ? [`--set vectorizer=${String(options.vectorizer ?? "tfidf")}`] : []),
  ];
  const isSaid = (flag: string, value = "") => {
    const name = flag === "--set" ? value.slice(0, value.indexOf("=")) : "";
    // A choice beside the preset is trained without it.
    const isOfPreset = name === "vectorizer" || name.startsWith("patches.");
    return LEFT_OUT.has(flag) || chosen.has(name) || (!preset && isOfPreset);
  };
  const own = new Set([...chosen.keys()].map(flagOf));
  const kept = typed
    .filter(({ flag, value }) => !isSaid(flag, value) && !own.has(flag))
    .sort((a, b) => Number(isSplit(a)) - Number(isSplit(b)))
    .map(({ flag, value }) =>
      value === undefined ? flag : `${flag} ${quoted(flag === "--columns" ? value.replace(SPLIT, ":ignore") : value)}`,
    );
  const flags = [...chosen].map(([name, value]) => {
    const flag = flagOf(name);
    return flag ? `${flag} ${quoted(value)}` : `--set ${quoted(`${name}=${value}`)}`;
  });
  return ["ranksim train DATA --model FILE", ...kind, ...kept, ...flags].join(" ");
}

/** Columns that say how to split are no features; they are left out after all others. */
const SPLIT = /:(group|time)(?=,|$)/g;
const isSplit = ({ flag, value = "" }: TypedFlags[number]): boolean => flag === "--columns" && value.search(SPLIT) >= 0;

/** The parameters that the typed flags alone would not give, as they are written. */
function chosenParams({ params, usual, named, preset }: Choice): ReadonlyMap<string, string> {
  const chosen = new Map<string, string>();
  for (const [full, value] of Object.entries(params)) {
    const isNamed = preset === undefined && named.includes(full);
    if (value === null || value === undefined) continue;
    if (!isNamed && JSON.stringify(value) === JSON.stringify(usual[full])) continue;
    const name = nameIn(full);
    chosen.set(name, writtenValue(name, value));
  }
  // Another number of filters could be divided into another number of banks.
  const banks = Object.entries(params).findLast(([full]) => /(^|\.)committee$/.test(full))?.[1];
  if (preset && chosen.has("filters") && Number(banks) > 1) chosen.set("committee", writtenValue("committee", banks));
  return chosen;
}

/** The name of a parameter, which pipelines put that of its step before. */
const nameIn = (full: string): string =>
  SETTINGS.some(({ name }) => name === full) ? full : full.slice(full.lastIndexOf(".") + 1);
