/** Text in UTF-16, as spreadsheets and Windows write it, becomes UTF-8. It is recognised by the byte order mark at its beginning. */

import { badFile } from "./bad-file.ts";

const hasMark = (head: Uint8Array, first: number, second: number): boolean => head[0] === first && head[1] === second;
const isBigEndian = (head: Uint8Array): boolean => hasMark(head, 0xfe, 0xff);

/** Whether bytes begin as UTF-16 does: with its mark, and no zero character after it, which UTF-32 has. */
export const isUtf16 = (head: Uint8Array): boolean =>
  (hasMark(head, 0xff, 0xfe) || isBigEndian(head)) && !(head[2] === 0 && head[3] === 0);

/** The same text in UTF-8, without the mark. Refuses halves of characters. */
export async function* utf8OfUtf16(name: string, stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  // Decoders of the other order are not in every engine: bytes are swapped.
  const decoder = new TextDecoder("utf-16le", { fatal: true });
  const encoder = new TextEncoder();
  let isSwapped: boolean | undefined;
  let rest = new Uint8Array(0);
  for await (const chunk of stream) {
    const bytes = new Uint8Array(rest.byteLength + chunk.byteLength);
    bytes.set(rest);
    bytes.set(chunk, rest.byteLength);
    if (bytes.byteLength >= 2) isSwapped ??= isBigEndian(bytes);
    const whole = bytes.byteLength - (bytes.byteLength % 2);
    rest = bytes.slice(whole);
    if (isSwapped) for (let i = 0; i < whole; i += 2) [bytes[i], bytes[i + 1]] = [bytes[i + 1], bytes[i]];
    const text = decoded(name, () => decoder.decode(bytes.subarray(0, whole), { stream: true }));
    if (text !== "") yield encoder.encode(text);
  }
  decoded(name, () => decoder.decode(rest));
}

function decoded(name: string, decode: () => string): string {
  try {
    return decode();
  } catch (error) {
    throw badFile(name, "", "expected text in UTF-16, as its first bytes say, found other bytes", error);
  }
}
