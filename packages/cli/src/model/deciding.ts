/** What a model is explained by, where that is one of several that are blended, and the cells that features come from. */

import type { Label, Model, Run } from "@ranksim/core";
import type { DataSet } from "@ranksim/data";
import { asPredicting, type DecidingPart, type Input, inputOf, tableModelOf } from "@ranksim/learn";
import { percent } from "../terminal/numbers.ts";
import { cut, printable } from "../terminal/style.ts";
import { encodedFeature } from "./feature-names.ts";

/** What the whole blend says of a row, and a note that says what of the blend is explained; nothing of models that are no blends. */
export async function blended<Y extends Label | readonly Label[]>(
  model: Model,
  { member }: DecidingPart,
  one: DataSet,
  own: Y | undefined,
  run: Run,
): Promise<{ readonly label: Label; readonly note: string } | undefined> {
  if (!member) return undefined;
  const [label] = (await asPredicting<Input>(model).predict(inputOf(model, one), run)) as Label[];
  const differs = label === own ? "" : `; by itself it names ${own}, the blend names ${label}`;
  return {
    label,
    note: `explained is "${member.name}", which counts ${percent(member.weight)} of the blend${differs}`,
  };
}

/** The cells of a row of a table by the features that come from them. */
export function cellReader(
  model: Model,
  deciding: DecidingPart,
  one: DataSet,
): (feature: number) => string | undefined {
  const encoder = tableModelOf(deciding.model);
  if (!encoder || one.form !== "table") return () => undefined;
  const columns = encoder.featureColumns;
  const table = one.table.select(encoder.columns.map(({ name }) => name));
  const encodedOf = encodedFeature(deciding, model);
  return (feature) => {
    const encoded = encodedOf(feature);
    return encoded === undefined ? undefined : cut(printable(String(table.cell(columns[encoded], 0) ?? "missing")), 20);
  };
}
