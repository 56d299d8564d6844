/** `/predict`: rows or texts as JSON, NDJSON or CSV in; labels, probabilities, the most likely classes out, in the same form. */

import { Dense } from "@ranksim/core";
import { bytesSource, type Format, readData, type TableLike } from "@ranksim/data";
import { inputFor } from "@ranksim/learn";
import { answersAsText, topOf as mostLikely } from "../commands/answers.ts";
import { badRequest, HttpError } from "./http-error.ts";
import { denseRows, kindOf, matrixRows, type Rows, textRows } from "./input.ts";
import type { Answers, ServedModel } from "./served-model.ts";
import { tableRows } from "./table-rows.ts";
import { isObject, parseJson } from "./tensors.ts";
import { refuseCharset, textOf } from "./utf8.ts";

/** Forms of a body, by content type. */
export type BodyForm = "json" | "jsonl" | "csv" | "lines";

const FORMS: { readonly [type: string]: BodyForm } = {
  "application/json": "json",
  "application/x-ndjson": "jsonl",
  "application/jsonl": "jsonl",
  "application/jsonlines": "jsonl",
  "text/csv": "csv",
  "text/plain": "lines",
};

const TYPES: { readonly [form in BodyForm]: string } = {
  json: "application/json",
  jsonl: "application/x-ndjson",
  csv: "text/csv; charset=utf-8",
  lines: "text/plain; charset=utf-8",
};

/** The form of a body; without a content type it is taken for JSON. */
export function bodyForm(contentType: string | undefined): BodyForm {
  if (contentType === undefined || contentType === "application/json") return "json";
  refuseCharset(contentType);
  const type = contentType.split(";")[0].trim().toLowerCase();
  // What curl says of any --data.
  if (type === "application/x-www-form-urlencoded") return "json";
  if (Object.hasOwn(FORMS, type)) return FORMS[type];
  throw new HttpError(415, `Content-Type: expected one of ${Object.keys(FORMS).join(", ")}, found ${type}`);
}

/** What is asked beside the rows. */
export interface Question {
  readonly probabilities: boolean;
  /** How many of the most likely classes to name; undefined: none. */
  readonly top: number | undefined;
  /** `/nearest`: how many rows to find, and in how many lists to look; undefined: five, all. */
  readonly k: number | undefined;
  readonly probes: number | undefined;
}

/** A parsed JSON body, which may say more than rows. */
export interface ParsedJson {
  readonly content: readonly unknown[];
  readonly takes: "rows" | "texts" | undefined;
  readonly model: string | undefined;
  readonly question: Partial<Question>;
}

/** A JSON body: `{"rows": …}`, `{"texts": …}`, or the list alone; one row may come without a list around it. */
export function parseBody(body: Buffer): ParsedJson {
  const value = parseJson(textOf(body));
  if (Array.isArray(value)) return { content: inList(value), takes: undefined, model: undefined, question: {} };
  if (!isObject(value)) throw badRequest(`expected a list of rows or an object, found ${kindOf(value)}`);
  const { rows, texts, model, probabilities, top, k, probes } = value;
  if (rows === undefined && texts === undefined) {
    throw badRequest(
      `expected "rows" or "texts", found ${
        Object.keys(value)
          .slice(0, 5)
          .map((key) => JSON.stringify(key))
          .join(", ") || "an empty object"
      }`,
    );
  }
  const content = rows ?? texts;
  if (!Array.isArray(content)) {
    throw badRequest(`${rows === undefined ? "texts" : "rows"}: expected a list, found ${kindOf(content)}`);
  }
  if (model !== undefined && typeof model !== "string")
    throw badRequest(`model: expected a name, found ${kindOf(model)}`);
  if (probabilities !== undefined && typeof probabilities !== "boolean") {
    throw badRequest(`probabilities: expected true or false, found ${kindOf(probabilities)}`);
  }
  return {
    content: inList(content),
    takes: rows === undefined ? "texts" : "rows",
    model,
    question: {
      ...(probabilities === undefined ? {} : { probabilities }),
      ...(top === undefined ? {} : { top: countOf("top", top) }),
      ...(k === undefined ? {} : { k: countOf("k", k) }),
      ...(probes === undefined ? {} : { probes: countOf("probes", probes) }),
    },
  };
}

const inList = (content: unknown[]): unknown[] => (typeof content[0] === "number" ? [content] : content);

/** How many classes, rows or lists, as a request says. */
export function countOf(name: string, value: unknown): number {
  const count = typeof value === "string" && value !== "" ? Number(value) : value;
  if (Number.isSafeInteger(count) && (count as number) > 0) return count as number;
  throw badRequest(`${name}: expected a whole number from 1 on, found ${kindOf(value)}`);
}

/** Rows of a JSON body for a model: lists by position, objects by the names of the model's columns. */
export async function jsonRows(model: ServedModel, { content, takes }: ParsedJson): Promise<Rows> {
  if (takes === "texts" || (takes === undefined && model.takesText)) return textRows(content);
  if (model.takesText && !isObject(content[0])) {
    throw badRequest(`model ${model.name}: expected texts, found rows; send {"texts": [...]}`);
  }
  if (model.encoder) return tableRows(model.encoder, content);
  if (!isObject(content[0])) return denseRows(content, model.features);
  return readRows(model, Buffer.from(content.map(lineOf).join("\n")), "jsonl");
}

/** A row of JSON as a line of JSON lines. */
function lineOf(row: unknown, r: number): string {
  try {
    return JSON.stringify(row);
  } catch (error) {
    // All that parsed JSON can be refused for.
    if (!(error instanceof RangeError)) throw error;
    throw badRequest(`row ${r}: expected an object of values, found lists or objects nested too deeply`);
  }
}

/** Rows of a body in lines. */
export async function readRows(model: ServedModel, body: Buffer, form: Exclude<BodyForm, "json">): Promise<Rows> {
  if (form === "lines") {
    if (!model.takesText) throw badRequest(`model ${model.name} takes rows of numbers: send JSON, NDJSON or CSV`);
    const lines = textOf(body)
      .replace(/\r?\n$/, "")
      .split(/\r?\n/);
    return textRows(lines);
  }
  const data = await readData(bytesSource(body, "body"), {
    format: form satisfies Format,
    labelColumn: null,
    ...(model.schema ? { schema: model.schema } : {}),
    ...(model.takesText
      ? { textColumn: model.schema?.text ?? "text" }
      : { features: model.encoder?.columns.length ?? model.features }),
  });
  if (model.encoder) return matrixRows(await model.encoder.transform(inputFor("table", data) as TableLike));
  if (data.form === "text") return textRows(data.text);
  if (data.form === "table") throw badRequest("expected rows of numbers, found a table");
  if (data.x.features !== model.features) {
    throw badRequest(`the model has ${model.features} features, the rows have ${data.x.features}`);
  }
  return matrixRows(data.x);
}

/** The answer in the form of the question. */
export async function answerText(
  model: ServedModel,
  answers: Answers,
  { probabilities, top }: Question,
  form: BodyForm,
): Promise<{ type: string; text: string }> {
  const type = TYPES[form];
  const { classes } = model;
  const c = classes.length;
  const rows = answers.labels.length;
  const found = answers.probabilities;
  if (form === "json") {
    const result: { [key: string]: unknown } = { model: model.name, version: model.version, labels: answers.labels };
    const rowOf = (r: number) => (found as Float64Array).subarray(r * c, (r + 1) * c);
    if (probabilities && found) {
      result.classes = classes;
      result.probabilities = Array.from({ length: rows }, (_, r) => Array.from(rowOf(r)));
    }
    if (top !== undefined && found) {
      result.top = Array.from({ length: rows }, (_, r) =>
        mostLikely(rowOf(r), top).map((j) => ({ label: classes[j], probability: rowOf(r)[j] })),
      );
    }
    return { type, text: JSON.stringify(result) };
  }
  const block = { labels: answers.labels, probabilities: found && Dense.of(found, rows, c), kept: [] };
  const shape = { classes, keptNames: [], probabilities: probabilities && found !== undefined, top: top ?? 0 };
  const pieces: Uint8Array[] = [];
  for await (const piece of answersAsText(once(block), form, shape)) pieces.push(piece);
  return { type, text: Buffer.concat(pieces).toString() };
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}
