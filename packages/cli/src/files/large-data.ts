/** DATA that would not fit in the memory it may take: files of numbers or texts, opened as a source that is read in blocks. */

import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { RanksimError } from "@ranksim/core";
import { type AnySource, isImageName, layoutOf } from "@ranksim/data";
import { fileSource, openRows, openTable, openTexts } from "@ranksim/data/node";
import { memoryFor } from "../agreement.ts";
import { type ReadingOptions, readOptions } from "../flags/reading-flags.ts";
import type { TableOptions } from "../flags/table-flags.ts";
import type { Io } from "../io.ts";
import type { Session } from "../session.ts";
import { dataNames } from "./data-names.ts";

/** Bytes that reading a file whole takes for each of its own: arrays are checked and copied, text is taken apart, Parquet unpacked. */
const TAKES = { placed: 17, text: 4, packed: 16 } as const;
/** Share of the memory that rows may take in all their copies; filters, labels and the process itself have the rest. */
const ROOM = 0.5;

/** The data as a source; undefined where it fits in memory, or is not made of files. */
export async function openLarge(
  what: readonly string[],
  options: ReadingOptions & TableOptions,
  session: Session,
  wanted: { readonly text: boolean; readonly labelled: boolean },
): Promise<{ readonly data: AnySource; readonly name: string } | undefined> {
  const { io } = session;
  const names = await dataNames(what, io.cwd);
  const memory = await memoryFor(options, io);
  if (!(await exceed(names, memory, io))) return undefined;
  const files = await Promise.all(names.map(async (name) => ({ ...(await fileSource(resolve(io.cwd, name))), name })));
  const { budget: _, ...reading } = readOptions(options);
  const labels = options.labels && { ...(await fileSource(resolve(io.cwd, options.labels))), name: options.labels };
  const scratch = io.env.RANKSIM_SCRATCH;
  const open: (...given: Parameters<typeof openRows>) => Promise<AnySource> = wanted.text
    ? openTexts
    : options.table === false
      ? openRows
      : openTable;
  const data = await session.metered(`reading ${basename(names[0])}`, () =>
    open(files, {
      ...reading,
      room: memory * ROOM,
      ...(labels ? { labels } : {}),
      ...(scratch ? { scratch } : {}),
    }),
  );
  if (wanted.labelled && data.y === undefined) {
    throw new RanksimError(
      "bad-labels",
      `${names[0]}: expected labels, found none; name their column with --label-column or their file with --labels`,
    );
  }
  for (const note of data.notes ?? []) await session.note(note);
  return { data, name: names.length === 1 ? basename(names[0]) : `${names.length} files` };
}

/** Whether DATA is made of files that would not fit in the memory they may take. */
export async function isLarge(names: readonly string[], options: ReadingOptions, io: Io): Promise<boolean> {
  return exceed(names, await memoryFor(options, io), io);
}

async function exceed(names: readonly string[], memory: number, { cwd }: Io): Promise<boolean> {
  let takes = 0;
  for (const name of names) {
    const found = name === "-" ? undefined : await stat(resolve(cwd, name)).catch(() => undefined);
    if (!found?.isFile() || isImageName(name)) return false;
    takes += found.size * (await factorOf(resolve(cwd, name)));
  }
  return takes > memory;
}

async function factorOf(path: string): Promise<number> {
  if (/\.(parquet|gz|zst)$/i.test(path)) return TAKES.packed;
  const placed = await layoutOf(await fileSource(path)).catch(() => undefined); // the reader reports what is wrong
  return placed ? TAKES.placed : TAKES.text;
}
