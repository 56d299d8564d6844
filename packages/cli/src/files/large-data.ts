/** DATA that would not fit in the memory it may take: files of numbers or texts, opened as a source that is read in blocks. */

import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { RanksimError, type RowSource } from "@ranksim/core";
import { type AnySource, isImageName, layoutOf, OverBudget, readsInBlocks } from "@ranksim/data";
import { fileSource, openRows, openTable, openTexts } from "@ranksim/data/node";
import { memoryFor } from "../agreement.ts";
import { type ReadingOptions, readOptions } from "../flags/reading-flags.ts";
import type { TableOptions } from "../flags/table-flags.ts";
import type { Io } from "../io.ts";
import type { Session } from "../session.ts";
import { bytes } from "../terminal/numbers.ts";
import { dataNames } from "./data-names.ts";
import { noLabels, refuseSingle } from "./labels.ts";

/**
 * Bytes that work on a file in memory takes for each of its own. Text is taken apart and Parquet unpacked; arrays are copied two or three
 * times.
 */
const TAKES = { placed: 3, text: 4, packed: 16 } as const;
/** Copies of what is made of rows: one on the host and one in a back end. */
const MADE_COPIES = 2;
/** Share of the memory that rows may take in all their copies; filters, labels and the process itself have the rest. */
const ROOM = 0.5;
/** Rows that must fit in the memory: a block, which has a sixteenth of the room, then has four. */
const LEAST_ROWS = 128;

/** How DATA is worked on, whole or in blocks. */
interface Ways<R, W, B> {
  /** Reads all of it. */
  readonly read: (memory: number) => Promise<R>;
  /** Bytes that are made of all of it: pooled patches take many times as much memory as their images. */
  readonly made: (read: R) => number | Promise<number>;
  readonly whole: (read: R, memory: number) => Promise<W>;
  readonly blocks: (memory: number) => Promise<B>;
}

/**
 * Works on DATA whole where it should fit in memory, and in blocks where it should not. How much a file takes is guessed from its size: where
 * the guess was too low, reading it whole is refused, and it is read in blocks after all, and likewise where too much would be made of it.
 */
export async function wholeElseBlocks<R, W, B>(
  what: readonly string[],
  options: ReadingOptions,
  io: Io,
  { read, made, whole, blocks }: Ways<R, W, B>,
): Promise<W | B> {
  const names = await dataNames(what, io.cwd);
  const memory = await memoryFor(options, io);
  if (await isLarge(names, memory, io)) return blocks(memory);
  const fitting = async (): Promise<R | undefined> => {
    const found = await read(memory);
    return (await made(found)) * MADE_COPIES > memory && (await areFiles(names, io)) ? undefined : found;
  };
  const found = await fitting().catch(async (error) => {
    if (error instanceof OverBudget && (await areReadInBlocks(names, options, io))) return undefined;
    throw error;
  });
  return found === undefined ? blocks(memory) : whole(found, memory);
}

async function areFiles(names: readonly string[], { cwd }: Io): Promise<boolean> {
  const found = await Promise.all(names.map((name) => dataFile(name, cwd)));
  return found.every((each) => each !== undefined);
}

async function areReadInBlocks(names: readonly string[], options: ReadingOptions, { cwd }: Io): Promise<boolean> {
  for (const name of names) {
    if (!(await dataFile(name, cwd))) return false;
    // Errors name the data as the user did.
    if (!(await readsInBlocks({ ...(await fileSource(resolve(cwd, name))), name }, options))) return false;
  }
  return true;
}

/** Opens DATA as a source. Its rows may take this much memory. */
export async function openInBlocks(
  what: readonly string[],
  memory: number,
  options: ReadingOptions & TableOptions,
  session: Session,
  wanted: { readonly text: boolean; readonly labelled: boolean },
): Promise<AnySource> {
  const { io } = session;
  const names = await dataNames(what, io.cwd);
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
  if (data.form === "source") refuseFewRows(names[0], data.x, memory);
  if (wanted.labelled && data.y === undefined) throw noLabels(names[0], data);
  if (wanted.labelled) refuseSingle(names[0], data.y, options.multilabel);
  for (const note of data.notes ?? []) await session.note(note);
  return data;
}

/** Blocks of a row or two would take hours to train on, as each is read on its own. */
function refuseFewRows(name: string, { entries, rows, form, valueBytes }: RowSource, memory: number): void {
  const rowBytes = Math.ceil((entries / rows) * (form === "csr" ? 4 + valueBytes : valueBytes));
  const least = LEAST_ROWS * rowBytes;
  if (memory >= least) return;
  throw new RanksimError(
    "bad-params",
    `--memory: expected at least ${bytes(least)} for rows of ${bytes(rowBytes)} (${name}), found ${bytes(memory)}`,
  );
}

/** Whether DATA is made of files that would not fit in the memory they may take. */
async function isLarge(names: readonly string[], memory: number, { cwd }: Io): Promise<boolean> {
  let takes = 0;
  for (const name of names) {
    const found = await dataFile(name, cwd);
    if (!found) return false;
    takes += found.size * (await factorOf(resolve(cwd, name)));
  }
  return takes > memory;
}

async function dataFile(name: string, cwd: string): Promise<Stats | undefined> {
  const found = name === "-" || isImageName(name) ? undefined : await stat(resolve(cwd, name)).catch(() => undefined);
  return found?.isFile() ? found : undefined;
}

async function factorOf(path: string): Promise<number> {
  if (/\.(parquet|gz|zst)$/i.test(path)) return TAKES.packed;
  const placed = await layoutOf(await fileSource(path)).catch(() => undefined); // the reader reports what is wrong
  return placed ? TAKES.placed : TAKES.text;
}
