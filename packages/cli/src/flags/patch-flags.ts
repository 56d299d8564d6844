/** Patches of images, where a preset uses them: the size of windows, how many filters they are compared with, the grid and the number type of pooled values, and moved copies. */

import { PATCH_PARAMETERS } from "@ranksim/core";
import type { RecipeOptions } from "@ranksim/data";
import { type Command, Option } from "commander";
import { flagOf, parseParameter } from "./parameter-flags.ts";

type Patches = NonNullable<RecipeOptions["patches"]>;

/** The parameter of the windows that each flag gives. */
const FLAGS: { readonly [option: string]: keyof Patches } = {
  patchSize: "patch",
  patchFilters: "filters",
  patchGrid: "grid",
  patchBytes: "bytes",
  shiftedCopies: "shiftedCopies",
};

/** The options as commander names them. */
export const PATCH_OPTIONS: readonly string[] = Object.keys(FLAGS);

const GROUP = "Patches of images (presets other than paper):";

/** Adds a flag for each, and for a yes or no one that turns it off; a list makes windows of several sizes side by side. */
export function addPatchFlags(command: Command): Command {
  for (const [option, name] of Object.entries(FLAGS)) {
    const info = PATCH_PARAMETERS.find((each) => each.name === name);
    if (!info) throw new Error(`no parameter ${name}`);
    if (info.form === "flag") {
      command.addOption(new Option(flagOf(option), info.about).helpGroup(GROUP));
      command.addOption(new Option(withoutFlag(option), `the preset without ${flagOf(option)}`).helpGroup(GROUP));
      continue;
    }
    command.addOption(
      new Option(`${flagOf(option)} ${info.form === "counts" ? "<n,...>" : "<n>"}`, info.about)
        .helpGroup(GROUP)
        .argParser((text: string) => parseParameter(info, text)),
    );
  }
  return command;
}

const withoutFlag = (option: string): string => `--no-${flagOf(option).slice(2)}`;

/** The parameters that flags give. */
export function givenPatches(options: { readonly [name: string]: unknown }): Patches {
  const given = Object.entries(FLAGS).filter(([option]) => options[option] !== undefined);
  return Object.fromEntries(given.map(([option, name]) => [name, options[option]]));
}

/** The flags that were given. */
export function givenPatchFlags(options: { readonly [name: string]: unknown }): string[] {
  const given = PATCH_OPTIONS.filter((option) => options[option] !== undefined);
  return given.map((option) => (options[option] === false ? withoutFlag(option) : flagOf(option)));
}

/** The message with the library's names of these parameters as flags. */
export function speakPatchFlags(message: string): string {
  return message.replace(/\bpatches\.(\w+)/g, (said, name: string) => {
    const option = Object.keys(FLAGS).find((each) => FLAGS[each] === name);
    return option === undefined ? said : flagOf(option);
  });
}
