/**
 * The commonest body, `{"rows":[[0,12,255,…],…]}` with bytes alone, read straight into an array. JSON.parse makes a list of
 * numbers first, which costs more of a request than the search does. What is anything else, right or wrong, is left to the
 * general way, which also knows how to refuse it: the answer never depends on which way was taken.
 */

import type { Rows } from "./input.ts";

/** As JSON.stringify and Python's json.dumps write it. */
const HEAD = /^\{"rows": ?\[(?=\[)/;

const [SPACE, COMMA, ZERO, OPEN, CLOSE, END] = Array.from(" ,0[]}", (c) => c.charCodeAt(0));

/** The rows, or undefined where the body is not of this form. */
export function quickRows(body: Buffer, features: number): Rows | undefined {
  // This byte ends every loop below, so that none of them reads beyond the body.
  if (features === 0 || body[body.length - 1] !== END) return undefined;
  const head = HEAD.exec(body.toString("latin1", 0, 16));
  if (!head) return undefined;
  // A number takes two bytes at least, with what separates it from the next.
  const values = new Uint8Array(Math.floor(body.length / (2 * features)) * features);
  const read = readLists(body, head[0].length, values, features);
  if (read === 0) return undefined;
  return { form: "dense", rows: read, values: values.subarray(0, read * features), isBytes: true };
}

/** Reads lists of bytes up to the end of the body; the number of rows, or 0 where anything else was found. */
function readLists(body: Uint8Array, start: number, values: Uint8Array, features: number): number {
  let at = start;
  for (let row = 0; row * features < values.length; ) {
    if (body[at++] !== OPEN) return 0;
    const to = ++row * features;
    for (let i = to - features; i < to; i++) {
      let c = body[at++];
      while (c === SPACE) c = body[at++];
      let value = c - ZERO;
      if (value < 0 || value > 9) return 0;
      c = body[at++];
      // Nothing follows a leading zero.
      if (value !== 0) {
        for (let digit = c - ZERO; digit >= 0 && digit <= 9; digit = c - ZERO) {
          value = 10 * value + digit;
          if (value > 255) return 0;
          c = body[at++];
        }
      }
      if (c !== (i + 1 < to ? COMMA : CLOSE)) return 0;
      values[i] = value;
    }
    if (body[at] === CLOSE) return at + 2 === body.length ? row : 0;
    if (body[at++] !== COMMA) return 0;
    while (body[at] === SPACE) at++;
  }
  return 0;
}
