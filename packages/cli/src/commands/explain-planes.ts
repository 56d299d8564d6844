/** `ranksim explain` of a model of planes: the classes by their probabilities, and the features that speak for the given one and against it. */

import type { Label, LinearExplanation, LinearModel, Matrix, Model, Run } from "@ranksim/core";
import type { DataSet } from "@ranksim/data";
import { type DecidingPart, inputOf, labelNamer, passThrough } from "@ranksim/learn";
import type { OpenedModel } from "../load-model.ts";
import { blended, cellReader } from "../model/deciding.ts";
import { featureNamer, featureWord } from "../model/feature-names.ts";
import { neighboursOf } from "../model/neighbours.ts";
import type { ResultOf } from "../output.ts";
import type { ComputeOptions, Session } from "../session.ts";
import { score } from "../terminal/numbers.ts";
import { cut, printable } from "../terminal/style.ts";
import { table } from "../terminal/table.ts";
import { answered, contributionTable, NEIGHBOURS, neighbourTable } from "./explain-text.ts";

/** A row of data, and the planes that are asked about it. */
interface Asked {
  readonly model: Model;
  readonly kept: OpenedModel["kept"];
  readonly deciding: DecidingPart;
  readonly part: LinearModel;
  readonly one: DataSet;
  readonly truth: Label | readonly Label[] | undefined;
}

interface Options extends ComputeOptions {
  readonly row: number;
  readonly top: number;
}

/** Explains one row. */
export async function explainPlanes(asked: Asked, options: Options, session: Session): Promise<void> {
  const { model, kept, deciding, part, one } = asked;
  const { found, whole, neighbours } = await session.compute("explaining", options, async ({ backend, signal }) => {
    const run: Run = { ...(backend ? { backend } : {}), ...(signal ? { signal } : {}) };
    const { last } = await passThrough(deciding.model, one, run);
    const own = await part.explain(last as Matrix, 0, run);
    const near = await kept?.nearest(inputOf(model, one), NEIGHBOURS, run);
    const neighbours = near && neighboursOf(near, 0);
    return { found: own, whole: await blended(model, deciding, one, own.label, run), neighbours };
  });
  if (whole) await session.note(whole.note);
  const explained = { ...found, label: whole?.label ?? found.label };
  await session.print("explain", { ...asJson(asked, explained, options), ...(neighbours ? { neighbours } : {}) }, () =>
    [
      forPeople(asked, explained, options, session),
      ...(neighbours ? [neighbourTable(neighbours, labelNamer(one), session)] : []),
    ].join("\n"),
  );
}

function asJson(
  { model, deciding, truth, one }: Asked,
  found: LinearExplanation,
  { row, top }: Options,
): ResultOf<"explain"> {
  const nameOf = featureNamer(deciding, model, one);
  return {
    row,
    ...(truth === undefined ? {} : { truth }),
    label: found.label,
    filters: [],
    classes: found.classes,
    ...(found.rivalLabel === undefined ? {} : { rival: { label: found.rivalLabel } }),
    contributions: found.contributions
      .slice(0, Math.max(top, 100))
      .map(({ feature, value, contribution }) => ({ feature, name: nameOf(feature), value, contribution })),
  };
}

function forPeople(
  { model, deciding, one, truth }: Asked,
  found: LinearExplanation,
  { row, top }: Options,
  session: Session,
): string {
  const labelName = labelNamer(one);
  const { style } = session;
  const right = { align: "right" } as const;
  const classes = table(
    [{ head: "class" }, { head: "probability", ...right }, { head: "distance", ...right }],
    found.classes
      .slice(0, top)
      .map(({ label, probability, distance }) => [
        cut(printable(labelName(label)), 40),
        style.good(score(probability)),
        distance.toFixed(3),
      ]),
    style,
  );
  const shown = {
    contributions: found.contributions,
    nameOf: featureNamer(deciding, model, one),
    featuresAre: featureWord(model),
    cellOf: cellReader(model, deciding, one),
  };
  const parts = [
    answered({ row, one, truth, label: found.label, rival: found.rivalLabel, labelName }, session),
    classes,
    ...(found.contributions.length > 0 ? [contributionTable(shown, top, session)] : []),
  ];
  return parts.join("\n");
}
