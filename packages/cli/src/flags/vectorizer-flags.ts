/** The text vectorisers by name, and their parameters as flags. */

import type { ParameterInfo } from "@ranksim/core";
import {
  COUNT_PARAMETERS,
  CountVectorizer,
  HASHING_PARAMETERS,
  HashingVectorizer,
  TFIDF_PARAMETERS,
  TfidfVectorizer,
} from "@ranksim/data";
import { type Command, Option } from "commander";
import { aboutParameter, addFlags, flagOf, settled } from "./parameter-flags.ts";
import { usageError } from "./usage-error.ts";

type VectorizerName = "count" | "tfidf" | "hashing";

/** A vectoriser of any kind. */
type Vectorizer = CountVectorizer | TfidfVectorizer | HashingVectorizer;

const TABLES: { readonly [name in VectorizerName]: readonly ParameterInfo[] } = {
  count: COUNT_PARAMETERS,
  tfidf: TFIDF_PARAMETERS,
  hashing: HASHING_PARAMETERS,
};

const NAMES = Object.keys(TABLES) as VectorizerName[];
const ALL: readonly ParameterInfo[] = [
  ...TFIDF_PARAMETERS,
  ...HASHING_PARAMETERS.filter(({ name }) => !TFIDF_PARAMETERS.some((info) => info.name === name)),
];
const GROUP = "Text:";

/** The tables of all parameters of vectorisers. */
export const vectorizerTables = (): readonly ParameterInfo[] => ALL;

/** Adds --text, --vectorizer and a flag for each parameter of the vectorisers. */
export function addVectorizerFlags(command: Command): Command {
  command.addOption(new Option("--text", "rows are text; the model takes raw text").helpGroup(GROUP));
  command.addOption(
    new Option("--vectorizer <name>", "how text becomes numbers (default: count)").choices(NAMES).helpGroup(GROUP),
  );
  addFlags(command, ALL, GROUP, (info) => {
    const owners = NAMES.filter((name) => TABLES[name].some((other) => other.name === info.name));
    return aboutParameter(info) + (owners.length === NAMES.length ? "" : `; ${owners.join(", ")}`);
  });
  return command;
}

/** The vectoriser that the flags describe. */
export async function vectorizerOf(options: { readonly [name: string]: unknown }, cwd: string): Promise<Vectorizer> {
  const name = (options.vectorizer as VectorizerName | undefined) ?? "count";
  const params: Record<string, unknown> = {};
  for (const info of ALL) {
    if (!isGiven(info, options)) continue;
    const owners = NAMES.filter((other) => TABLES[other].some((known) => known.name === info.name));
    if (!owners.includes(name)) {
      throw usageError(`${flagOf(info.name)} belongs to --vectorizer ${owners.join(" or ")}, found ${name}`);
    }
    params[info.name] = await settled(info.name, options[info.name], cwd);
  }
  switch (name) {
    case "count":
      return new CountVectorizer(params);
    case "tfidf":
      return new TfidfVectorizer(params);
    case "hashing":
      return new HashingVectorizer(params);
  }
}

/** The flags of a vectoriser among the options, for a refusal where there is no text. */
export function givenVectorizerFlags(options: { readonly [name: string]: unknown }): string[] {
  return givenVectorizerParams(options).map(flagOf);
}

/** The names of parameters of vectorisers that were given. */
export function givenVectorizerParams(options: { readonly [name: string]: unknown }): string[] {
  return ALL.filter((info) => isGiven(info, options)).map(({ name }) => name);
}

/** Flags that are on by default (--no-lowercase) are there without being given. */
function isGiven({ form, default: standard, name }: ParameterInfo, options: { readonly [name: string]: unknown }) {
  return options[name] !== undefined && !(form === "flag" && options[name] === standard);
}
