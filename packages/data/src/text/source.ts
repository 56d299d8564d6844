/** Texts that do not fit in memory: they are read in blocks, and rows made of them are kept where they can be read again. */

import type { Csr, RowSource, Run, Values } from "@ranksim/core";
import { widestOf } from "../rows/stored-rows.ts";
import { advance } from "./counting.ts";

/** Texts in order, as often as they are asked for. `openTexts` makes one of files. */
export interface TextSource {
  readonly form: "texts";
  readonly rows: number;
  /** A hash of each text, as `describeData` takes them. */
  readonly hashes: Uint32Array;
  blocks(): AsyncIterable<readonly string[]>;
  /** Keeps rows that come in order, and of which this is known. `like` is an empty array of their element type. */
  keep(
    blocks: AsyncIterable<Csr>,
    shape: { readonly rows: number; readonly features: number; readonly like: Values },
  ): Promise<RowSource>;
}

/** What a vectoriser learns from. */
export type Texts = readonly string[] | TextSource;

/** Whether texts are read when they are needed. */
export const isTextSource = (x: Texts): x is TextSource =>
  !Array.isArray(x) && (x as TextSource | null)?.form === "texts";

/** The texts of these rows, which ascend, as a source: all are read, and the others passed over. */
export function listedTexts(source: TextSource, rows: Uint32Array): TextSource {
  return {
    form: "texts",
    rows: rows.length,
    hashes: rows.map((r) => source.hashes[r]),
    async *blocks() {
      let first = 0;
      let next = 0;
      for await (const texts of source.blocks()) {
        const own: string[] = [];
        for (; next < rows.length && rows[next] < first + texts.length; next++) own.push(texts[rows[next] - first]);
        first += texts.length;
        if (own.length > 0) yield own;
      }
    },
    keep: (blocks, shape) => source.keep(blocks, shape),
  };
}

/** Texts in blocks, with a word of progress before each. */
export async function* textBlocks(
  source: TextSource,
  run: Run,
  stage: "fit" | "transform",
): AsyncGenerator<readonly string[]> {
  let rows = 0;
  for await (const texts of source.blocks()) {
    await advance(run, stage, rows / source.rows);
    yield texts;
    rows += texts.length;
  }
  await advance(run, stage, 1);
}

/** The rows that `transform` makes of the texts. Their element type is that of all of them, so that it is looked for first where it is not known. */
export async function transformSource(
  source: TextSource,
  features: number,
  transform: (texts: readonly string[]) => Promise<Csr>,
  known: Values | undefined,
  run: Run,
): Promise<RowSource> {
  let like = known ?? new Uint8Array(0);
  if (!known) {
    for await (const texts of source.blocks()) {
      run.signal?.throwIfAborted();
      like = widestOf([like, (await transform(texts)).values]);
    }
  }
  async function* rows(): AsyncGenerator<Csr> {
    for await (const texts of textBlocks(source, run, "transform")) yield transform(texts);
  }
  return source.keep(rows(), { rows: source.rows, features, like });
}
