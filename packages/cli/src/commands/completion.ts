/** `ranksim completion`: what a shell needs to complete commands, flags and their choices. */

import { catalogue } from "@ranksim/data";
import { Argument, type Command } from "commander";
import type { Io } from "../io.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

const NOTES = `
Once in every shell, or in its start file:
  eval "$(ranksim completion bash)"                  in ~/.bashrc
  eval "$(ranksim completion zsh)"                   in ~/.zshrc, after compinit
  ranksim completion fish | source                   in ~/.config/fish/config.fish
`;

/** Adds the command. */
export function addCompletion(program: Command, io: Io): void {
  program
    .command("completion")
    .summary("complete commands and flags in the shell")
    .description("Prints what a shell needs to complete the commands and flags of ranksim.")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .addHelpText("after", NOTES)
    .action(async (shell: (typeof SHELLS)[number]) => {
      await io.stdout.write(
        shell === "fish"
          ? fish(program)
          : shell === "zsh"
            ? `autoload -U +X bashcompinit && bashcompinit\n${bash(program)}`
            : bash(program),
      );
    });
}

const names = (program: Command): string[] => program.commands.map((command) => command.name());

const flags = (command: Command): string[] =>
  command.options.filter((option) => !option.hidden).flatMap((option) => (option.long ? [option.long] : []));

/** Where DATA is expected, data sets are offered as well as files. */
const dataSets = (): string => catalogue.map((entry) => entry.name).join(" ");

function bash(program: Command): string {
  const cases = program.commands.flatMap((command) => {
    const inner = command.commands.map((one) => one.name()).join(" ");
    return [`    ${command.name()}) words="${[inner, ...flags(command)].filter((word) => word !== "").join(" ")}" ;;`];
  });
  const choices = [
    ...new Map(
      program.commands.flatMap((command) =>
        command.options
          .filter((option) => option.argChoices && option.long)
          .map((option) => [option.long as string, (option.argChoices as string[]).join(" ")]),
      ),
    ),
  ];
  return `_ranksim() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  case "$before" in
${choices.map(([flag, values]) => `    ${flag}) COMPREPLY=($(compgen -W "${values}" -- "$word")); return ;;`).join("\n")}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names(program).join(" ")} help --help --version" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "\${words%%--*} ${dataSets()}" -- "$word") $(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -o bashdefault -F _ranksim ranksim
`;
}

function fish(program: Command): string {
  const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = program.commands.flatMap((command) => [
    `complete -c ranksim -n __fish_use_subcommand -a ${command.name()} -d ${quoted(command.summary())}`,
    ...command.options
      .filter((option) => !option.hidden && option.long)
      .map((option) => {
        const takes = option.argChoices
          ? ` -x -a ${quoted(option.argChoices.join(" "))}`
          : option.required
            ? " -r"
            : "";
        return `complete -c ranksim -n '__fish_seen_subcommand_from ${command.name()}' -l ${(option.long as string).slice(2)}${takes} -d ${quoted(option.description.split(";")[0])}`;
      }),
  ]);
  return `${lines.join("\n")}\n`;
}
