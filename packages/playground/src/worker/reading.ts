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
  isInMemory,
  joinData,
  type ReadOptions,
  readData,
  readLabels,
  rowCount,
  tableReader,
  textReaders,
  withLabels,
} from "@ranksim/data";
import { IMAGE_SIZES, prepare, tableModelOf } from "@ranksim/learn";
import type { NamedFile, Preview, ReadChoices } from "../protocol.ts";
import { type LoadedData, loadedData } from "./data.ts";
import { inPageWords } from "./page-words.ts";
import { headOf, previewOf } from "./preview.ts";

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
  const isTable = model && tableModelOf(model.model) && others.length === 1 && !NUMBERS_ALONE.test(others[0].path);
  if (others.length === 0) return { choices, ...(model ? { model } : {}) };
  const head = others.length === 1 && !isTable ? await headOf(others[0].file) : undefined;
  try {
    const read = isTable ? await readTable(others[0], model.model) : await readDataSet(others, choices);
    const preview = head && previewOf(head, choices, read.set);
    const data = { ...named(read, model?.model), ...(preview ? { preview } : {}) };
    return { data, choices, ...(model ? { model } : {}) };
  } catch (error) {
    if (!head || model) throw error;
    return { choices, refused: { message: inPageWords(error), preview: previewOf(head, choices) } };
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
  if (/\.(docx|pptx|odt|ods)$/i.test(file.name)) {
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
  const names = model && schemaOf(model)?.columns?.map(({ name }) => name);
  const { set } = data;
  if (set.form !== "matrix" || set.featureNames || names?.length !== set.x.features) return data;
  return { ...data, set: { ...set, featureNames: names } };
}

/** The model in a file of the command line. */
export function readModel(bytes: Uint8Array): Model {
  return loadModel(bytes, { readers: [...textReaders, tableReader] });
}

/** Arrays have no columns that could be matched by name. */
const NUMBERS_ALONE = /\.(npy|npz)$/i;

/** Rows of a table, matched by name. */
async function readTable({ path, file }: NamedFile, model: Model): Promise<LoadedData> {
  const schema = schemaOf(model);
  return loadedData(path, await readData(blobSource(file), { table: true, ...(schema ? { schema } : {}) }));
}

/** What the command reads by, of what was said. */
function optionsOf({ encoding, multilabel, labelColumn, ignoreColumns, ...columns }: ReadChoices): ReadOptions {
  const said = Object.entries(columns).map(([name, column]) => [name, columnOf(column)]);
  return {
    ...Object.fromEntries(said),
    ...(labelColumn === undefined ? {} : { labelColumn: labelColumn === null ? null : columnOf(labelColumn) }),
    ...(ignoreColumns ? { ignoreColumns: ignoreColumns.map(columnOf) } : {}),
    ...(encoding ? { encoding } : {}),
    ...(multilabel ? { multilabel } : {}),
  };
}

/** How the command reads where nothing else is said. */
const USUAL = { table: true, emptyLabels: "leave out", sizes: IMAGE_SIZES } as const;

async function readDataSet(files: readonly NamedFile[], choices: ReadChoices): Promise<LoadedData> {
  const options = optionsOf(choices);
  const reading = { ...USUAL, ...(choices.textColumn ? { table: false } : {}), ...options };
  const inFolder = files.some(({ path }) => path.includes("/"));
  if (inFolder || files.every(({ path }) => IMAGE.test(path))) {
    const name = inFolder ? files[0].path.split("/")[0] : "images";
    const format = files.every(({ path }) => IMAGE.test(path)) ? "image-folder" : "text-folder";
    const read = await readData(folderOf(name, files), { ...reading, format });
    return loadedData(name, read, { options, reading: { format } });
  }
  if (files.length > 1) return readPair(files, reading, options);
  const read = await readData(blobSource(files[0].file), reading);
  return loadedData(nameOf(files[0]), read, { options, ...(await asTexts(read)) });
}

/** A table of which nothing but one column of texts tells anything is shown as texts. */
async function asTexts(read: DataSet): Promise<{ set?: DataSet }> {
  if (read.form !== "table") return {};
  const [{ data }] = (await prepare(read)).views;
  return data.form === "text" && isInMemory(data) ? { set: data } : {};
}

const IMAGE = /\.(png|pgm|jpe?g)$/i;
const LABELS = /label|target|(^|[^a-z])y([^a-z]|$)/i;

const TEST = /(^|[^a-z])(t10k|test|val(id(ation)?)?)([^a-z]|$)/i;

/** Rows and labels in files of their own, told apart by their names; test files beside training files are held out. */
async function readPair(files: readonly NamedFile[], reading: ReadOptions, options: ReadOptions): Promise<LoadedData> {
  const test = files.filter(({ path }) => TEST.test(path));
  const train = files.filter(({ path }) => !TEST.test(path));
  const isPair = test.length > 0 && train.length > 0;
  const { data, name, labels } = await readRows(isPair ? train : files, reading);
  const shared = { options, ...(labels === undefined ? {} : { reading: { labels } }) };
  if (!isPair) return loadedData(name, data, shared);
  const joined = joinData([data, (await readRows(test, reading)).data]);
  const [from, to] = [rowCount(data), rowCount(joined)];
  const testRows = Uint32Array.from({ length: to - from }, (_, row) => from + row);
  return loadedData(name, joined, { ...shared, testRows });
}

/** One file of rows, and a file of their labels if there is one. */
async function readRows(
  files: readonly NamedFile[],
  options: ReadOptions,
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
