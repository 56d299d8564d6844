/** Reads a catalogued part from its files, wherever these are: Node gives files, a page may give what it fetched. */

import { Csr, type Label } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import { budgetOf } from "../budget.ts";
import type { DataSet, MatrixData, RowLabels } from "../data-set.ts";
import { readData, withLabels } from "../read.ts";
import { readLabels } from "../readers/labels.ts";
import type { ReadOptions } from "../readers/options.ts";
import { eachLine, textOf } from "../readers/scan.ts";
import { type ByteSource, openSource } from "../source.ts";
import type { CatalogueChoice } from "./catalogue.ts";
import { loadDigits } from "./digits.ts";
import type { CatalogueSource } from "./entry.ts";

/** Reads one source of a part. `files` are its files, in its order. */
export async function readCatalogued(
  { entry, part }: CatalogueChoice,
  source: CatalogueSource,
  files: readonly ByteSource[],
  options: ReadOptions = {},
): Promise<DataSet> {
  const named = entry.classNames === undefined ? {} : { classNames: entry.classNames };
  switch (source.form) {
    case "embedded":
      return embedded(part, source.rows);
    case "idx":
    case "npz": {
      const data = await readData(files[0], { ...options, format: source.form });
      return { ...withLabels(data, await readLabels(files[1], options), files[1].name), ...named };
    }
    case "newsgroups":
      return readData(files[0], {
        encoding: "latin1",
        remove: ["headers", "footers", "quotes"],
        ...options,
        under: `20news-bydate-${part}`,
      });
    case "svmlight":
      return readData(files[0], {
        ...options,
        format: "svmlight",
        firstFeature: 1,
        multilabel: true,
        features: entry.features as number,
      });
    case "lyrl2004":
      return readLyrl(files[0], files.slice(1), entry.features as number, options);
  }
}

async function embedded(part: string, rows: number): Promise<MatrixData> {
  const { x, y, imageSize } = await loadDigits();
  const from = part === "test" ? x.rows - rows : 0;
  return { form: "matrix", x: x.slice(from, from + rows), y: y.slice(from, from + rows), imageSize };
}

/** RCV1 as its makers publish it: vectors by story number, and topics by story number in a file apart. */
async function readLyrl(
  topicsFile: ByteSource,
  vectorFiles: readonly ByteSource[],
  features: number,
  options: ReadOptions,
): Promise<DataSet> {
  const topics = await readTopics(topicsFile, options);
  const parts: { x: Csr; y: RowLabels }[] = [];
  for (const file of vectorFiles) {
    const data = await readData(file, { ...options, format: "svmlight", features, firstFeature: 1, multilabel: false });
    parts.push({ x: (data as MatrixData).x as Csr, y: data.y as RowLabels });
  }
  const y = parts.flatMap((part) =>
    (part.y as readonly Label[]).map((story) => topics.get(Number(story)) ?? ([] as readonly string[])),
  );
  return { form: "matrix", x: stack(parts.map((part) => part.x)), y };
}

async function readTopics(source: ByteSource, options: ReadOptions): Promise<Map<number, string[]>> {
  const topics = new Map<number, string[]>();
  const opened = await openSource(source);
  await eachLine(opened.name, opened.stream, budgetOf(options).of(opened.name), (window, from, to, line) => {
    if (from === to) return;
    const [topic, story] = textOf(window, from, to).split(" ");
    if (!/^\d+$/.test(story ?? "")) {
      throw badFile(opened.name, `line ${line}`, "expected a topic and a story number");
    }
    const known = topics.get(Number(story));
    if (known === undefined) topics.set(Number(story), [topic]);
    else known.push(topic);
  });
  return topics;
}

/** Rows of several matrices, one below the other. */
function stack(parts: readonly Csr[]): Csr {
  if (parts.length === 1) return parts[0];
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const entries = parts.reduce((sum, part) => sum + part.entries, 0);
  const offsets = new Uint32Array(rows + 1);
  const indices = new Uint32Array(entries);
  const values = new Float64Array(entries);
  let row = 0;
  let at = 0;
  for (const part of parts) {
    indices.set(part.indices, at);
    values.set(part.values, at);
    for (let r = 0; r < part.rows; r++) offsets[++row] = at + part.offsets[r + 1];
    at += part.entries;
  }
  return Csr.of(offsets, indices, values, parts[0].features);
}
