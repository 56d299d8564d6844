/**
 * The program and its commands. Each command is given its surroundings (streams, signal, environment); nothing here reads or prints. A command's module is loaded when
 * it is asked for: all of them together take longer to load than a small model takes to answer.
 */

import { Command, Help, Option } from "commander";
import { commandName } from "./command-name.ts";
import { exampleText } from "./commands/examples.ts";
import { addOldFlags } from "./flags/old-flags.ts";
import type { Io } from "./io.ts";
import { versionOf } from "./provenance.ts";
import { RUNNING } from "./session.ts";
import { styleOf } from "./terminal/style.ts";

const START: readonly (readonly [line: string, about: string])[] = [
  ["demo", "see it work, offline, in under a minute"],
  ["train digits --test-share 0.2 --model digits.ranksim", "train on a data set, a file or a folder, and judge"],
  ["predict digits.ranksim digits", "give rows their classes"],
  ["report digits.ranksim digits -o digits.html", "see what it has learned"],
  ["train --help", "every command has examples; --help all shows every parameter"],
];

function startText(io: Io): string {
  const name = commandName(io);
  const width = Math.max(...START.map(([line]) => line.length));
  const lines = START.map(([line, about]) => `  ${name} ${line.padEnd(width)}   ${about}\n`);
  return `\nStart here:\n${lines.join("")}\nExit codes: 0 done, 1 error in data or request, 2 usage error, 130 interrupted, 143 ended.\n`;
}

type Add = (program: Command, io: Io) => void;

/** Flags that --help all shows. */
const RARE = {
  has: ({ long }: { long?: string | undefined }) => ["--no-rows", "--mpi", "--debug"].includes(long ?? ""),
};

/** Every command, in the order of the help. */
const COMMANDS: { readonly [name: string]: () => Promise<Add> } = {
  train: async () => (await import("./commands/train.ts")).addTrain,
  predict: async () => (await import("./commands/predict.ts")).addPredict,
  evaluate: async () => (await import("./commands/evaluate.ts")).addEvaluate,
  explain: async () => (await import("./commands/explain.ts")).addExplain,
  report: async () => (await import("./commands/report.ts")).addReport,
  update: async () => (await import("./commands/update.ts")).addUpdate,
  transform: async () => (await import("./commands/transform.ts")).addTransform,
  nearest: async () => (await import("./commands/nearest.ts")).addNearest,
  "keep-rows": async () => (await import("./commands/keep-rows.ts")).addKeepRows,
  map: async () => (await import("./commands/map.ts")).addMap,
  "cross-validate": async () => (await import("./commands/cross-validate.ts")).addCrossValidate,
  tune: async () => (await import("./commands/tune.ts")).addTune,
  inspect: async () => (await import("./commands/inspect.ts")).addInspect,
  export: async () => (await import("./commands/export.ts")).addExport,
  spikes: async () => (await import("./commands/spikes.ts")).addSpikes,
  doctor: async () => (await import("./commands/doctor.ts")).addDoctor,
  data: async () => (await import("./commands/data.ts")).addData,
  play: async () => (await import("./commands/play.ts")).addPlay,
  demo: async () => (await import("./commands/demo.ts")).addDemo,
  completion: async () => (await import("./commands/completion.ts")).addCompletion,
  serve: async () => (await import("./commands/serve.ts")).addServe,
};

/**
 * The one command that a line needs, or undefined where all are needed: for help and completion, which show them all, and for a
 * word that is none of them, which may be meant for one.
 */
export function commandOf(argv: readonly string[]): string | undefined {
  const word = argv.find((one) => !one.startsWith("-"));
  return word !== undefined && word !== "completion" && Object.hasOwn(COMMANDS, word) ? word : undefined;
}

/**
 * The program, with all commands or `only` one. What commander itself prints goes to `say`; help and usage errors are thrown as its errors, never ends of
 * the process. `helpAll`: whether help shows all there is, rare flags and parameters too.
 */
export async function makeProgram(
  io: Io,
  say: (to: "stdout" | "stderr", text: string) => void,
  { only, helpAll = false }: { readonly only?: string | undefined; readonly helpAll?: boolean } = {},
): Promise<Command> {
  const style = styleOf(io.stdout);
  const program = new Command("ranksim")
    .description("Rank similarity filters: train, predict, explain and report from the command line.")
    .version(versionOf(), "-V, --version", "print the version")
    .addHelpOption(new Option("-h, --help", "print help; --help all: all there is").helpGroup(RUNNING))
    .helpCommand("help [command]", "print the help of a command")
    .option("--debug", "show where an error came from")
    .option(
      "--config <file>",
      "flags in a JSON file (default: ranksim.json, where there is one, for flags that write and open nothing)",
    )
    .showHelpAfterError("(add --help for what there is)")
    .addHelpText("after", startText(io))
    .configureHelp({
      visibleOptions(command) {
        const shown = Help.prototype.visibleOptions.call(this, command);
        return helpAll ? [...command.options.filter((option) => RARE.has(option)), ...shown] : shown;
      },
      formatHelp(command, helper) {
        // Examples come first, after what the command does.
        const [usage, about, ...rest] = Help.prototype.formatHelp.call(this, command, helper).split("\n\n");
        const examples = command.parent ? exampleText(command) : undefined;
        return [usage, about, ...(examples === undefined ? [] : [examples]), ...rest].join("\n\n");
      },
      helpWidth: Math.min(io.stdout.columns, 110),
      styleTitle: style.strong,
      styleOptionTerm: style.accent,
      styleSubcommandTerm: style.accent,
      styleArgumentTerm: style.accent,
    })
    .configureOutput({
      writeOut: (text) => say("stdout", text),
      writeErr: (text) => say("stderr", text),
      getOutHasColors: () => io.stdout.colourDepth > 1,
      getErrHasColors: () => io.stderr.colourDepth > 1,
      outputError: (text, write) => write(text.replace(/^error:/, styleOf(io.stderr).bad("error:"))),
    })
    .exitOverride();
  const wanted = only === undefined ? Object.values(COMMANDS) : [COMMANDS[only]];
  for (const add of await Promise.all(wanted.map((load) => load()))) add(program, io);
  for (const command of program.commands) addOldFlags(command);
  program.setOptionValue("helpAll", helpAll);
  return program;
}
