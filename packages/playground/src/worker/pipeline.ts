/** Models of any make: rows go through the first steps, and the part that decides, filters or planes, comes last. */

import {
  LinearModel,
  type Matrix,
  type Model,
  PatchModel,
  RanksimError,
  schemaOf,
  type TransformingModel,
} from "@ranksim/core";
import { seenRows } from "@ranksim/data";
import { asPredicting, decidingPart, inputOf, stepsOf, tableModelOf, takesText, widthOf } from "@ranksim/learn";
import { knownNamer } from "ranksim/report";
import type { LoadedData } from "./data.ts";
import { PatchLook } from "./patch-look.ts";
import type { SubjectParts } from "./subject.ts";

/** Names of more features are not made. */
const MOST_NAMES = 2_000_000;

/** A model that was trained or came in a file, ready to be looked at. */
export function openPipeline(
  whole: Model,
  more: Pick<SubjectParts, "name" | "origin" | "history" | "trainingRows">,
): SubjectParts {
  const deciding = decidingPart(whole);
  if (!deciding) {
    throw new RanksimError(
      "unsupported",
      `${more.name}: expected a model with filters or planes, found ${stepsOf(whole)
        .map(({ kind }) => kind)
        .join(", then ")}`,
    );
  }
  const { part, step, model: own, member } = deciding;
  const before = stepsOf(own).slice(0, step) as TransformingModel<unknown>[];
  const [first] = before;
  const isText = takesText(whole);
  const encoder = tableModelOf(whole);
  const nameOf = knownNamer(deciding, whole);
  const image = schemaOf(whole)?.image;
  const schema = schemaOf(whole);
  return {
    ...more,
    whole,
    ...(part instanceof LinearModel ? { planes: part } : { filters: part }),
    takesText: isText,
    ...(encoder ? { columns: encoder.columns.map(({ name }) => name) } : {}),
    inputs: isText ? 0 : (widthOf(whole) ?? 0),
    prepare: (set) => pass(before, inputOf(whole, set)),
    ...(first instanceof PatchModel && step === 1 ? { patches: new PatchLook(first) } : {}),
    ...(nameOf && part.features <= MOST_NAMES
      ? { featureNames: Array.from({ length: part.features }, (_, feature) => nameOf(feature)) }
      : {}),
    ...(member
      ? { blend: { model: asPredicting<unknown>(whole), input: (set) => inputOf(whole, set), explained: member.name } }
      : {}),
    ...(image && image.width * image.height === widthOf(whole)
      ? { imageSize: { width: image.width, height: image.height } }
      : {}),
    ...(schema?.recipe ? { about: schema.recipe.about, tried: schema.recipe.tried ?? [] } : {}),
  };
}

/** How many of the rows the model was trained on, as far as it kept what tells them; undefined where it did not. */
export function seenAmong(whole: Model, data: LoadedData): number | undefined {
  const schema = schemaOf(whole);
  return schema && seenRows(schema, data.read);
}

async function pass(steps: readonly TransformingModel<unknown>[], x: unknown): Promise<Matrix> {
  let data = x;
  for (const step of steps) data = await step.transform(data);
  return data as Matrix;
}
