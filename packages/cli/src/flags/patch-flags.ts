/** Windows of images, where a preset looks at patches: their size, how many filters they are compared with, and the grid they are pooled in. */

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
};

/** Adds a flag for each; a list makes windows of several sizes side by side. */
export function addPatchFlags(command: Command): Command {
  for (const [option, name] of Object.entries(FLAGS)) {
    const info = PATCH_PARAMETERS.find((each) => each.name === name);
    if (!info) throw new Error(`no parameter ${name}`);
    command.addOption(
      new Option(`${flagOf(option)} <n,...>`, info.about)
        .helpGroup("Patches of images (presets other than paper):")
        .argParser((text: string) => parseParameter(info, text)),
    );
  }
  return command;
}

/** The parameters that flags give. */
export function givenPatches(options: { readonly [name: string]: unknown }): Patches {
  const given = Object.entries(FLAGS).filter(([option]) => options[option] !== undefined);
  return Object.fromEntries(given.map(([option, name]) => [name, options[option]]));
}

/** The flags that were given. */
export function givenPatchFlags(options: { readonly [name: string]: unknown }): string[] {
  return Object.keys(FLAGS)
    .filter((option) => options[option] !== undefined)
    .map(flagOf);
}

/** The message with the library's names of these parameters as flags. */
export function speakPatchFlags(message: string): string {
  return message.replace(/\bpatches\.(\w+)/g, (said, name: string) => {
    const option = Object.keys(FLAGS).find((each) => FLAGS[each] === name);
    return option === undefined ? said : flagOf(option);
  });
}
