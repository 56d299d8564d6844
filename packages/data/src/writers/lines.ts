/** Text on its way to bytes: lines are gathered and encoded in pieces of about 64 kB. */

const PIECE = 1 << 16;

/** Encodes strings as UTF-8, many at a time. */
export function* encodeLines(lines: Iterable<string>): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  let text = "";
  for (const line of lines) {
    text += line;
    if (text.length < PIECE) continue;
    yield encoder.encode(text);
    text = "";
  }
  if (text !== "") yield encoder.encode(text);
}
