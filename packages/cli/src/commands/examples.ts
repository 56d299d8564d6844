/**
 * The examples of every command's help. They are run by the tests in this order, in a folder that holds the files named
 * in `EXAMPLE_FILES`, so none of them can be wrong.
 */

import type { Command } from "commander";

/** A command line and what it does. */
export interface Example {
  readonly line: string;
  readonly about: string;
}

/** The names of files that the examples read and do not make. */
export const EXAMPLE_FILES = ["plants.csv", "reviews.csv", "new-reviews.txt"] as const;

/** Examples of commands that do not end by themselves; their own tests run them. */
export const ENDLESS_EXAMPLES: { readonly [command: string]: readonly Example[] } = {
  serve: [
    { line: "ranksim serve digits.ranksim", about: "on this machine alone, port 8080" },
    {
      line: "ranksim serve digits.ranksim reviews.ranksim --port 9000 --watch",
      about: "two models, swapped when their files change",
    },
  ],
  play: [
    { line: "ranksim play", about: "the embedded digits, or data that you drop on the page" },
    { line: "ranksim play digits.ranksim", about: "the same, opened with a model" },
    { line: "ranksim play plants.ranksim plants.csv", about: "the same, with rows to look at" },
  ],
};

/** Examples by command, in the order in which they work. */
export const EXAMPLES: { readonly [command: string]: readonly Example[] } = {
  train: [
    {
      line: "ranksim train digits --test-share 0.2 --model digits.ranksim",
      about: "a data set by name, judged by a fifth of its rows",
    },
    {
      line: "ranksim train digits --preset paper -m plain.ranksim",
      about: "the paper's plain method: filters are pictures, and can be exported",
    },
    {
      line: "ranksim train plants.csv --label species -m plants.ranksim",
      about: "a table, its classes in one column",
    },
    {
      line: "ranksim train reviews.csv --text --columns review:text --label stars -m reviews.ranksim",
      about: "text: the model takes raw text afterwards",
    },
    {
      line: "ranksim train digits --estimator transform --filters 150 -m features.ranksim",
      about: "no classes: rows become similarities to 150 filters",
    },
    {
      line: "ranksim train digits:train --filters 200 --keep-sums -m growing.ranksim",
      about: "a model that keeps what it needs to grow",
    },
  ],
  predict: [
    { line: "ranksim predict digits.ranksim digits --out answers.csv", about: "a table of answers" },
    {
      line: "ranksim predict plants.ranksim plants.csv --probabilities",
      about: "to the terminal, with probabilities",
    },
    {
      line: "echo 'a lovely film' | ranksim predict reviews.ranksim -",
      about: "text, one on each line, from standard input",
    },
  ],
  transform: [
    { line: "ranksim transform features.ranksim digits --out features.npz", about: "opens with scipy.sparse.load_npz" },
  ],
  evaluate: [
    { line: "ranksim evaluate growing.ranksim digits:test", about: "scores, classes, confusion matrix" },
    {
      line: "ranksim evaluate growing.ranksim digits:test --baselines digits:train",
      about: "beside what simple methods reach",
    },
    {
      line: "ranksim evaluate plants.ranksim plants.csv --json",
      about: "the same for programs",
    },
  ],
  "cross-validate": [
    { line: "ranksim cross-validate digits --folds 5 --filters 200", about: "five folds with 200 filters" },
  ],
  update: [{ line: "ranksim update growing.ranksim digits:test", about: "more rows, without the first ones" }],
  tune: [
    { line: "ranksim tune digits:train --seconds 10 --out tuning.html", about: "what suits the data, in ten seconds" },
    {
      line: "ranksim tune plants.csv --label species --try filters=3,6,12 --try distribution=rank,savage -m best.ranksim",
      about: "among these; the best is trained and saved",
    },
  ],
  export: [
    { line: "ranksim export plain.ranksim --to onnx --rows uint8 --out digits.onnx", about: "for ONNX runtimes" },
    {
      line: "ranksim export plain.ranksim --to c --out digits.h",
      about: "for microcontrollers: int digits_predict(row)",
    },
    { line: "ranksim export plain.ranksim --to nir --out digits.nir", about: "for simulators of spiking neurons" },
  ],
  spikes: [
    {
      line: "ranksim spikes plain.ranksim digits --rows 200 --out spikes.html",
      about: "the class over time, one row in motion",
    },
  ],
  inspect: [{ line: "ranksim inspect digits.ranksim", about: "kind, size, classes, parameters, digest" }],
  doctor: [{ line: "ranksim doctor", about: "back ends, GPU, threads, memory, and a short speed test" }],
  explain: [
    { line: "ranksim explain plain.ranksim digits --row 3", about: "the filters that decided, as pictures" },
    { line: "ranksim explain reviews.ranksim new-reviews.txt --row 0", about: "the words that decided" },
  ],
  report: [
    { line: "ranksim report digits.ranksim digits --out digits.html", about: "one page, complete in itself" },
    { line: "ranksim report reviews.ranksim reviews.csv -o reviews.html", about: "of a model of text" },
  ],
  nearest: [
    {
      line: "ranksim nearest plain.ranksim digits:test --among digits:train --k 3 -o nearest.csv",
      about: "the three training rows most like each row",
    },
  ],
  "keep-rows": [
    {
      line: "ranksim keep-rows plain.ranksim digits:train -m kept.ranksim",
      about: "a model and the rows it learned from",
    },
    { line: "ranksim explain kept.ranksim digits:test --row 3", about: "now explained by the rows most like one" },
  ],
  map: [{ line: "ranksim map digits.ranksim digits --out map.html", about: "all rows in one picture" }],
  "data list": [{ line: "ranksim data list", about: "what there is, and what is here already" }],
  "data info": [{ line: "ranksim data info fashion-mnist", about: "source, licence, citation" }],
  "data path": [{ line: "ranksim data path digits", about: "where it is" }],
  "data fetch": [{ line: "ranksim data fetch digits", about: "download it, if it is not here" }],
  demo: [{ line: "ranksim demo", about: "under a minute, needs no network" }],
};

/** The examples of a command as they stand in its help; undefined where it has none. */
export function exampleText(command: Command): string | undefined {
  const { parent } = command;
  const name = parent?.parent ? `${parent.name()} ${command.name()}` : command.name();
  const examples = { ...EXAMPLES, ...ENDLESS_EXAMPLES }[name];
  return examples && `Examples:\n${examples.map(({ line, about }) => `  # ${about}\n  ${line}`).join("\n")}`;
}
