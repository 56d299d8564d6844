/** Results of the experiments: a file for each, written whole after every seed, and the page made from them. */

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spread, table } from "../bench/show.ts";
import { type Experiment, type Figures, figuresOf, type ResultsOf } from "./experiment.ts";

/** What was measured for one seed. */
interface SeedResult {
  readonly seed: number;
  readonly date: string;
  readonly commit: string;
  readonly figures: Figures;
}

/** The results of an experiment, by seed. */
export function readResults(folder: string, { name }: Experiment): SeedResult[] {
  const path = join(folder, `${name}.json`);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as { runs: SeedResult[] }).runs : [];
}

/** Writes the results of an experiment, a line for each seed. */
export function writeResults(folder: string, { name, title }: Experiment, runs: readonly SeedResult[]): void {
  mkdirSync(folder, { recursive: true });
  const lines = [...runs].sort((a, b) => a.seed - b.seed).map((run) => JSON.stringify(run, rounded));
  writeWhole(
    join(folder, `${name}.json`),
    `${JSON.stringify({ title }).slice(0, -1)},"runs":[\n${lines.join(",\n")}\n]}\n`,
  );
}

/** Looks up the figures of experiments. */
function resultsIn(experiments: readonly Experiment[], folder: string): ResultsOf {
  return (name) => {
    const experiment = experiments.find((one) => one.name === name);
    return experiment ? readResults(folder, experiment).map(({ figures }) => figures) : [];
  };
}

/** Draws the pictures of experiments that have results. */
export function makePictures(experiments: readonly Experiment[], folder: string): { name: string; svg: string }[] {
  const resultsOf = resultsIn(experiments, folder);
  return experiments.flatMap((experiment) => {
    const runs = resultsOf(experiment.name);
    return runs.length === 0 ? [] : [...(experiment.pictures?.(runs, resultsOf) ?? [])];
  });
}

/** The page: targets first, then a table for each experiment. */
export function makePage(experiments: readonly Experiment[], folder: string): string {
  const found = experiments.map((experiment) => ({ experiment, runs: readResults(folder, experiment) }));
  const resultsOf = resultsIn(experiments, folder);
  const targets = found.flatMap(({ experiment, runs }) =>
    runs.length === 0
      ? []
      : experiment
          .targets(
            runs.map(({ figures }) => figures),
            resultsOf,
          )
          .map((target) => ({ ...target, runs })),
  );
  const sections = found.map(({ experiment, runs }) => section(experiment, runs, resultsOf));
  return [
    "# Beyond the paper",
    "Measured with the library as it is, by `npm run beyond`. Choices were made on training rows, and test rows were looked at once; where it was otherwise, the section says so. Figures are the median over seeds, with the range behind it. What was tried before is in [REFINEMENT.md](REFINEMENT.md).",
    table(
      ["target", "wanted", "measured", "seeds", "verdict"],
      targets.map(({ name, wanted, measured, met, runs }) => [
        name,
        wanted,
        measured,
        String(runs.length),
        met ? "met" : "**missed**",
      ]),
    ),
    ...sections,
    "",
  ]
    .join("\n\n")
    .trimEnd()
    .concat("\n");
}

function section(experiment: Experiment, runs: readonly SeedResult[], resultsOf: ResultsOf): string {
  const { title, about, columns, name } = experiment;
  const figures = runs.map((run) => run.figures);
  const cells = columns.map(({ figure }) => spread(figuresOf(figures, figure), (value) => show(figure, value)));
  const body =
    runs.length === 0
      ? "Not measured yet."
      : (experiment.show?.(figures, resultsOf) ??
        table(
          columns.map((column) => column.title),
          [cells],
        ));
  return `## ${title}\n\n${about} Command: \`npm run beyond -- ${name}\`.\n\n${body}`;
}

/** Scores with four digits, seconds with one. */
function show(figure: string, value: number): string {
  if (figure.endsWith("Cpu")) return value.toFixed(1);
  return Number.isInteger(value) ? String(value) : value.toFixed(4);
}

/** Writes a file whole or not at all. */
export function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.tmp`, text);
  renameSync(`${path}.tmp`, path);
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;
}
