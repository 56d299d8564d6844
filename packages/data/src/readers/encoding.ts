/**
 * How bytes become characters. Text is UTF-8, and refused where it is not: a word with a character lost would be another
 * word. Files in Latin-1 are recoded on their way in, where that was said.
 */

import { badCell, badFile } from "../bad-file.ts";
import type { Opened } from "../source.ts";
import type { ReadOptions } from "./options.ts";

/** A byte order mark in front of the bytes is left out. */
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The bytes as a string; `where` names their place in the file. */
export function decoded(name: string, where: string | number, bytes: Uint8Array, expected = "text in UTF-8"): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    const place = typeof where === "number" ? `line ${where}` : where;
    const cure = (called: (name: string) => string) => `older files may be of ${called("encoding")} latin1`;
    throw badCell(name, place, { expected, found: "other bytes", cure }, error);
  }
}

/** A file of lines in UTF-8, whatever it was stored in. */
export function recoded(opened: Opened, { encoding }: Pick<ReadOptions, "encoding">): Opened {
  if (encoding !== "latin1") return opened;
  const { name, head, source } = opened;
  return { name, head, source, stream: utf8Of(name, opened.stream) };
}

/**
 * What Windows-1252 has at 0x80 to 0x9f, where Latin-1 has no letters. Spelled out, as the platform's decoder of "latin1" is
 * one or the other by the version of Node.
 */
const WINDOWS = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";
const CHARACTERS = Uint16Array.from({ length: 256 }, (_, byte) =>
  byte >> 5 === 4 ? WINDOWS.charCodeAt(byte - 0x80) : byte,
);

/**
 * Latin-1 as UTF-8; Windows-1252 in fact, as spreadsheets write it. Refuses what is UTF-8 already: what was said of the file
 * that a model was trained on need not be true of the next.
 */
async function* utf8Of(name: string, stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let isTold = false;
  for await (const chunk of stream) {
    if (chunk.every((byte) => byte < 128)) {
      yield chunk;
      continue;
    }
    if (!isTold) isTold = isLatin1(name, chunk);
    for (let from = 0; from < chunk.length; from += 8192) {
      const codes = Uint16Array.from(chunk.subarray(from, from + 8192), (byte) => CHARACTERS[byte]);
      yield encoder.encode(String.fromCharCode(...codes));
    }
  }
}

/** Whether the bytes above 127 cannot be UTF-8. Refused where they can: they are nothing else. A sequence cut off tells nothing. */
function isLatin1(name: string, chunk: Uint8Array): boolean {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(chunk, { stream: true });
  } catch {
    return true;
  }
  if (/[^\0-\x7f]/.test(text)) {
    throw badFile(name, "", "expected text in Latin-1, found UTF-8; say `encoding` utf-8");
  }
  return false;
}
