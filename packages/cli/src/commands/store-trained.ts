/** What `train` does when a model is trained: it is written, maybe with a card beside it, and told about. */

import { type Model, type Schema, withSchema } from "@ranksim/core";
import type { AnySource, DataSet, Preset } from "@ranksim/data";
import type { Command } from "commander";
import { writeTo } from "../files/output.ts";
import { summarize } from "../model/data-summary.ts";
import { type FilterModel, filterPart } from "../model/parts.ts";
import type { Recipe } from "../model/recipe.ts";
import { writeModel } from "../model/store.ts";
import { provenanceOf } from "../provenance.ts";
import { modelCard } from "../report/card.ts";
import type { Session } from "../session.ts";
import { type HeldOut, heldOutText, storedScores } from "./held-out-scores.ts";
import { showTrained, trainedAsJson } from "./show-trained.ts";

/** The model, and what is known of its training. */
interface TrainedModel {
  readonly fitted: Model;
  readonly described: Schema;
  readonly recipe: Recipe;
  /** The rows that were trained on, and what to call them. */
  readonly train: DataSet | AnySource;
  readonly dataName: string;
  readonly preset: Preset | undefined;
  /** The recipe in one line, where a preset chose it. */
  readonly about?: string;
  readonly heldOut: HeldOut | undefined;
  /** How long training took, with all that comes before the filters. */
  readonly seconds: number;
}

interface Options {
  readonly rows?: boolean;
  readonly card?: string;
  readonly trace?: boolean;
}

/** Writes and tells. */
export async function storeTrained(
  { fitted, described, recipe, train, dataName, preset, about, heldOut, seconds }: TrainedModel,
  path: string,
  options: Options,
  command: Command,
  session: Session,
): Promise<void> {
  const { io } = session;
  const chosen = preset && about !== undefined ? { recipe: { preset, about } } : {};
  const schema = { ...described, ...(heldOut ? { heldOut: storedScores(heldOut) } : {}), ...chosen };
  const model = withSchema(fitted, schema);
  const stored = await writeModel(model, path, io, { rows: options.rows !== false });
  const part = filterPart(model)?.part as FilterModel;
  for (const note of [...part.report.notes, ...(part.report.fallbacks ?? [])]) await session.note(note);
  if (options.card !== undefined) {
    const subject = { stored, dataName, schema, summary: summarize(train, recipe), notes: part.report.notes };
    const text = modelCard({ ...subject, provenance: provenanceOf(command, io) });
    await writeTo(options.card, [new TextEncoder().encode(text)], io);
  }
  // With the model itself on standard output there is no room for words.
  if (path === "-") return;
  await session.print(
    "train",
    { ...trainedAsJson(stored, part, options), ...(heldOut ? { heldOut } : {}), ...chosen },
    () => {
      const columns = recipe.takes === "table" ? recipe.columns : undefined;
      return (
        showTrained(stored, part, path, seconds, about, columns, session.style) + heldOutText(heldOut, session.style)
      );
    },
  );
}
