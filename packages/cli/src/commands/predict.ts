/** `ranksim predict`: a class, or several, for each row, as the rows come. */

import { resolve } from "node:path";
import type { ConformalModel, Label, Model, PredictingModel, Run } from "@ranksim/core";
import {
  annotated,
  type ByteSource,
  type CellAnswers,
  type ColumnChoice,
  type DataSet,
  fileSource,
} from "@ranksim/data/node";
import { asConformal, asPredicting, type Input, inputOf, modelFor, tableModelOf } from "@ranksim/learn";
import { type Command, Option } from "commander";
import { memoryFor, withMemory } from "../agreement.ts";
import { openBlocks } from "../files/data-argument.ts";
import { areFiles } from "../files/data-names.ts";
import { checkWritable, writeTo } from "../files/output.ts";
import { column, READING_ROLES } from "../flags/columns.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import { shareBelowOne, wholeNumber } from "../flags/values.ts";
import type { Io } from "../io.ts";
import { readModel } from "../model/store.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { bytes, counted } from "../terminal/numbers.ts";
import { answersAsNumpy, answersAsParquet } from "./answer-arrays.ts";
import {
  ANSWER_FORMATS,
  type AnswerBlock,
  type AnswerFormat,
  type AnswerShape,
  answerFormat,
  answersAsText,
  keptNamesOf,
} from "./answers.ts";

type Options = ComputeOptions &
  ReadingOptions & {
    readonly probabilities?: boolean;
    readonly top?: number;
    readonly coverage?: number;
    readonly reject?: number;
    readonly idColumn?: ColumnChoice;
    readonly keep?: readonly ColumnChoice[];
    readonly out: string;
    readonly outFormat?: AnswerFormat;
  };

/** Adds the command. */
export function addPredict(program: Command, io: Io): void {
  const command = program
    .command("predict")
    .summary("give each row its class")
    .description(
      "Gives each row its class, one on a line, as the rows come: memory does not grow with their number, and a line that comes down a pipe is answered at once. With --probabilities, --top or --keep, or for a file that ends in .csv, the answer is a table; so it is for images and folders, with the name of each file; .jsonl has a JSON object on each line; .npy, .npz and .parquet are for other tools.",
    )
    .argument("<model>", "model file")
    .argument("<data...>", DATA_ABOUT)
    .option("--probabilities", "the probability of each class as well")
    .addOption(
      new Option("--top <k>", "the k most probable classes, with their probabilities").argParser((text: string) =>
        wholeNumber(text, 1),
      ),
    )
    .addOption(
      new Option(
        "--coverage <p>",
        "the classes that cannot be ruled out as well: the set holds the true one with this probability (a model of train --sets)",
      ).argParser(shareBelowOne),
    )
    .addOption(
      new Option(
        "--reject <share>",
        "no class for rows unlike those trained on; of known rows at most this share is given none (a model of train --sets)",
      ).argParser(shareBelowOne),
    )
    .addOption(
      new Option("--keep <list>", "columns to copy into the output, separated by commas").argParser((text: string) =>
        text.split(",").map(column),
      ),
    )
    .option(
      "-o, --out <file>",
      "where the answers go; the ending says how: .txt, .csv, .jsonl, .npy, .npz, .parquet; .h5ad: the data again with the types",
      "-",
    )
    .addOption(
      new Option("--out-format <name>", "how the answers are written, whatever the ending").choices(ANSWER_FORMATS),
    );
  addCommonOptions(addComputeOptions(addReadingOptions(command, io, [...READING_ROLES, "id"]))).action(
    async (modelPath: string, dataName: string[], options: Options) => {
      const session = new Session(io, options);
      await checkWritable(options.out, io, [modelPath, ...dataName, options.labels]);
      if (modelPath === "-" && dataName.includes("-")) throw usageError("model and data cannot both be standard input");
      const keep = [...(options.idColumn === undefined ? [] : [options.idColumn]), ...(options.keep ?? [])];
      const { coverage } = options;
      const namesFiles = await areFiles(dataName, io.cwd);
      const isTable =
        options.probabilities === true || options.top !== undefined || coverage !== undefined || keep.length > 0;
      const annotates = /\.h5ad$/i.test(options.out) && options.outFormat === undefined;
      const original = annotates ? await annotatedFile(dataName, io) : undefined;
      if (!original) answerFormat(options.out, options.outFormat, isTable);
      const { model } = await readModel(modelPath, io, dataName);
      const predicting = asPredicting<Input>(model);
      const { classes } = predicting;
      const shapeOf = (format: AnswerFormat, cells: boolean): AnswerShape => {
        const isArray = format === "npy" || format === "npz";
        const names = [...(cells ? ["barcode"] : namesFiles ? ["file"] : []), ...(namesFiles ? [] : keep.map(String))];
        const top = options.top ?? (cells && format === "csv" && predicting.predictProbabilities ? CELL_TYPES : 0);
        return {
          classes,
          keptNames: keptNamesOf(isArray && (cells || namesFiles) ? [] : names, classes),
          probabilities: options.probabilities === true,
          top: Math.min(top, classes.length),
          sets: coverage !== undefined,
          ...(cells ? { none: UNASSIGNED } : {}),
        };
      };
      for (const note of tooFewNotes(model, options)) await session.note(note);
      if (!predicting.predictProbabilities && (options.probabilities || options.top !== undefined)) {
        throw usageError(`a ${model.kind} model has no probabilities`);
      }
      const found = { rows: 0 };
      const reading = withMemory({ ...options, keep, reuseMemory: true }, await memoryFor(options, io), io);
      await session.compute("predicting", options, async (run) => {
        const { backend, signal } = run;
        const show = (read: number, total: number | undefined) =>
          run.onShare(total ? Math.min(read / total, 0.999) : 0, total === 1 ? "" : bytes(read));
        const blocks = openBlocks(dataName, reading, session, { model, labelled: false }, show);
        const first = await blocks.next();
        const areCells = first.done !== true && first.value.found?.genes === true;
        const format = original
          ? "csv"
          : answerFormat(options.out, options.outFormat, isTable || namesFiles || areCells);
        const shape = shapeOf(format, areCells);
        const unfamiliar = tableModelOf(model)?.unfamiliar();
        const ask = (block: DataSet) => {
          if (block.form !== "text") unfamiliar?.add(block.form === "table" ? block.table : block.x);
          const own = modelFor(model, block);
          return answer(asPredicting<Input>(own), inputOf(own, block), block, shape, options, {
            backend,
            ...(signal ? { signal } : {}),
          });
        };
        const answers = answering(chained(first, blocks), ask, found);
        if (original)
          await writeTo(
            options.out,
            annotated(original, await cellAnswers(answers, classes), { signal: io.signal }),
            io,
          );
        else if (session.json && options.out === "-") await printJson(answers, shape, session);
        else await writeTo(options.out, chunksOf(answers, format, shape), io);
        for (const note of unfamiliar?.notes() ?? []) await session.note(note);
      });
      if (options.out !== "-" && !session.quiet) {
        await io.stderr.write(`${counted(found.rows, "answer")} in ${options.out}\n`);
      }
    },
  );
}

/** The file of cells that is written again with their types. */
async function annotatedFile(names: readonly string[], { cwd }: Io): Promise<ByteSource> {
  if (names.length === 1 && /\.h5ad$/i.test(names[0]))
    return { ...(await fileSource(resolve(cwd, names[0]))), name: names[0] };
  throw usageError(
    "--out: a name ending in .h5ad writes one .h5ad file again with the types of its cells; give one such file",
  );
}

/** The type of every cell and its probability. */
async function cellAnswers(blocks: AsyncIterable<AnswerBlock>, classes: readonly Label[]): Promise<CellAnswers> {
  const types: string[] = [];
  const sure: number[] = [];
  for await (const { labels, probabilities } of blocks) {
    for (const [r, label] of labels.entries()) {
      types.push(label === null ? UNASSIGNED : [label].flat().join(", "));
      const row = probabilities?.row(r);
      if (row) sure.push(label === null ? Math.max(...row) : row[classes.indexOf(label as Label)]);
    }
  }
  return { types, ...(sure.length === types.length ? { probabilities: Float64Array.from(sure) } : {}) };
}

/** Types of a cell that a table of answers has: the most probable one and the next. */
const CELL_TYPES = 2;
/** The type of cells that are unlike those of the reference. */
const UNASSIGNED = "unassigned";

/** The blocks again, of which the first was asked for already. */
async function* chained(first: IteratorResult<DataSet>, rest: AsyncGenerator<DataSet>): AsyncGenerator<DataSet> {
  if (!first.done) yield first.value;
  yield* rest;
}

async function* answering(
  blocks: AsyncIterable<DataSet>,
  ask: (block: DataSet) => Promise<AnswerBlock>,
  found: { rows: number },
): AsyncGenerator<AnswerBlock> {
  for await (const block of blocks) {
    const answers = await ask(block);
    found.rows += answers.labels.length;
    yield answers;
  }
}

async function answer(
  model: PredictingModel<Input>,
  x: Input,
  block: DataSet,
  { probabilities, top, keptNames }: AnswerShape,
  { coverage, reject }: Pick<Options, "coverage" | "reject">,
  run: Run,
): Promise<AnswerBlock> {
  // The flags were refused for models that know neither.
  const sure = model as unknown as ConformalModel<Input>;
  const labels = await (reject === undefined ? model.predict(x, run) : sure.predict(x, { ...run, reject }));
  const sets = coverage === undefined ? undefined : await sure.predictSets(x, { coverage, ...run });
  const isWanted = probabilities || top > 0;
  const own = keptNames.length > 0 ? (block.kept ?? []) : [];
  const isCell = keptNames.length > 0 && block.found?.genes;
  const kept = isCell ? (block.rowNames ?? []).map((name, r) => [name, ...(own[r] ?? [])]) : own;
  return { labels, sets, probabilities: isWanted ? await model.predictProbabilities?.(x, run) : undefined, kept };
}

function chunksOf(
  answers: AsyncIterable<AnswerBlock>,
  format: AnswerFormat,
  shape: AnswerShape,
): AsyncIterable<Uint8Array> {
  if (format === "parquet") return answersAsParquet(answers, shape);
  return format === "npy" || format === "npz"
    ? answersAsNumpy(answers, format, shape)
    : answersAsText(answers, format, shape);
}

/** Says where too few rows were held out for what is asked; refuses models that were trained without any. */
function tooFewNotes(model: Model, { coverage, reject }: Options): string[] {
  const notes = [];
  if (coverage !== undefined) {
    const sets = asConformal(model, "--coverage");
    if (sets.limit(coverage) === Number.POSITIVE_INFINITY) {
      notes.push(`--coverage ${coverage}: every set holds all classes, as ${heldOut(sets.scores)}`);
    }
  }
  if (reject !== undefined) {
    const { known } = asConformal(model, "--reject");
    // The most that `novelty` can say of a row.
    if (known && 1 - 1 / (1 + known.length) <= 1 - reject) {
      notes.push(`--reject ${reject}: no row is rejected, as ${heldOut(known)}`);
    }
  }
  return notes;
}

const heldOut = ({ length }: Float64Array): string =>
  `only ${counted(length, "row")} ${length === 1 ? "was" : "were"} held out for it (train --sets holds out a tenth)`;

/** One object with all answers: for few rows. Programs that have many read JSON lines. */
async function printJson(answers: AsyncIterable<AnswerBlock>, shape: AnswerShape, session: Session): Promise<void> {
  const labels: AnswerBlock["labels"][number][] = [];
  const probabilities: number[][] = [];
  const kept: (readonly string[])[] = [];
  const sets: (readonly Label[])[] = [];
  for await (const block of answers) {
    for (let r = 0; r < block.labels.length; r++) {
      labels.push(block.labels[r]);
      if (block.sets) sets.push(block.sets[r]);
      if (block.probabilities) probabilities.push(Array.from(block.probabilities.row(r)));
      if (block.kept.length > 0) kept.push(block.kept[r]);
    }
  }
  const isWanted = shape.probabilities || shape.top > 0;
  const value = {
    labels,
    ...(shape.sets ? { sets } : {}),
    ...(isWanted ? { classes: shape.classes, probabilities } : {}),
    ...(shape.keptNames.length > 0 ? { keptNames: shape.keptNames, kept } : {}),
  };
  await session.print("predict", value, () => "");
}
