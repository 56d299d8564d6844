/**
 * Files that were dropped become a data set or a model. Loaded on demand: a page that only looks at the embedded digits never
 * fetches the readers.
 */

import { loadModel, type Model, PipelineModel, schemaOf } from "@ranksim/core";
import {
  blobSource,
  type ColumnChoice,
  type DataSet,
  type Folder,
  readData,
  readLabels,
  Table,
  TableModel,
  tableReader,
  textReaders,
  withLabels,
} from "@ranksim/data";
import type { NamedFile, ReadChoices } from "../protocol.ts";
import { isMatrix, type LoadedData, loadedData } from "./data.ts";

/** What a drop contained. */
export interface Read {
  readonly data?: LoadedData;
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
  const encoder = model && encoderOf(model.model);
  const isTable = encoder && others.length === 1 && !NUMBERS_ALONE.test(others[0].path);
  const data =
    others.length === 0
      ? undefined
      : isTable
        ? await readTable(others[0], model.model, encoder)
        : await readDataSet(others, choices);
  return { ...(data ? { data: named(data, model?.model) } : {}), ...(model ? { model } : {}) };
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
  const [first] = model instanceof PipelineModel ? model.steps : [model];
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
  return loadedData(nameOf(named), { form: "matrix", x, ...(data.y ? { y: data.y } : {}) });
}

async function readDataSet(files: readonly NamedFile[], choices: ReadChoices): Promise<LoadedData> {
  const options = {
    ...(choices.labelColumn ? { labelColumn: columnOf(choices.labelColumn) } : {}),
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

const IMAGE = /\.(png|pgm)$/i;
const LABELS = /label|target|(^|[^a-z])y([^a-z]|$)/i;

/** Rows in one file and labels in another, told apart by their names. */
async function readPair(files: readonly NamedFile[], options: object): Promise<LoadedData> {
  const labels = files.filter(({ path }) => LABELS.test(path));
  const rows = files.filter(({ path }) => !LABELS.test(path));
  if (files.length !== 2 || labels.length !== 1) {
    throw new Error(
      `Expected one file, a folder, or a file of rows with a file of labels (with "labels" in its name); found ${files.map(nameOf).join(", ")}.`,
    );
  }
  const data: DataSet = await readData(blobSource(rows[0].file), options);
  const name = nameOf(labels[0]);
  const labelled = withLabels(data, await readLabels(blobSource(labels[0].file)), name);
  return loadedData(nameOf(rows[0]), labelled, { labels: name });
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
