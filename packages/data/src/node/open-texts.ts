/** Texts in files that need not fit in memory: they are read in blocks whenever they are needed; labels and counts are found first. */

import { type Csr, RanksimError } from "@ranksim/core";
import { type Block, readBlocks, readTextBlocks } from "../blocks.ts";
import type { RowLabels, TextSourceData } from "../data-set.ts";
import { joinLabels } from "../join.ts";
import type { ReadDataOptions } from "../read.ts";
import { type InBlocks, LabelBlocks } from "../readers/label-blocks.ts";
import { readLabels } from "../readers/labels.ts";
import { hashRows } from "../row-hash.ts";
import type { ByteSource } from "../source.ts";
import { cacheRows, scratchFolder } from "./cached-rows.ts";
import type { OpenRowsOptions } from "./open-rows.ts";

/** Opens files as one source of texts, in the order given: lines of .txt files, or the column of text of tables. */
export async function openTexts(files: readonly ByteSource[], options: OpenRowsOptions): Promise<TextSourceData> {
  const { room, scratch: folder = scratchFolder(), labels: apart, budget: _, ...reading } = options;
  const blocks = () => blocksOf(files, reading);
  const labels = files.map(() => new LabelBlocks());
  const hashes: Uint32Array[] = [];
  const notes = new Set<string>();
  let first: Block["data"] | undefined;
  let rows = 0;
  for await (const data of blocksOf(files, reading, labels)) {
    first ??= data;
    rows += data.text.length;
    hashes.push(hashRows(data));
    for (const note of data.notes ?? []) notes.add(note);
  }
  const y = apart ? await readLabels(apart, reading) : joinedLabels(labels);
  if (y && y.length !== rows) {
    throw new RanksimError(
      "bad-labels",
      `${apart?.name ?? files[0].name}: expected ${rows} labels, one for each text, found ${y.length}`,
    );
  }
  const x: TextSourceData["x"] = {
    form: "texts",
    rows,
    async *blocks() {
      for await (const { text } of blocks()) yield text;
    },
    keep: (made: AsyncIterable<Csr>, shape) => cacheRows(made, { form: "csr", ...shape, room, folder }),
  };
  return {
    form: "texts",
    x,
    hashes: joined(hashes, rows),
    ...(y ? { y } : {}),
    ...(first?.found ? { found: first.found } : {}),
    ...(notes.size === 0 ? {} : { notes: [...notes] }),
  };
}

function joinedLabels(files: readonly LabelBlocks[]): RowLabels | undefined {
  const found = files.map((labels) => labels.finish()).filter((y) => y !== undefined);
  return found.length > 0 ? joinLabels(found) : undefined;
}

/** The blocks of all files; `labels` takes in those of each file. */
async function* blocksOf(files: readonly ByteSource[], options: ReadDataOptions, labels: readonly LabelBlocks[] = []) {
  const isPlain = options.format === undefined && options.textColumn === undefined;
  const withColumn = options.textColumn === undefined ? { ...options, textColumn: "text" } : options;
  for (const [j, file] of files.entries()) {
    const isLines = isPlain && /\.txt$/i.test(file.name);
    const own: ReadDataOptions & InBlocks = { ...withColumn, ...(labels[j] ? { labelBlocks: labels[j] } : {}) };
    for await (const { data } of isLines ? readTextBlocks(file, options.encoding) : readBlocks(file, own)) {
      if (data.form !== "text") throw new RanksimError("bad-matrix", `${file.name}: expected text, found numbers`);
      labels[j]?.add(data.y);
      yield data;
    }
  }
}

function joined(parts: readonly Uint32Array[], length: number): Uint32Array {
  const all = new Uint32Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
