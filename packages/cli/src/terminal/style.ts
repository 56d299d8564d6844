/** The few styles that terminal output uses, switched off where there are no colours. */

import pc from "picocolors";
import type { Output } from "../io.ts";

type Paint = (text: string) => string;

/** Styles by what they mean. */
export interface Style {
  readonly strong: Paint;
  readonly faint: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly note: Paint;
  readonly accent: Paint;
}

/** The styles of an output. */
export function styleOf(output: Output): Style {
  const colours = pc.createColors(output.colourDepth > 1);
  return {
    strong: colours.bold,
    faint: colours.dim,
    good: colours.green,
    bad: colours.red,
    note: colours.yellow,
    accent: colours.cyan,
  };
}

/** A note as a line for an output. */
export const noteLine = (text: string, output: Output): string =>
  `${styleOf(output).note("note:")} ${printable(text)}\n`;

const ESCAPE = String.fromCharCode(27);
const CODES = new RegExp(`${ESCAPE}\\[[0-9;]*m`, "g");

/** Columns that a text takes on a terminal: colour codes take none, wide characters (CJK, emoji) two. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text.replace(CODES, "")) {
    const code = character.codePointAt(0) as number;
    width += isCombining(code) ? 0 : isWide(code) ? 2 : 1;
  }
  return width;
}

/** The text, cut with an ellipsis to at most `width` columns. The text must have no colour codes. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const character of text) {
    used += displayWidth(character);
    if (used > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** Names from files, made safe to print: control characters, which could steer the terminal, become "�". */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, "\ufffd");
}

/** A value as JSON in which nothing can steer a terminal: what JSON leaves as it is and `printable` would replace is escaped. */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(UNPRINTABLE, (character) =>
    character === "\n" ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** What is about to be printed, whatever it was put together from: nothing steers the terminal but colours, where there are some. */
export function withoutControls(text: string, output: Output): string {
  if (output.colourDepth === 1) return printableLines(text);
  const parts = text.split(CODES);
  const codes = text.match(CODES) ?? [];
  return parts.map((part, p) => printableLines(part) + (codes[p] ?? "")).join("");
}

/** Text of many lines for a terminal: ends of lines and tabs stay. */
export function printableLines(text: string): string {
  return text.replace(UNPRINTABLE, (character) => (/[\n\t]/.test(character) ? character : "\ufffd"));
}

function isCombining(code: number): boolean {
  return (code >= 0x300 && code <= 0x36f) || code === 0x200d || (code >= 0xfe00 && code <= 0xfe0f);
}

function isWide(code: number): boolean {
  return (
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd)
  );
}
