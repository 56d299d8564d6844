/** `ranksim inspect`: what is in a model file. */

import { ConformalModel, type Model, type Schema, schemaOf } from "@ranksim/core";
import type { Command } from "commander";
import type { Io } from "../io.ts";
import { columnLines } from "../model/data-summary.ts";
import { classesOf, type FilterModel, filterClasses, filterPart, stepsOf, vocabularyOf } from "../model/parts.ts";
import { refinementText } from "../model/refinement-text.ts";
import { readModel, type StoredModel } from "../model/store.ts";
import { scoreName } from "../report/card.ts";
import { addCommonOptions, type CommonOptions, Session } from "../session.ts";
import { bytes, count, counted, percent, score } from "../terminal/numbers.ts";
import { cut, printable, type Style } from "../terminal/style.ts";
import { pairs, table } from "../terminal/table.ts";
import { exampleText } from "./examples.ts";

/** Adds the command. */
export function addInspect(program: Command, io: Io): void {
  const command = program
    .command("inspect")
    .summary("say what is in a model file")
    .description(
      "Says what is in a model file: kind, size, classes and their filters, parameters, how training went, digest.",
    )
    .argument("<model>", "model file, - for standard input");
  addCommonOptions(command)
    .addHelpText("after", exampleText("inspect"))
    .action(async (modelPath: string, options: CommonOptions) => {
      const session = new Session(io, options);
      const stored = await readModel(modelPath, io);
      await session.print("inspect", asJson(stored), () => forPeople(stored, session.style));
    });
}

function asJson({ model, byteLength, digest }: StoredModel): object {
  return {
    kind: model.kind,
    byteLength,
    digest,
    ...(schemaOf(model) ? { data: schemaOf(model) } : {}),
    steps: stepsOf(model).map((step) => {
      const { params } = step as { params?: unknown };
      const part = filterPart(step)?.part;
      return { kind: step.kind, ...(params ? { params } : {}), ...(part ? filtersAsJson(part) : {}) };
    }),
  };
}

function filtersAsJson(part: FilterModel): object {
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

function countByClass(part: FilterModel): number[] | undefined {
  const of = filterClasses(part);
  if (!of) return undefined;
  const counts = classesOf(part).map(() => 0);
  for (const c of of) counts[c]++;
  return counts;
}

function forPeople({ model, name, byteLength, digest }: StoredModel, style: Style): string {
  const part = filterPart(model)?.part;
  const terms = vocabularyOf(model);
  const parts = [
    pairs(
      [
        ["model", style.strong(printable(name))],
        [
          "kind",
          stepsOf(model)
            .map((step) => step.kind)
            .join(" → "),
        ],
        ["size", bytes(byteLength)],
        ["digest", digest],
        ["words", terms && count(terms.length)],
        ...schemaLines(schemaOf(model)),
        ["features", part && count(part.features)],
        ["filters", part && `${count(part.bank.filters)}, ${part.bank.form}, ${widthOf(part)}`],
        ["trained on", part && counted(part.report.rows, "row")],
        [
          "sets",
          model instanceof ConformalModel ? `fitted to ${counted(model.scores.length, "held-out row")}` : undefined,
        ],
        ["refined", part?.report.refinement && refinementText(part.report.refinement)],
      ],
      style,
    ),
  ];
  if (part) parts.push(trainings(part, style), parameters(model, style));
  for (const note of part?.report.notes ?? []) parts.push(`${style.note("note:")} ${printable(note)}\n`);
  return parts.filter((text) => text !== "").join("\n");
}

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
