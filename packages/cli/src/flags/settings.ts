/** `--set name=value`, and the flags that some parameters have of their own. */

import { type Command, Option } from "commander";
import type { Io } from "../io.ts";
import { flagOf, GROUPS, type Group, SETTINGS, type Setting, settingOf } from "./parameters.ts";
import { aboutParameter, argumentOf, parseValue } from "./values.ts";

/** Adds the flags of those parameters of a group that have one. */
export function addOwnFlags(command: Command, group: Group, heading: string, { cwd }: Io): Command {
  for (const setting of SETTINGS) {
    const flag = setting.group === group ? flagOf(setting.name) : undefined;
    if (flag === undefined) continue;
    const isOn = setting.form === "flag";
    const { form, choices = [] } = setting;
    const argument = form === "choice" ? "name" : argumentOf(setting);
    const option = new Option(isOn ? flag : `${flag} <${argument}>`, aboutParameter(setting));
    if (form === "choice") option.choices(choices);
    else if (!isOn) option.argParser((text: string) => parseValue(setting, text, cwd));
    command.addOption(option.helpGroup(heading));
  }
  return command;
}

/** Adds --set for the parameters of these groups. Their values are options of the command by their names. */
export function addSet(command: Command, groups: readonly Group[], heading: string, { cwd }: Io): Command {
  const option = new Option("--set <name=value>", "any other parameter; repeatable, --help all lists them")
    .argParser((text: string, before: readonly string[] | undefined) => {
      const [name, value] = settingOf(text, groups, cwd);
      command.setOptionValueWithSource(name, value, "cli");
      return [...(before ?? []), text];
    })
    .helpGroup(heading);
  return command.addOption(option).addHelpText("after", ({ command: { parent } }) => {
    return parent?.getOptionValue("helpAll") ? settingsText(groups) : "";
  });
}

/** All parameters of the groups, for --help all. */
function settingsText(groups: readonly Group[]): string {
  return groups
    .map((group) => {
      const lines = SETTINGS.filter((setting) => setting.group === group).map(
        (setting) => `  ${setting.name}=${argumentOf(setting)}\n      ${aboutText(setting)}\n`,
      );
      return `\nParameters ${GROUPS[group]} (--set name=value):\n${lines.join("")}`;
    })
    .join("");
}

/** The classifier of a table with several estimators has defaults of its own. */
function aboutText(setting: Setting): string {
  const all = setting.group === "estimator" ? 3 : setting.group === "text" ? 3 : 0;
  const { owners } = setting;
  const own = owners.length === 0 || owners.length === all ? "" : `; ${owners.join(" and ")} only`;
  return aboutParameter(setting) + own;
}
