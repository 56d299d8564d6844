/** Rows held out, and the columns that say how rows are split and how much each counts. */

import type { AnyRows } from "@ranksim/data";
import type { SplitColumn } from "@ranksim/learn";
import { type Command, Option } from "commander";
import { usageError } from "../flags/usage-error.ts";
import { shareBelowOne } from "../flags/values.ts";

/** Adds --test-share. */
export function addTestShare(command: Command): Command {
  return command.addOption(
    new Option("--test-share <share>", "hold this share of the rows out of training and judge the model by them")
      .argParser(shareBelowOne)
      .helpGroup("Judging:"),
  );
}

/** How the rows are split, where a column says so. */
export function splitOf({ groups, times }: AnyRows): SplitColumn {
  if (groups && times) throw usageError("--columns: expected a column of groups or one of times, found both");
  if (groups) return { groups };
  return times instanceof Float64Array ? { times } : {};
}
