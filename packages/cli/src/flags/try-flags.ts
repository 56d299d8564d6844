/** `--try NAME=VALUES`: the values of a parameter that tuning is to choose from, written as --set takes them. */

import type { Grid } from "@ranksim/learn";
import { InvalidArgumentError } from "commander";
import { type Group, settingNamed } from "./parameters.ts";
import { parseValue } from "./values.ts";

const GROUPS: readonly Group[] = ["estimator", "patches", "text", "table"];

/** Adds one --try to those before it. */
export function addTry(text: string, before: Grid | undefined, cwd: string): Grid {
  const [, given, list] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (given === undefined) throw new InvalidArgumentError("Expected NAME=VALUE,VALUE, such as filters=10,100,auto.");
  const setting = settingNamed(given, GROUPS);
  return { ...before, [setting.name]: list.split(",").map((value) => parseValue(setting, value, cwd)) };
}
