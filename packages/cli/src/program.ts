/** All commands in one program. Each is told its world; nothing here reads or prints. */

import { Command } from "commander";
import { commandName } from "./command-name.ts";
import { addCompletion } from "./commands/completion.ts";
import { addCrossValidate } from "./commands/cross-validate.ts";
import { addData } from "./commands/data.ts";
import { addDemo } from "./commands/demo.ts";
import { addEvaluate } from "./commands/evaluate.ts";
import { addExplain } from "./commands/explain.ts";
import { addExport } from "./commands/export.ts";
import { addInspect } from "./commands/inspect.ts";
import { addPlay } from "./commands/play.ts";
import { addPredict } from "./commands/predict.ts";
import { addReport } from "./commands/report.ts";
import { addServe } from "./commands/serve.ts";
import { addSpikes } from "./commands/spikes.ts";
import { addTrain } from "./commands/train.ts";
import { addTransform } from "./commands/transform.ts";
import { addTune } from "./commands/tune.ts";
import { addUpdate } from "./commands/update.ts";
import type { Io } from "./io.ts";
import { versionOf } from "./provenance.ts";
import { styleOf } from "./terminal/style.ts";

const START: readonly (readonly [line: string, about: string])[] = [
  ["demo", "see it work, offline, in under a minute"],
  ["train digits --test-share 0.2 --model digits.ranksim", "train on a data set, a file or a folder, and judge"],
  ["predict digits.ranksim digits", "give rows their classes"],
  ["report digits.ranksim digits -o digits.html", "see what it has learned"],
  ["train --help", "every command has examples"],
];

function startText(io: Io): string {
  const name = commandName(io);
  const width = Math.max(...START.map(([line]) => line.length));
  const lines = START.map(([line, about]) => `  ${name} ${line.padEnd(width)}   ${about}\n`);
  return `\nStart here:\n${lines.join("")}\nExit codes: 0 done, 1 the data or the request is at fault, 2 the command line is, 130 interrupted, 143 ended.\n`;
}

/**
 * The program. What commander itself prints goes to `say`; help and usage errors are thrown as its errors, never ends of
 * the process.
 */
export function makeProgram(io: Io, say: (to: "stdout" | "stderr", text: string) => void): Command {
  const style = styleOf(io.stdout);
  const program = new Command("ranksim")
    .description("Rank similarity filters: train, predict, explain and report from the command line.")
    .version(versionOf(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand("help [command]", "print the help of a command")
    .option("--debug", "show where an error came from")
    .option("--config <file>", "flags in a JSON file (default: ranksim.json, where there is one)")
    .showHelpAfterError("(add --help for what there is)")
    .addHelpText("after", startText(io))
    .configureHelp({
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
  for (const add of [addTrain, addPredict, addEvaluate, addExplain, addReport]) add(program, io);
  for (const add of [
    addUpdate,
    addTransform,
    addCrossValidate,
    addTune,
    addInspect,
    addExport,
    addSpikes,
    addData,
    addPlay,
    addDemo,
    addCompletion,
  ])
    add(program, io);
  addServe(program, io, versionOf());
  return program;
}
