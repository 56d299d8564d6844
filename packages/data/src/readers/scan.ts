/** Text formats byte by byte: a window over the stream that always begins at a record. */

import { requestNext } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import { GrowingBytes } from "../growing-bytes.ts";
import { AT_ONCE, type Pace } from "./options.ts";

/** A record (line, CSV row) longer than this is taken for a damaged file: 256 MiB. */
export const LONGEST_RECORD = 2 ** 28;

/** Milliseconds after which the rows of a pipe are handed on, although a block is not full. */
const PROMPT = 5;

/** Bytes after which memory is looked at. */
const STEP = 1 << 16;

/**
 * Hands the stream to `consume` in windows. `consume` answers how many bytes it has used, always whole records, and begins none from `limit`
 * on; the rest comes again with more bytes behind it. The last window (`final`) must be used up. Yields whenever the rows so far are to be
 * handed on: what is stored is cut by its bytes alone, since processes that each read the same file must have the same blocks.
 */
export async function* scan(
  name: string,
  stream: AsyncIterable<Uint8Array>,
  account: Account,
  consume: (window: Uint8Array, final: boolean, limit: number) => number,
  pace: Pace = AT_ONCE,
): AsyncGenerator<void> {
  const window = new GrowingBytes(account, 1 << 16);
  const iterator = stream[Symbol.asyncIterator]();
  let inBlock = 0;
  let looked = 0;
  function* use(final: boolean): Generator<void> {
    let at = 0;
    for (;;) {
      // Where memory is watched, it is looked at often.
      const limit = Math.min(pace.blockBytes - inBlock, pace.isFull ? STEP : Number.POSITIVE_INFINITY);
      const used = consume(window.bytes.subarray(at), final, limit);
      at += used;
      inBlock += used;
      const isDue = inBlock >= pace.blockBytes || (inBlock > 0 && pace.isFull?.() === true);
      if (isDue) {
        inBlock = 0;
        yield;
      } else if (used < limit) break;
    }
    window.drop(at);
    looked = window.length;
  }
  try {
    for (let next = requestNext(iterator); ; ) {
      const mayWait = pace.isPatient || (inBlock === 0 && window.length === looked);
      const arrived = mayWait ? await next : await Promise.race([next, pause()]);
      if (arrived?.done) break;
      if (arrived) {
        window.push(arrived.value);
        next = requestNext(iterator);
        // A record that is still open is not looked at again until it has doubled, so that a long one costs linear time.
        if (window.length < Math.min(looked * 2, LONGEST_RECORD + 1)) continue;
      }
      yield* use(false);
      if (window.length > LONGEST_RECORD) {
        throw badFile(name, "", `expected records of at most ${LONGEST_RECORD} bytes, found a longer one`);
      }
      if (arrived === undefined && inBlock > 0) {
        inBlock = 0;
        yield;
      }
    }
    yield* use(true);
  } finally {
    window.release();
    // Not waited for: a pipe that is silent would keep its reader for ever.
    void iterator.return?.().catch(() => undefined);
  }
}

const pause = () => new Promise<undefined>((resume) => setTimeout(() => resume(undefined), PROMPT));

type OnLine = (window: Uint8Array, from: number, to: number, line: number) => void;

/** Calls `onLine` for each line: its bytes are `from` (included) to `to` (not included), without the line end. Lines count from 1. */
export async function* scanLines(
  name: string,
  stream: AsyncIterable<Uint8Array>,
  account: Account,
  onLine: OnLine,
  pace?: Pace,
): AsyncGenerator<void> {
  let line = 0;
  const consume = (window: Uint8Array, final: boolean, limit: number): number => {
    let from = line === 0 ? skipByteOrderMark(window) : 0;
    while (from < limit) {
      const end = window.indexOf(10, from);
      if (end < 0) {
        if (final && from < window.length) {
          onLine(window, from, window.length, ++line);
          from = window.length;
        }
        break;
      }
      onLine(window, from, end > from && window[end - 1] === 13 ? end - 1 : end, ++line);
      from = end + 1;
    }
    return line === 0 ? 0 : from;
  };
  yield* scan(name, stream, account, consume, pace);
}

/** All lines at once. */
export async function eachLine(
  name: string,
  stream: AsyncIterable<Uint8Array>,
  account: Account,
  onLine: OnLine,
): Promise<void> {
  for await (const _ of scanLines(name, stream, account, onLine));
}

/** Bytes to skip at the start of a text: 3 for UTF-8's mark. */
export const skipByteOrderMark = (window: Uint8Array): number =>
  window[0] === 0xef && window[1] === 0xbb && window[2] === 0xbf ? 3 : 0;

const utf8 = new TextDecoder("utf-8");

/** The bytes as a string for a message or a comparison; `decoded` is for what is kept. */
export function textOf(window: Uint8Array, from: number, to: number): string {
  return utf8.decode(window.subarray(from, to));
}

/** First position from `from` that is not a blank (space or tab). */
export function skipBlanks(window: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && (window[at] === 32 || window[at] === 9)) at++;
  return at;
}

/** End of the part `from`..`to` without the blanks at its end. */
export function trimBlanks(window: Uint8Array, from: number, to: number): number {
  let end = to;
  while (end > from && (window[end - 1] === 32 || window[end - 1] === 9)) end--;
  return end;
}
