/** The Open Inference Protocol, version 2: what a model takes and gives, and one inference. */

import type { TableModel } from "@ranksim/data";
import { badRequest } from "./http-error.ts";
import { denseRows, type Rows, textRows } from "./input.ts";
import type { Answers, ServedModel, Wanted } from "./served-model.ts";
import { tableRows } from "./table-rows.ts";
import { type InferRequest, type OutputTensor, type Tensor, tensorBytes } from "./tensors.ts";

/** Metadata of a model. */
export function modelMetadata(model: ServedModel): object {
  const inputs = model.takesText
    ? [{ name: "text", datatype: "BYTES", shape: [-1] }]
    : model.encoder
      ? model.encoder.columns.map(({ name, type }) => ({
          name,
          datatype: type === "number" ? "FP64" : "BYTES",
          shape: [-1],
        }))
      : [{ name: "rows", datatype: "FP64", shape: [-1, model.features] }];
  return {
    name: model.name,
    versions: [model.version],
    platform: "ranksim",
    inputs,
    outputs: outputNames(model).map((name) => ({ name, ...typeOf(name, model) })),
    ...(model.classes.length > 0 ? { parameters: { classes: model.classes } } : {}),
  };
}

/** What a model can give. */
function outputNames({ canPredict, isMultilabel, hasProbabilities, canTransform }: ServedModel): string[] {
  if (!canPredict) return canTransform ? ["similarities"] : [];
  return [isMultilabel ? "present" : "label", ...(hasProbabilities ? ["probabilities"] : [])];
}

function typeOf(name: string, model: ServedModel): { datatype: OutputTensor["datatype"]; shape: number[] } {
  if (name === "label") return { datatype: hasWholeLabels(model) ? "INT64" : "BYTES", shape: [-1] };
  if (name === "present") return { datatype: "BOOL", shape: [-1, model.classes.length] };
  return { datatype: "FP64", shape: [-1, name === "similarities" ? model.outputWidth : model.classes.length] };
}

const hasWholeLabels = ({ classes }: ServedModel): boolean => classes.every((label) => Number.isSafeInteger(label));

/** Runs one inference. The answer is JSON, followed by bytes where outputs were asked for as such. */
export async function infer(
  model: ServedModel,
  request: InferRequest,
  ask: (rows: Rows, wanted: Wanted) => Promise<Answers>,
): Promise<{ body: Buffer; headerLength: number | undefined }> {
  const names = outputNames(model);
  const asked = request.outputs ?? new Map(names.map((name) => [name, request.binary]));
  for (const name of asked.keys()) {
    if (!names.includes(name)) {
      throw badRequest(`outputs: model ${model.name} has ${names.join(" and ")}, not ${JSON.stringify(name)}`);
    }
  }
  const rows = model.encoder ? await tableOf(model.encoder, model, request.inputs) : rowsOf(model, request.inputs);
  const wanted: Wanted = {
    labels: asked.has("label") || asked.has("present"),
    probabilities: asked.has("probabilities"),
    similarities: asked.has("similarities"),
  };
  const answers = await ask(rows, wanted);
  const outputs = [...asked].map(([name, binary]) => ({ tensor: outputOf(name, model, answers, rows.rows), binary }));
  const blocks = outputs.map(({ tensor, binary }) => (binary ? tensorBytes(tensor) : undefined));
  const json = {
    model_name: model.name,
    model_version: model.version,
    ...(request.id === undefined ? {} : { id: request.id }),
    outputs: outputs.map(({ tensor: { data, ...head } }, j) => {
      const block = blocks[j];
      return block === undefined
        ? {
            ...head,
            data: plainData(head.datatype, data),
          }
        : { ...head, parameters: { binary_data_size: block.length } };
    }),
  };
  const header = Buffer.from(JSON.stringify(json));
  const bytes = blocks.filter((block) => block !== undefined);
  return bytes.length === 0
    ? { body: header, headerLength: undefined }
    : { body: Buffer.concat([header, ...bytes]), headerLength: header.length };
}

/** Data as JSON holds it. */
function plainData(datatype: OutputTensor["datatype"], data: OutputTensor["data"]): unknown[] {
  const list: unknown[] = Array.from(data as ArrayLike<unknown>);
  return datatype === "BOOL" ? list.map(Boolean) : list;
}

function outputOf(name: string, model: ServedModel, answers: Answers, rows: number): OutputTensor {
  const { datatype, shape } = typeOf(name, model);
  const head = { name, datatype, shape: [rows, ...shape.slice(1)] };
  if (name === "label") {
    const labels = answers.labels as readonly (string | number)[];
    return { ...head, data: datatype === "INT64" ? (labels as readonly number[]) : labels.map(String) };
  }
  if (name === "probabilities") return { ...head, data: answers.probabilities ?? [] };
  if (name === "similarities") return { ...head, data: answers.similarities ?? [] };
  const c = model.classes.length;
  const present = new Uint8Array(rows * c);
  const place = new Map(model.classes.map((label, o) => [label, o]));
  for (const [r, set] of (answers.labels as readonly (readonly (string | number)[])[]).entries()) {
    for (const label of set) present[r * c + (place.get(label) as number)] = 1;
  }
  return { ...head, data: present };
}

/** The tensors of a request as rows: one tensor of all features, or one for each column by its name. */
function rowsOf(model: ServedModel, inputs: readonly Tensor[]): Rows {
  const columns = model.schema?.columns;
  if (inputs.length > 1 && columns && !model.takesText) return rowsOfColumns(model, inputs, columns);
  const [tensor, more] = inputs;
  if (more) throw badRequest(`inputs: expected one tensor, found ${inputs.length}`);
  const { shape, data, datatype, name } = tensor;
  if (model.takesText) {
    if (datatype !== "BYTES") throw badRequest(`inputs[0] ${name}: datatype: expected BYTES, found ${datatype}`);
    return textRows(data as readonly string[]);
  }
  if (datatype === "BYTES") throw badRequest(`inputs[0] ${name}: datatype: expected numbers, found BYTES`);
  const width = shape.slice(1).reduce((product, side) => product * side, 1);
  const [rows, features] = shape.length === 1 ? [1, shape[0]] : [shape[0], width];
  if (features !== model.features) {
    throw badRequest(`inputs[0] ${name}: shape: expected [rows, ${model.features}], found [${shape.join(", ")}]`);
  }
  const numbers = data as ArrayLike<number>;
  if (numbers instanceof Uint8Array) return { form: "dense", rows, values: numbers, isBytes: true };
  for (let e = 0; e < numbers.length; e++) {
    if (Number.isFinite(numbers[e])) continue;
    const at = `row ${Math.floor(e / features)}, column ${e % features}`;
    throw badRequest(`inputs[0] ${name}: ${at}: expected a finite number, found ${numbers[e]}`);
  }
  return { form: "dense", rows, values: numbers, isBytes: areBytes(numbers) };
}

function areBytes(numbers: ArrayLike<number>): boolean {
  for (let e = 0; e < numbers.length; e++) if ((numbers[e] & 255) !== numbers[e]) return false;
  return true;
}

/** The tensors of a request as rows of a table: one for each column by its name, or one of all cells. */
async function tableOf(encoder: TableModel, model: ServedModel, inputs: readonly Tensor[]): Promise<Rows> {
  const { columns } = encoder;
  const [only] = inputs;
  if (inputs.length > 1 || columns.some(({ name }) => name === only.name)) {
    return tableRows(encoder, listsOfColumns(model, inputs, columns).map(withGaps));
  }
  const { shape, data, name } = only;
  const width = shape.length === 1 ? shape[0] : shape.slice(1).reduce((product, side) => product * side, 1);
  if (width !== columns.length) {
    throw badRequest(`inputs[0] ${name}: shape: expected [rows, ${columns.length}], found [${shape.join(", ")}]`);
  }
  const rows = data.length / width;
  return tableRows(
    encoder,
    Array.from({ length: rows }, (_, r) => withGaps(Array.from({ length: width }, (_, c) => data[r * width + c]))),
  );
}

/** NaN is how a tensor says that a number is missing. */
const withGaps = (row: readonly unknown[]): unknown[] => row.map((cell) => (Number.isNaN(cell) ? null : cell));

function rowsOfColumns(
  model: ServedModel,
  inputs: readonly Tensor[],
  columns: readonly { readonly name: string }[],
): Rows {
  return denseRows(listsOfColumns(model, inputs, columns), columns.length);
}

/** Tensors of columns as lists of rows, in the order of the model's columns. */
function listsOfColumns(
  model: ServedModel,
  inputs: readonly Tensor[],
  columns: readonly { readonly name: string }[],
): unknown[][] {
  const given = new Map(inputs.map((tensor) => [tensor.name, tensor]));
  const lacking = columns.filter(({ name }) => !given.has(name)).map(({ name }) => JSON.stringify(name));
  if (lacking.length > 0)
    throw badRequest(`inputs: the model ${model.name} takes ${lacking.join(", ")}, which is lacking`);
  const rows = (given.get(columns[0].name) as Tensor).data.length;
  const lists = Array.from({ length: rows }, () => new Array<unknown>(columns.length));
  for (const [i, { name }] of columns.entries()) {
    const { data } = given.get(name) as Tensor;
    if (data.length !== rows)
      throw badRequest(`inputs: ${name} has ${data.length} rows, ${columns[0].name} has ${rows}`);
    for (let r = 0; r < rows; r++) lists[r][i] = data[r];
  }
  return lists;
}
