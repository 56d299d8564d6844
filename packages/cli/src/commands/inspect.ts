/** `ranksim inspect`: what is in a model file. */

import { BlendModel, ConformalModel, LinearModel, type Model, type Schema, schemaOf } from "@ranksim/core";
import {
  classesOf,
  type DecidingPart,
  decidingPart,
  type FilterModel,
  filterClasses,
  filterPart,
  stepsOf,
  vocabularyOf,
} from "@ranksim/learn";
import type { Command } from "commander";
import type { Io } from "../io.ts";
import { columnLines } from "../model/data-summary.ts";
import { featureNamer } from "../model/feature-names.ts";
import { refinementText } from "../model/refinement-text.ts";
import { readModel, type StoredModel } from "../model/store.ts";
import { strongestWeights } from "../model/strongest-weights.ts";
import { triedText } from "../model/tried-text.ts";
import type { ResultOf } from "../output.ts";
import { scoreName } from "../report/card.ts";
import { addCommonOptions, type CommonOptions, Session } from "../session.ts";
import { bytes, count, counted, percent, score } from "../terminal/numbers.ts";
import { cut, printable, type Style } from "../terminal/style.ts";
import { pairs, table } from "../terminal/table.ts";

/** Features named for each class of planes. */
const STRONGEST = 5;

/** Adds the command. */
export function addInspect(program: Command, io: Io): void {
  const command = program
    .command("inspect")
    .summary("say what is in a model file")
    .description(
      "Says what is in a model file: kind, size, classes with their filters or their strongest weights, parameters, how training went, digest.",
    )
    .argument("<model>", "model file, - for standard input");
  addCommonOptions(command).action(async (modelPath: string, options: CommonOptions) => {
    const session = new Session(io, options);
    const stored = await readModel(modelPath, io);
    await session.print("inspect", asJson(stored), () => forPeople(stored, session.style));
  });
}

function asJson({ model, kept, byteLength, digest }: StoredModel): ResultOf<"inspect"> {
  const schema = schemaOf(model);
  return {
    kind: model.kind,
    byteLength,
    digest,
    ...(schema ? { data: schema } : {}),
    ...(kept ? { kept: { rows: kept.index.rows.rows, similarity: kept.index.similarity } } : {}),
    steps: stepsOf(model).map((step) => {
      const { params } = step as { params?: object };
      const part = filterPart(step)?.part;
      const planes = step instanceof LinearModel ? planesAsJson(step, model) : {};
      return { kind: step.kind, ...(params ? { params } : {}), ...(part ? filtersAsJson(part) : {}), ...planes };
    }),
  };
}

function filtersAsJson(part: FilterModel): Partial<ResultOf<"inspect">["steps"][number]> {
  const classes = classesOf(part);
  const counts = countByClass(part);
  return {
    features: part.features,
    filters: part.bank.filters,
    weights: part.bank.weights.constructor.name,
    form: part.bank.form,
    ...(counts ? { classes: classes.map((label, c) => ({ label, filters: counts[c] })) } : {}),
    report: part.report,
  };
}

/** The classes of planes, and what weighs most for each. */
function planesAsJson(part: LinearModel, model: Model): Partial<ResultOf<"inspect">["steps"][number]> {
  const nameOf = featureNamer({ model, part, step: stepsOf(model).indexOf(part) }, model);
  const classes = part.classes.map((label, code) => ({
    label,
    strongest: strongestWeights(part, code, STRONGEST).map((one) => ({ ...one, name: nameOf(one.feature) })),
  }));
  return { features: part.features, classes };
}

function countByClass(part: FilterModel): number[] | undefined {
  const of = filterClasses(part);
  if (!of) return undefined;
  const counts = classesOf(part).map(() => 0);
  for (const c of of) counts[c]++;
  return counts;
}

function forPeople({ model, kept, name, byteLength, digest }: StoredModel, style: Style): string {
  const deciding = decidingPart(model);
  const part = filterPart(deciding?.model ?? model)?.part;
  const planes = deciding?.part instanceof LinearModel ? deciding.part : undefined;
  const terms = vocabularyOf(model);
  const parts = [
    pairs(
      [
        ["model", style.strong(printable(name))],
        ["kind", kindsOf(model)],
        ["size", bytes(byteLength)],
        ["digest", digest],
        ["keeps", kept && `${counted(kept.index.rows.rows, "row")}, alike by ${kept.index.similarity}`],
        ["words", terms && count(terms.length)],
        ...schemaLines(schemaOf(model)),
        ["shown below", deciding?.member && memberText(deciding.member)],
        ["features", deciding && count(deciding.part.features)],
        ["filters", part && `${count(part.bank.filters)}, ${part.bank.form}, ${widthOf(part)}`],
        [
          "trained on",
          deciding?.part.report.rows === undefined ? undefined : counted(deciding.part.report.rows, "row"),
        ],
        [
          "sets",
          model instanceof ConformalModel ? `fitted to ${counted(model.scores.length, "held-out row")}` : undefined,
        ],
        ["refined", part?.report.refinement && refinementText(part.report.refinement)],
      ],
      style,
    ),
  ];
  parts.push(triedText(schemaOf(model)?.recipe?.tried, style));
  if (deciding && planes) parts.push(weights(deciding, planes, model, style));
  if (part) parts.push(trainings(part, style));
  if (deciding) parts.push(parameters(deciding.model, style));
  for (const note of part?.report.notes ?? []) parts.push(`${style.note("note:")} ${printable(note)}\n`);
  return parts.filter((text) => text !== "").join("\n");
}

/** The kinds of the steps, and of the models of a blend. */
function kindsOf(model: Model): string {
  const inner = model instanceof ConformalModel ? model.model : model;
  if (inner instanceof BlendModel) return `blend of ${inner.steps.map(kindsOf).join("; ")}`;
  return stepsOf(model)
    .map((step) => step.kind)
    .join(" → ");
}

const memberText = ({ name, weight }: NonNullable<DecidingPart["member"]>): string =>
  `${printable(name)}, which counts ${percent(weight)}`;

/** The classes, and the features that weigh most for and against each. */
function weights(deciding: DecidingPart, part: LinearModel, model: Model, style: Style): string {
  const nameOf = featureNamer(deciding, model);
  return table(
    [{ head: part.multilabel ? "label" : "class" }, { head: "weighs most" }],
    part.classes.map((label, code) => [
      cut(printable(String(label)), 40),
      strongestWeights(part, code, STRONGEST)
        .map(({ feature, weight }) => `${cut(printable(nameOf(feature)), 30)} ${style.faint(signed(weight))}`)
        .join(", "),
    ]),
    style,
  );
}

const signed = (weight: number): string => `${weight > 0 ? "+" : "−"}${Math.abs(weight).toPrecision(2)}`;

/** What the model knows of its data. */
function schemaLines(schema: Schema | undefined): (readonly [string, string | undefined])[] {
  if (schema === undefined) return [];
  const { columns, label, image, training, fill, recipe, heldOut } = schema;
  const scores = Object.entries(heldOut?.scores ?? {}).map(([name, value]) => `${scoreName(name)} ${score(value)}`);
  return [
    ["recipe", recipe && printable(recipe.about)],
    ["held out", heldOut && printable(`${scores.join(", ")} on ${counted(heldOut.rows, "row")}`)],
    ...(columns ? columnLines(columns) : []),
    ["images", image && `${image.width} × ${image.height}${image.channels === 1 ? "" : ` × ${image.channels}`}`],
    ["missing", fill && "filled with what was learned at training"],
    ["label", label === undefined ? undefined : `column ${printable(String(label))}`],
    ["data digest", training?.digest.slice(0, 16)],
  ];
}

function widthOf({ bank }: FilterModel): string {
  return bank.weights instanceof Float64Array ? "64-bit numbers" : `${bank.weights.BYTES_PER_ELEMENT * 8}-bit ranks`;
}

function trainings(part: FilterModel, style: Style): string {
  const right = { align: "right" } as const;
  const byClass = part.report.trainings.length > 1;
  return table(
    [
      { head: byClass ? "class" : "training" },
      { head: "rows", ...right },
      { head: "filters", ...right },
      { head: "iterations", ...right },
      { head: "moved in the last", ...right },
      { head: "converged" },
    ],
    part.report.trainings.map(({ label, rows, filters, converged, steps }) => [
      label === undefined ? "all rows" : cut(printable(String(label)), 40),
      count(rows),
      count(filters),
      count(steps.length),
      steps.length === 0 ? "" : percent(steps[steps.length - 1].moved / Math.max(1, rows)),
      converged ? style.good("yes") : "no",
    ]),
    style,
  );
}

function parameters(model: Model, style: Style): string {
  const steps = stepsOf(model);
  const rows = steps.flatMap((step) =>
    Object.entries((step as { params?: object }).params ?? {}).map(([name, value]) => [
      printable(steps.length > 1 ? `${step.kind}: ${name}` : name),
      cut(printable(typeof value === "string" ? value : JSON.stringify(value)), 80),
    ]),
  );
  return table([{ head: "parameter" }, { head: "value" }], rows, style);
}
