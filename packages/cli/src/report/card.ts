/** A page of Markdown about a model, to lie beside its file: what it was made of, how, by which command and when. */

import type { Schema } from "@ranksim/core";
import type { DataSummary } from "../model/data-summary.ts";
import type { StoredModel } from "../model/store.ts";
import type { Provenance } from "../provenance.ts";
import { bytes, count, score } from "../terminal/numbers.ts";

/** What the card is about. */
interface CardSubject {
  readonly stored: StoredModel;
  readonly dataName: string;
  readonly schema: Schema;
  readonly summary: DataSummary;
  readonly provenance: Provenance;
  readonly notes: readonly string[];
}

/** The card. */
export function modelCard({ stored, dataName, schema, summary, provenance, notes }: CardSubject): string {
  const { training, heldOut } = schema;
  return [
    `# ${plain(stored.name)}`,
    table(
      ["", ""],
      [
        ["made", provenance.date],
        ["by", `ranksim ${provenance.version}`],
        ["command", `\`${provenance.command.replaceAll("`", "'")}\``],
        ["file", `${bytes(stored.byteLength)}, digest \`${stored.digest}\``],
        ["kind", summary.recipe.map(({ kind }) => kind).join(" → ")],
        ...(schema.recipe ? [["recipe", plain(schema.recipe.about)]] : []),
      ],
    ),
    "## Data",
    table(
      ["", ""],
      [
        ["name", plain(dataName)],
        ["rows", count(summary.rows)],
        ["digest of rows and labels", training ? `\`${training.digest}\`` : "unknown"],
        ...(schema.label === undefined ? [] : [["label", `column ${plain(String(schema.label))}`]]),
        ...(summary.image === undefined ? [] : [["images", summary.image]]),
      ],
    ),
    ...(summary.columns.length === 0 ? [] : ["## Columns", columns(summary)]),
    ...(summary.classes === undefined
      ? []
      : [
          "## Classes",
          table(
            ["class", "rows"],
            summary.classes.map((one) => [plain(String(one.label)), count(one.rows)]),
          ),
        ]),
    ...(heldOut === undefined
      ? ["## Scores", "No rows were held out of training: how good the model is on other rows is not known here."]
      : [
          "## Scores",
          `On ${count(heldOut.rows)} rows that were held out of training.`,
          table(
            ["score", "value"],
            Object.entries(heldOut.scores).map(([name, value]) => [scoreName(name), score(value)]),
          ),
        ]),
    "## Parameters",
    ...summary.recipe.map(({ kind, params }) =>
      table(
        [kind, ""],
        Object.entries(params)
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => [name, plain(JSON.stringify(value))]),
      ),
    ),
    ...(notes.length === 0 ? [] : ["## Notes", notes.map((note) => `- ${plain(note)}`).join("\n")]),
    "",
  ].join("\n\n");
}

/** What a score is called in front of people. */
export const scoreName = (name: string): string => (name === "macroF1" ? "macro F1" : name);

/** Columns shown at most; of more the first are. */
const SHOWN_COLUMNS = 200;

function columns({ columns: all }: DataSummary): string {
  const shown = all
    .slice(0, SHOWN_COLUMNS)
    .map(({ name, type, leftOut }) => [plain(name), type, leftOut ? `left out: ${leftOut}` : ""]);
  const more = all.length > shown.length ? `\n\nand ${count(all.length - shown.length)} more` : "";
  return table(["column", "type", ""], shown) + more;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Text that Markdown leaves as it is. */
const plain = (text: string): string => text.replace(/[\r\n]+/g, " ").replace(/[\\`*_{}[\]<>#|]/g, "\\$&");
