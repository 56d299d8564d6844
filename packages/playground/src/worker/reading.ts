/**
 * Files that were dropped become a data set or a model. Loaded on demand: a page that only looks at the embedded digits never
 * fetches the readers.
 */

import { loadModel, type Model, schemaOf } from "@ranksim/core";
import {
  blobSource,
  type ColumnChoice,
  type DataSet,
  type Folder,
  joinData,
  readData,
  readLabels,
  rowCount,
  seenRows,
  Table,
  TableModel,
  tableReader,
  textReaders,
  withLabels,
} from "@ranksim/data";
import type { NamedFile, Preview, ReadChoices } from "../protocol.ts";
import { isMatrix, type LoadedData, loadedData } from "./data.ts";
import { stepsOf } from "./pipeline.ts";
import { previewOf } from "./preview.ts";

/** What a drop contained. */
export interface Read {
  readonly data?: LoadedData;
  readonly choices: ReadChoices;
  /** A table that could not be read with the choices, and why. */
  readonly refused?: { readonly message: string; readonly preview: Preview };
  readonly model?: { readonly name: string; readonly model: Model };
}

/** Reads everything that was dropped together: at most one model and one data set, whose labels may be a file of their own. */
export async function readDropped(files: readonly NamedFile[], choices: ReadChoices): Promise<Read> {
  const visible = files.filter(({ path }) => !path.split("/").some((part) => part.startsWith(".")));
  if (visible.length === 0) throw new Error("Nothing to read: the folder is empty or holds hidden files only.");
  const models: NamedFile[] = [];
  const others: NamedFile[] = [];
  for (const named of visible) ((await isModel(named.file)) ? models : others).push(named);
  if (models.length > 1)
    throw new Error(`Expected one model, found ${models.length}: ${models.map(nameOf).join(", ")}.`);
  const model =
    models.length === 0 ? undefined : { name: nameOf(models[0]), model: readModel(await bytesOf(models[0].file)) };
  refuseDocuments(await Promise.all(others.map(async (named) => ({ named, kind: await documentKind(named.file) }))));
  const encoder = model && encoderOf(model.model);
  const isTable = encoder && others.length === 1 && !NUMBERS_ALONE.test(others[0].path);
  if (others.length === 0) return { choices, ...(model ? { model } : {}) };
  const looked = others.length === 1 && !isTable ? await previewOf(others[0].file, choices) : undefined;
  const used = looked?.choices ?? choices;
  try {
    const read = isTable ? await readTable(others[0], model.model, encoder) : await readDataSet(others, used);
    const data = { ...named(read, model?.model), ...(looked ? { preview: looked.preview } : {}) };
    return { data, choices: used, ...(model ? { model } : {}) };
  } catch (error) {
    if (!looked || model) throw error;
    const message = error instanceof Error ? error.message : String(error);
    return { choices: used, refused: { message, preview: looked.preview } };
  }
}

/** Documents that people drop and that hold no rows, by how their files begin. */
const DOCUMENTS: readonly (readonly [kind: string, begins: RegExp, cure: string])[] = [
  ["a PDF document", /^%PDF/, "Save its table as CSV and drop that."],
  ["a photo (JPEG)", /^\xff\xd8\xff/, ""],
  ["a picture (PNG)", /^\x89PNG/, ""],
  ["a picture (GIF)", /^GIF8/, ""],
  ["a picture (WebP)", /^RIFF....WEBP/s, ""],
  ["a photo (HEIC)", /^....ftyp(heic|heix|mif1|hevc)/s, ""],
  ["a film (MP4)", /^....ftyp/s, ""],
  ["an old Office document", /^\xd0\xcf.\xe0\xa1\xb1/s, "Save its table as CSV and drop that."],
];

/** Named, so that a photo is called a photo and not a broken table. */
async function documentKind(file: File): Promise<(typeof DOCUMENTS)[number] | undefined> {
  const head = new Uint8Array(await file.slice(0, 16).arrayBuffer());
  const text = String.fromCharCode(...head);
  if (/\.(docx|xlsx|pptx|odt|ods)$/i.test(file.name)) {
    return ["an Office document", /^/, "Save its table as CSV and drop that."];
  }
  return DOCUMENTS.find(([, begins]) => begins.test(text));
}

/** Pictures become rows together, not one alone; other documents never do. */
function refuseDocuments(found: readonly { named: NamedFile; kind: (typeof DOCUMENTS)[number] | undefined }[]): void {
  const isPicture = (kind: (typeof DOCUMENTS)[number] | undefined) => kind !== undefined && /PNG|JPEG/.test(kind[0]);
  if (found.length > 1 && found.every(({ named, kind }) => isPicture(kind) || IMAGE.test(named.path))) return;
  for (const { named, kind } of found) {
    if (!kind || (found.length > 1 && isPicture(kind))) continue;
    const cure =
      kind[2] || "One picture is no data: drop a folder of many of one size, a folder inside it for each class.";
    throw new Error(`${nameOf(named)} is ${kind[0]}, not a table of rows. ${cure}`);
  }
}

/** Rows without names of their own have those of the model that they came with. */
function named(data: LoadedData, model: Model | undefined): LoadedData {
  const names = model && (encoderOf(model)?.featureNames ?? schemaOf(model)?.columns?.map(({ name }) => name));
  const fits = isMatrix(data.x) && names?.length === data.x.features;
  return fits && !data.featureNames ? { ...data, featureNames: names } : data;
}

/** The model in a file of the command line. */
export function readModel(bytes: Uint8Array): Model {
  return loadModel(bytes, { readers: [...textReaders, tableReader] });
}

/** What a model of tables begins with. */
function encoderOf(model: Model): TableModel | undefined {
  const [first] = stepsOf(model);
  return first instanceof TableModel ? first : undefined;
}

/** Arrays have no columns: their rows come coded, as `ranksim play` serves them. */
const NUMBERS_ALONE = /\.(npy|npz)$/i;

/** Rows of a table, matched by name and coded as the model has learned. */
async function readTable(named: NamedFile, model: Model, encoder: TableModel): Promise<LoadedData> {
  const schema = schemaOf(model);
  const data = await readData(blobSource(named.file), { table: true, ...(schema ? { schema } : {}) });
  if (data.form === "text") throw new Error(`${nameOf(named)}: expected columns as the model has them, found text.`);
  const table = data.form === "table" ? data.table : Table.fromMatrix(data.x, data.featureNames);
  const x = await encoder.transform(table);
  const seen = schema && seenRows(schema, data);
  const loaded = loadedData(nameOf(named), { form: "matrix", x, ...(data.y ? { y: data.y } : {}) });
  return seen === undefined ? loaded : { ...loaded, seen };
}

async function readDataSet(files: readonly NamedFile[], choices: ReadChoices): Promise<LoadedData> {
  const options = {
    ...(choices.labelColumn === undefined
      ? {}
      : { labelColumn: choices.labelColumn === null ? null : columnOf(choices.labelColumn) }),
    ...(choices.ignoreColumns ? { ignoreColumns: choices.ignoreColumns.map(columnOf) } : {}),
    ...(choices.textColumn ? { textColumn: columnOf(choices.textColumn) } : {}),
    ...(choices.encoding ? { encoding: choices.encoding } : {}),
  };
  const inFolder = files.some(({ path }) => path.includes("/"));
  if (inFolder || files.every(({ path }) => IMAGE.test(path))) {
    const name = inFolder ? files[0].path.split("/")[0] : "images";
    const format = files.every(({ path }) => IMAGE.test(path)) ? "image-folder" : "text-folder";
    return loadedData(name, await readData(folderOf(name, files), { ...options, format }), { format });
  }
  if (files.length === 1) return loadedData(nameOf(files[0]), await readData(blobSource(files[0].file), options));
  return readPair(files, options);
}

const IMAGE = /\.(png|pgm|jpe?g)$/i;
const LABELS = /label|target|(^|[^a-z])y([^a-z]|$)/i;

const TEST = /(^|[^a-z])(t10k|test|val(id(ation)?)?)([^a-z]|$)/i;

/** Rows and labels in files of their own, told apart by their names; test files beside training files are held out. */
async function readPair(files: readonly NamedFile[], options: object): Promise<LoadedData> {
  const test = files.filter(({ path }) => TEST.test(path));
  const train = files.filter(({ path }) => !TEST.test(path));
  if (test.length === 0 || train.length === 0) {
    const { data, name, labels } = await readRows(files, options);
    return loadedData(name, data, labels === undefined ? undefined : { labels });
  }
  const first = await readRows(train, options);
  const second = await readRows(test, options);
  const joined = loadedData(
    first.name,
    joinData([first.data, second.data]),
    first.labels === undefined ? undefined : { labels: first.labels },
  );
  const from = rowCount(first.data);
  return { ...joined, testRows: Uint32Array.from({ length: joined.rows - from }, (_, row) => from + row) };
}

/** One file of rows, and a file of their labels if there is one. */
async function readRows(
  files: readonly NamedFile[],
  options: object,
): Promise<{ data: DataSet; name: string; labels?: string }> {
  const labels = files.filter(({ path }) => LABELS.test(path));
  const rows = files.filter(({ path }) => !LABELS.test(path));
  if (rows.length !== 1 || labels.length > 1 || (files.length > 1 && labels.length === 0)) {
    throw new Error(
      `Expected one file, a folder, or a file of rows with a file of labels (with "labels" in its name), and the same again for test rows (with "test" or "t10k"); found ${files.map(nameOf).join(", ")}.`,
    );
  }
  const data: DataSet = await readData(blobSource(rows[0].file), options);
  if (labels.length === 0) return { data, name: nameOf(rows[0]) };
  const name = nameOf(labels[0]);
  return {
    data: withLabels(data, await readLabels(blobSource(labels[0].file)), name),
    name: nameOf(rows[0]),
    labels: name,
  };
}

/** The folder as a reader sees it: paths without the folder's own name. */
function folderOf(name: string, files: readonly NamedFile[]): Folder {
  return {
    name,
    async *entries() {
      for (const { path, file } of files) {
        const inside = path.startsWith(`${name}/`) ? path.slice(name.length + 1) : path;
        yield { path: inside, bytes: () => bytesOf(file) };
      }
    },
  };
}

/** A column by number where the text is one. */
function columnOf(text: string): ColumnChoice {
  return /^-?\d+$/.test(text) ? Number(text) : text;
}

/** A model file opens with a length of 8 bytes and then its header, which names the format first. */
async function isModel(file: File): Promise<boolean> {
  const head = new Uint8Array(await file.slice(0, 64).arrayBuffer());
  return (
    /\.(model|ranksim|safetensors)$/i.test(file.name) ||
    new TextDecoder().decode(head.subarray(8)).startsWith('{"__metadata__"')
  );
}

const bytesOf = async (file: File): Promise<Uint8Array<ArrayBuffer>> => new Uint8Array(await file.arrayBuffer());

const nameOf = ({ path }: NamedFile): string => path.slice(path.lastIndexOf("/") + 1);
