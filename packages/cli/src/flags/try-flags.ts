/** `--try NAME=VALUES`: the values of a parameter that tuning is to choose from, written as the parameter's flag takes them. */

import type { Grid } from "@ranksim/core";
import { didYouMean, TABLE_PARAMETERS } from "@ranksim/data";
import { InvalidArgumentError } from "commander";
import { parameterTables } from "./estimator-flags.ts";
import { flagOf, parseParameter } from "./parameter-flags.ts";
import { vectorizerTables } from "./vectorizer-flags.ts";

/** Adds one --try to those before it. */
export function addTry(text: string, before: Grid | undefined): Grid {
  const [, given = "", list = ""] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  const infos = [...parameterTables(), ...vectorizerTables(), ...TABLE_PARAMETERS];
  const info = infos.find(({ name }) => name === given || flagOf(name) === `--${given}`);
  if (!info) {
    const hint = didYouMean(
      given,
      infos.map(({ name }) => name),
    );
    throw new InvalidArgumentError(
      `Expected NAME=VALUE,VALUE with the name of a parameter, such as filters=10,100,auto${hint}.`,
    );
  }
  const values =
    info.form === "flag" ? list.split(",").map(flagValue) : list.split(",").map((value) => parseParameter(info, value));
  return { ...before, [info.name]: values };
}

function flagValue(text: string): boolean {
  if (text === "true" || text === "false") return text === "true";
  throw new InvalidArgumentError("Expected true, false or both.");
}
