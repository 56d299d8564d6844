/** `ranksim update`: new rows, and new classes, for a model that is there already. */

import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type Label, type LabelSets, type Labels, type Model, schemaOf, withSchema } from "@ranksim/core";
import { describeData, joinSchemas, type RowLabels } from "@ranksim/data";
import {
  asGrowing,
  classesOf,
  type FilterModel,
  filterPart,
  inputOf,
  isMultilabel,
  isSets,
  matchLabels,
} from "@ranksim/learn";
import type { Command } from "commander";
import { openData } from "../files/data-argument.ts";
import { checkWritable } from "../files/output.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import type { Io } from "../io.ts";
import { readModel, replaceModel, type StoredModel, writeModel } from "../model/store.ts";
import { brief } from "../model/trace.ts";
import type { ResultOf } from "../output.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { bytes, count, counted, seconds } from "../terminal/numbers.ts";
import { cut, printable, type Style } from "../terminal/style.ts";
import { pairs } from "../terminal/table.ts";

type Options = ComputeOptions & ReadingOptions & { readonly out?: string };

/** Adds the command. */
export function addUpdate(program: Command, io: Io): void {
  const command = program
    .command("update")
    .summary("add new rows to a model")
    .description(
      "Adds rows, and classes the model has not seen, to a model that was trained with --keep-sums. The rows it was trained on are not needed. The file is replaced, whole or not at all, unless --out names another.",
    )
    .argument("<model>", "model file")
    .argument("<data...>", DATA_ABOUT)
    .option("-o, --out <file>", "where the new model goes; - for standard output (default: the model file)");
  addCommonOptions(addComputeOptions(addReadingOptions(command, io))).action(
    async (modelPath: string, dataName: string[], options: Options) => {
      const session = new Session(io, options);
      const out = options.out ?? modelPath;
      await checkWritable(out, io, [...dataName, options.labels]);
      const read = await readModel(modelPath, io, dataName);
      const { model } = read;
      if (read.kept)
        throw usageError(
          `${modelPath} keeps rows, to which new ones would not be added: update the model it was made of, then keep-rows`,
        );
      const growing = asGrowing<ReturnType<typeof inputOf>>(model);
      const before = partOf(model);
      const labelled = classesOf(before).length > 0;
      const { set } = await openData(dataName, options, session, { model, labelled });
      const y = labelled ? labelsFor(model, set.y as RowLabels, classesOf(before)) : undefined;
      const grown = await session.compute("updating", options, (run) =>
        growing.partialFit(inputOf(model, set), y, run),
      );
      if (isCalibrated(before) && !isCalibrated(partOf(grown)))
        await session.note("probabilities are no longer fitted: they were fitted to the filters before the update");
      const schema = schemaOf(model);
      if (schema)
        withSchema(
          grown,
          joinSchemas(schema, describeData(set, schema.form === "table" ? { columns: schema.columns ?? [] } : {})),
        );
      const isReplaced = out !== "-" && (await isSameFile(resolve(io.cwd, out), resolve(io.cwd, modelPath)));
      const stored = isReplaced ? await replaceModel(grown, read, out, io) : await writeModel(grown, out, io);
      if (out !== "-") {
        await session.print("update", asJson(stored, before), () => forPeople(stored, before, out, session.style));
      }
    },
  );
}

/** Whether two paths lead to one file. */
async function isSameFile(path: string, other: string): Promise<boolean> {
  const [one, two] = await Promise.all([path, other].map((name) => stat(name).catch(() => undefined)));
  return path === other || (one !== undefined && one.ino === two?.ino && one.dev === two?.dev);
}

const isCalibrated = ({ params }: FilterModel): boolean => "calibrate" in params && params.calibrate !== "none";

const partOf = (model: Model): FilterModel => filterPart(model)?.part as FilterModel;

/** The labels as the model spells them, in sets where it has several. */
function labelsFor(model: Model, y: RowLabels, classes: readonly Label[]): Labels | LabelSets {
  const given = isMultilabel(model) && !isSets(y) ? y.map((label) => [label as Label]) : y;
  return matchLabels(given, classes) as Labels | LabelSets;
}

function newClasses(after: FilterModel, before: FilterModel): Label[] {
  const known = new Set(classesOf(before));
  return classesOf(after).filter((label) => !known.has(label));
}

function asJson({ model, byteLength, digest }: StoredModel, before: FilterModel): ResultOf<"update"> {
  const { report } = partOf(model);
  return {
    kind: model.kind,
    byteLength,
    digest,
    rowsAdded: report.rows - before.report.rows,
    newClasses: newClasses(partOf(model), before),
    report: brief(report),
  };
}

function forPeople({ model, byteLength, digest }: StoredModel, before: FilterModel, out: string, style: Style): string {
  const after = partOf(model);
  const { report } = after;
  const fresh = newClasses(after, before);
  return pairs(
    [
      ["added", `${counted(report.rows - before.report.rows, "row")}, now ${count(report.rows)}`],
      ["new classes", fresh.length === 0 ? undefined : cut(printable(fresh.join(", ")), 60)],
      ["filters", count(report.filters)],
      ["time", report.seconds === undefined ? undefined : `${seconds(report.seconds)} on ${report.backend}`],
      ["model", `${style.strong(printable(out))}  ${bytes(byteLength)}`],
      ["digest", digest.slice(0, 16)],
    ],
    style,
  );
}
