/** Workbooks as Excel writes them, made part by part. */

import { strToU8, zipSync } from "fflate";

/** What a cell holds: the XML between its tags, with its attributes. */
export interface SheetCell {
  readonly attributes?: string;
  readonly content: string;
}

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

/** Cells of several kinds. */
export const cell = {
  number: (value: number): SheetCell => ({ content: `<v>${value}</v>` }),
  /** Shown as a date, or as the format of this style. */
  date: (days: number, style = 1): SheetCell => ({ attributes: `s="${style}"`, content: `<v>${days}</v>` }),
  shared: (place: number): SheetCell => ({ attributes: 't="s"', content: `<v>${place}</v>` }),
  inline: (text: string): SheetCell => ({ attributes: 't="inlineStr"', content: `<is><t>${text}</t></is>` }),
  truth: (value: boolean): SheetCell => ({ attributes: 't="b"', content: `<v>${Number(value)}</v>` }),
  error: (text: string): SheetCell => ({ attributes: 't="e"', content: `<v>${text}</v>` }),
};

/** The parts of a workbook of these rows; undefined is a cell that is not there. */
export function workbookParts(
  rows: readonly (readonly (SheetCell | undefined)[])[],
  {
    shared = [],
    sheets = ["data"],
    is1904 = false,
  }: { shared?: readonly string[]; sheets?: readonly string[]; is1904?: boolean } = {},
): { [path: string]: string } {
  const place = (r: number, c: number) => `${String.fromCharCode(65 + c)}${r + 1}`;
  const cellOf = (one: SheetCell | undefined, r: number, c: number) =>
    one ? `<c r="${place(r, c)}" ${one.attributes ?? ""}>${one.content}</c>` : "";
  const lines = rows.map((row, r) => `<row r="${r + 1}">${row.map((one, c) => cellOf(one, r, c)).join("")}</row>`);
  const listed = sheets.map((name, s) => `<sheet name="${name}" sheetId="${s + 1}" r:id="rId${s + 1}"/>`);
  const targets = sheets.map(
    (_, s) => `<Relationship Id="rId${s + 1}" Type="t" Target="worksheets/sheet${s + 1}.xml"/>`,
  );
  const formats = '<numFmts count="1"><numFmt numFmtId="164" formatCode="[$-409]d/m/yy\\ h:mm;@"/></numFmts>';
  const styles = [0, 14, 164, 20].map((id) => `<xf numFmtId="${id}" xfId="0"/>`);
  return {
    "[Content_Types].xml": `${HEAD}<Types/>`,
    "xl/workbook.xml": `${HEAD}<workbook xmlns:r="r"><workbookPr ${is1904 ? 'date1904="1"' : ""}/><sheets>${listed.join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `${HEAD}<Relationships>${targets.join("")}</Relationships>`,
    "xl/worksheets/sheet1.xml": `${HEAD}<worksheet><!-- <c> --><sheetData>${lines.join("\n")}</sheetData></worksheet>`,
    "xl/styles.xml": `${HEAD}<styleSheet>${formats}<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${styles.join("")}</cellXfs></styleSheet>`,
    "xl/sharedStrings.xml": `${HEAD}<sst>${shared.map((text) => `<si>${text}</si>`).join("")}</sst>`,
  };
}

/** A workbook's bytes. */
export const workbook = (...about: Parameters<typeof workbookParts>): Uint8Array => zipped(workbookParts(...about));

export const zipped = (parts: { readonly [path: string]: string }): Uint8Array =>
  zipSync(Object.fromEntries(Object.entries(parts).map(([path, text]) => [path, strToU8(text)])));
