/** `ranksim tune`: which recipe suits the data, and what accuracy costs. */

import {
  type Estimator,
  type LabelSets,
  type Labels,
  type Model,
  type PredictingModel,
  withSchema,
} from "@ranksim/core";
import { type DataSet, describeData } from "@ranksim/data";
import {
  foldBaselines,
  type Grid,
  gridCandidates,
  type Input,
  inputFor,
  isSets,
  keptOf,
  type Preset,
  plan,
  type Recipe,
  recipeFor,
  type ScoringName,
  suggestCandidates,
  tune,
  type View,
} from "@ranksim/learn";
import { type Command, Option } from "commander";
import { openData } from "../files/data-argument.ts";
import { refuseSeveral } from "../files/labels.ts";
import { checkWritable, writeTo } from "../files/output.ts";
import {
  addPlanFlags,
  encodingOf,
  estimatorName,
  given,
  type PlanFlags,
  planOf,
  presetOf,
  refuseTableFlags,
} from "../flags/plan-flags.ts";
import { DATA_ABOUT, type ReadingOptions, readOptions } from "../flags/reading-flags.ts";
import { addTry } from "../flags/try-flags.ts";
import { positive, wholeNumber } from "../flags/values.ts";
import type { Io } from "../io.ts";
import { splitOf } from "../model/hold-out.ts";
import { writeModel } from "../model/store.ts";
import { svgOf } from "../report/charts.ts";
import { pictureStyle } from "../report/theme.ts";
import { tradeOffChart } from "../report/trade-off.ts";
import { shownParam, type TuningView, viewOf } from "../report/tuning-content.ts";
import { tuningPage } from "../report/tuning-page.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { brief, bytes, count, counted, score, seconds } from "../terminal/numbers.ts";
import { printable } from "../terminal/style.ts";
import { table } from "../terminal/table.ts";
import { showBaselines } from "./show-scores.ts";
import { keepTyped, trainLine } from "./train-line.ts";

type Options = ComputeOptions &
  ReadingOptions &
  PlanFlags & {
    readonly baselines?: boolean;
    readonly folds: number;
    readonly seconds?: number;
    readonly scoring?: ScoringName;
    readonly try?: Grid;
    readonly out?: string;
    readonly plot?: string;
    readonly model?: string;
  };

type Judged = Estimator<Input, PredictingModel<Input>>;

const SCORINGS: readonly ScoringName[] = [
  "accuracy",
  "balancedAccuracy",
  "f1Macro",
  "f1Micro",
  "f1Weighted",
  "negativeLogLoss",
];

/** Candidates in the table of the terminal; programs and the page get all. */
const SHOWN = 15;

const NOTES = `
Without --try, the recipe of the preset, also with fewer and more filters, numbers of filters, distributions and whatever
else matters for data of this form are tried; with --estimator or --vectorizer no preset is. A parameter that is given
as a flag stays as it is. For text the vectoriser is tfidf unless --vectorizer says otherwise, and the weighting of words
is tried too. Without --seconds the same data and seed give the same choice everywhere; with it, the preset's recipe is
judged first, then cheap candidates before dear ones.
`;

/** Adds the command. */
export function addTune(program: Command, io: Io): void {
  const command = program
    .command("tune")
    .summary("find the parameters that suit the data")
    .description(
      "Judges many sets of parameters on rows they were not trained on: all on a few rows, the better ones on more, the best on all. Shows accuracy against the cost of a prediction and the size of the model.",
    )
    .argument("<data...>", DATA_ABOUT);
  addPlanFlags(command, io, { estimators: ["classifier", "probabilistic"], roles: ["group", "time"] })
    .optionsGroup("Tuning:")
    .addOption(
      new Option("--folds <n>", "number of folds").default(5).argParser((text: string) => wholeNumber(text, 2)),
    )
    .addOption(new Option("--seconds <s>", "total time budget; may overrun by one fit").argParser(positive))
    .addOption(
      new Option("--scoring <name>", "what is judged (default: accuracy, for several labels f1Micro)").choices(
        SCORINGS,
      ),
    )
    .addOption(
      new Option(
        "--try <name=values>",
        "values to choose from, filters=10,100,auto; for several parameters again",
      ).argParser((text: string, before: Grid | undefined) => addTry(text, before, io.cwd)),
    )
    .option("--baselines", "compare with simple methods in the same folds")
    .option("-o, --out <file>", "a page with the plot and all candidates")
    .option("--plot <file>", "the plot alone, as SVG")
    .option("-m, --model <file>", "train the best on all rows and save it");
  addCommonOptions(addComputeOptions(command));
  const typed = keepTyped(command);
  command
    .addHelpText("after", NOTES)

    .action(async (dataName: string[], given: Options) => {
      const began = performance.now();
      const session = new Session(io, given);
      planOf(withVectorizer(given));
      for (const path of [given.out, given.plot, given.model])
        if (path !== undefined) await checkWritable(path, io, [...dataName, given.labels]);
      const wanted = { text: given.text === true, labelled: true };
      const data = await openData(dataName, given, session, wanted);
      // Rows that turn out to be text are tuned as with --text.
      const options = data.set.form === "text" ? { ...given, text: true } : given;
      const split = splitOf(data.set);
      const { name } = data;
      const { plain, ...prepared } = await plainFor(data.set, options);
      const set = prepared.data as DataSet;
      const x = inputFor(plain.takes, set);
      const y = set.y as Labels | LabelSets;
      const scoring = options.scoring ?? (isSets(set.y ?? []) ? "f1Micro" : "accuracy");
      const byHand = candidatesOf(plain.estimator as unknown as Judged, x, y, options);
      const presets = presetCandidates(prepared, options);
      const candidates = [...presets.keys(), ...byHand];
      if (options.baselines) refuseSeveral(set.y);
      const how = { folds: options.folds, ...seedOf(options) };
      const { tuning, beside } = await session.compute("tuning", options, async (run) => {
        const quiet = { backend: run.backend, ...(run.signal ? { signal: run.signal } : {}) };
        // First, so that they take their part of the seconds.
        const beside = options.baselines
          ? await foldBaselines(plain.estimator as Judged, x, y as Labels, { ...how, ...split }, quiet)
          : undefined;
        const spent = (performance.now() - began) / 1000;
        const judged = { ...how, ...split, scoring, ...limitOf(options, spent) };
        return { tuning: await tune(candidates, x, y, { ...judged, ...run }), beside };
      });
      const about = { data: name, scoring: SPOKEN[scoring], folds: options.folds };
      const view = { ...viewOf(tuning, about, presets), ...(beside ? { baselines: beside } : {}) };
      if (options.out !== undefined) await writeText(options.out, tuningPage(view), io);
      if (options.plot !== undefined) await writeText(options.plot, svgOf(tradeOffChart(view), pictureStyle()), io);
      if (options.model !== undefined) {
        const model = await session.compute("training", options, (run) => tuning.best.estimator.fit(x, y, run));
        const columns = prepared.columns && { columns: keptOf(prepared.columns) };
        const schema = describeData(set, { options: readOptions(options), ...columns });
        await writeModel(withSchema(model as Model, schema), options.model, io);
      }
      const toTheModel = options.out === "-" || options.plot === "-" || options.model === "-";
      const { estimator: best, params: tried } = tuning.best;
      const preset = presets.get(best);
      const usual = preset ? presetRecipe(prepared, options).estimator : plain.estimator;
      // Training on a table lets several filters vote where nothing is said.
      const votes = plain.takes === "table" ? Object.keys(best.params).filter((full) => /\.voters$/.test(full)) : [];
      const named = [...Object.keys(tried), ...votes];
      const choice = { params: best.params, usual: usual.params, named, ...(preset ? { preset } : {}) };
      const line = trainLine(choice, typed, options);
      if (!toTheModel) await session.print("tune", view, () => forPeople(view, line, options, session));
    });
}

const SPOKEN: { readonly [name in ScoringName]: string } = {
  accuracy: "accuracy",
  balancedAccuracy: "balanced accuracy",
  f1Macro: "macro F1",
  f1Micro: "micro F1",
  f1Weighted: "weighted F1",
  negativeLogLoss: "negative log loss",
};

/** Tuning has something to choose in a tfidf vectoriser only. */
const withVectorizer = (options: Options) =>
  options.text === true && options.vectorizer === undefined ? { ...options, vectorizer: "tfidf" } : options;

const seedOf = ({ seed }: Options) => (typeof seed === "number" ? { seed } : {});

/** What is left of the seconds, of which training the best is to take its part. */
function limitOf({ seconds, model }: Options, spent: number) {
  if (seconds === undefined) return {};
  return { seconds: Math.max(seconds - spent, 0.001), leaveTimeToFit: model !== undefined };
}

/** How many times the filters of a preset's recipe are tried. */
const TIMES = [1, 1 / 3, 3];

/** The plain estimator for the data, whose parameters are tuned; how filters vote is left to tuning. */
async function plainFor(set: DataSet, options: Options): Promise<View & { readonly plain: Recipe }> {
  const estimator = estimatorName(options);
  const { preset: _preset, patches: _patches, ...planned } = planOf(withVectorizer(options));
  const voters = estimator === "classifier" ? { voters: 1 } : {};
  const { recipe, data, columns } = await plan(set, {
    ...planned,
    estimator,
    params: { ...voters, ...planned.params },
  });
  refuseTableFlags(recipe, options);
  return { plain: recipe, data, ...(columns ? { columns } : {}) };
}

function presetRecipe({ data, columns }: View, options: Options): Recipe {
  return recipeFor(data, planOf(options), columns);
}

/** The preset's recipe for the data, also with fewer and more filters where their number is known; nothing where it is said what to try. */
function presetCandidates(prepared: View, options: Options): Map<Judged, Preset> {
  const preset = presetOf(options);
  if (preset === undefined || options.try) return new Map();
  const { estimator } = presetRecipe(prepared, options);
  const { y } = prepared.data;
  const own = estimator as unknown as Judged;
  const name = Object.keys(own.params).findLast((full) => /(^|\.)filters$/.test(full));
  const filters = name === undefined ? undefined : own.params[name];
  if (name === undefined || typeof filters !== "number" || options.filters !== undefined)
    return new Map([[own, preset]]);
  const classes = isSets(y ?? []) ? 1 : new Set(y as readonly unknown[]).size;
  const counts = TIMES.map((times) => Math.round(filters * times)).filter(
    (count) => count >= classes * committeeOf(own),
  );
  return new Map([...new Set(counts)].map((count) => [own.with({ [name]: count }), preset]));
}

const committeeOf = ({ params }: Judged): number =>
  Number(Object.entries(params).findLast(([full]) => /(^|\.)committee$/.test(full))?.[1] ?? 1);

/** What is to be tried: the suggestions, with the values of --try in the place of theirs. */
function candidatesOf(estimator: Judged, x: Input, y: Labels | LabelSets, options: Options): Judged[] {
  const inRecipe = (name: string) =>
    Object.keys(estimator.params).find((full) => full === name || full.endsWith(`.${name}`)) ?? name;
  const grid = Object.fromEntries(Object.entries(options.try ?? {}).map(([name, values]) => [inRecipe(name), values]));
  if (options.try) return gridCandidates(estimator, grid);
  const fixed = [...given("estimator", options), ...given("text", options), ...encodingOf(options)];
  const held = fixed.map(({ name }) => inRecipe(name));
  return suggestCandidates(estimator, x, y, held);
}

async function writeText(path: string, text: string, io: Io): Promise<void> {
  await writeTo(path, [new TextEncoder().encode(text)], io);
}

function forPeople(view: TuningView, line: string, options: Options, { style }: Session): string {
  const right = { align: "right" } as const;
  const names = Object.keys(view.candidates[0].params);
  const shown = view.candidates.slice(0, SHOWN);
  const lines = table(
    [
      { head: "", ...right },
      ...names.map((head) => ({ head })),
      { head: view.scoring, ...right },
      { head: "multiply-adds", ...right },
      { head: "1,000 rows", ...right },
      { head: "size", ...right },
      { head: "judged on", ...right },
      { head: "" },
    ],
    shown.map(({ place, params, judged, onFront, outcome }) => [
      String(place),
      ...names.map((name) => printable(shownParam(params[name]))),
      judged ? style.strong(`${score(judged.score)} ± ${score(judged.standardDeviation)}`) : "",
      judged ? brief(judged.multiplyAdds) : "",
      judged ? seconds(judged.secondsPerThousand) : "",
      judged ? bytes(judged.bytes) : "",
      judged ? counted(judged.rows, "row") : "",
      onFront ? style.good("front") : style.faint(outcome === "finished" ? "" : outcome),
    ]),
    style,
  );
  const more = view.candidates.length - shown.length;
  const cut = view.candidates.filter(({ outcome }) => outcome === "cut").length;
  const [best] = view.candidates;
  return [
    lines,
    more > 0 ? style.faint(`and ${counted(more, "more candidate")}\n`) : "",
    "\n",
    `best: ${style.strong(best.title)}, ${judgedText(view)} in ${seconds(view.seconds)}\n`,
    cut > 0 ? `${style.note("note:")} the time was up: ${counted(cut, "candidate")} did not see all rows\n` : "",
    style.faint("front: nothing else is as good, as cheap and as small\n"),
    view.baselines ? `\n${showBaselines(view.baselines, style)}\n` : "",
    options.model === undefined
      ? `train it with: ${printable(line)}\n`
      : `trained on all rows: ${style.strong(printable(options.model))}\n`,
    ...[options.out, options.plot].map((path) => (path === undefined ? "" : `${printable(path)}\n`)),
  ].join("");
}

/** "40 candidates", or "7 of 40 candidates judged". */
function judgedText({ candidates }: TuningView): string {
  const judged = candidates.filter((candidate) => candidate.judged !== undefined).length;
  const all = counted(candidates.length, "candidate");
  return judged === candidates.length ? all : `${count(judged)} of ${all} judged`;
}
