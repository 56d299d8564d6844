/** Predictions as text: plain lines, CSV or JSON lines, row by row, so that any number of rows fits. */

import type { Dense, Label } from "@ranksim/core";
import { usageError } from "../flags/usage-error.ts";

/** Predictions of all rows. */
export interface Answer {
  readonly labels: readonly (Label | readonly Label[])[];
  readonly probabilities: Dense | undefined;
  readonly classes: readonly Label[];
}

type AnswerFormat = "lines" | "csv" | "jsonl";

/** By the ending of the file's name; probabilities need a table. An ending that promises something else is refused. */
export function answerFormat(path: string, withProbabilities: boolean): AnswerFormat {
  const ending = /\.([a-z0-9]+)$/i.exec(path)?.[1].toLowerCase();
  if (ending === "jsonl" || ending === "ndjson") return "jsonl";
  if (ending === "csv") return "csv";
  if (ending !== undefined && ending !== "txt") {
    throw usageError(`--out: expected a name ending in .csv, .jsonl or .txt, found ${path}`);
  }
  return withProbabilities ? "csv" : "lines";
}

/** Rows gathered before they are handed on. */
const ROWS_PER_PIECE = 4096;

/** The answers, piece by piece. */
export function* answersAsText(
  { labels, probabilities, classes }: Answer,
  format: AnswerFormat,
): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  if (format === "csv") {
    const names = ["label", ...(probabilities ? classes.map(String) : [])];
    yield encoder.encode(`${names.map(field).join(",")}\n`);
  }
  const line = (r: number): string => {
    const found = probabilities?.row(r);
    switch (format) {
      case "lines":
        return several(labels[r]).replace(/[\r\n]+/g, " ");
      case "csv":
        return [field(several(labels[r])), ...Array.from(found ?? [], String)].join(",");
      case "jsonl":
        return JSON.stringify({
          label: labels[r],
          ...(found ? { probabilities: Object.fromEntries(classes.map((name, c) => [name, found[c]])) } : {}),
        });
    }
  };
  for (let from = 0; from < labels.length; from += ROWS_PER_PIECE) {
    let text = "";
    for (let r = from; r < Math.min(from + ROWS_PER_PIECE, labels.length); r++) text += `${line(r)}\n`;
    yield encoder.encode(text);
  }
}

const several = (label: Label | readonly Label[]): string =>
  typeof label === "object" ? label.join(",") : String(label);

/** A field of CSV, quoted where it has to be. */
const field = (text: string): string => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
