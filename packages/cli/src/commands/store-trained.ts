/** What `train` does when a model is trained: it is written, maybe with a card beside it, and told about. */

import { type AnyRows, rowCount } from "@ranksim/data";
import { filterPart, type Trained } from "@ranksim/learn";
import type { Command } from "commander";
import { writeTo } from "../files/output.ts";
import { summarize } from "../model/data-summary.ts";
import { writeModel } from "../model/store.ts";
import { provenanceOf } from "../provenance.ts";
import { modelCard } from "../report/card.ts";
import type { Session } from "../session.ts";
import { heldOutAsJson, heldOutText } from "./held-out-scores.ts";
import { showTrained, trainedAsJson } from "./show-trained.ts";

interface Options {
  readonly rows?: boolean;
  readonly card?: string;
}

/** Writes and tells. */
export async function storeTrained(
  { model, recipe, schema, data, heldOut, seconds }: Trained<AnyRows>,
  { path, dataName }: { readonly path: string; readonly dataName: string },
  options: Options,
  command: Command,
  session: Session,
): Promise<void> {
  const { io } = session;
  const { preset, about, tried } = recipe;
  const stored = await writeModel(model, path, io, { rows: options.rows !== false });
  const part = filterPart(model)?.part;
  const notes = part?.report.notes ?? [];
  const judged = heldOut?.notes ?? [];
  for (const note of [...notes, ...(part?.report.fallbacks ?? []), ...judged]) await session.note(note);
  if (options.card !== undefined) {
    const subject = { stored, dataName, schema, summary: summarize(data, recipe), notes };
    const text = modelCard({ ...subject, provenance: provenanceOf(command, io) });
    await writeTo(options.card, [new TextEncoder().encode(text)], io);
  }
  // With the model itself on standard output there is no room for words.
  if (path === "-") return;
  await session.print(
    "train",
    {
      ...trainedAsJson(stored, part),
      ...(heldOut ? { heldOut: heldOutAsJson(heldOut) } : {}),
      ...(preset ? { recipe: { preset, about, ...(tried ? { tried } : {}) } } : {}),
    },
    () =>
      showTrained(stored, { part, path, took: seconds, recipe }, rowCount(data), session.style) +
      heldOutText(heldOut, session.style),
  );
}
