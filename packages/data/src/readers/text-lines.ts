/** Plain text with one document on each line; empty lines are documents too, but the last, which may lack its end. */

import { RanksimError } from "@ranksim/core";
import { decoded } from "./encoding.ts";
import type { Reader, RowBlocks } from "./reader.ts";
import { scanLines } from "./scan.ts";

/** Of all formats the one that is never detected: it is what texts come in. */
export const TEXT_LINES: Pick<Reader, "read" | "isText" | "hasColumns" | "labelsAreText" | "isFolder"> & {
  format: "csv";
} = {
  format: "csv",
  isText: true,
  async *read({ name, stream }, { budget, pace }): RowBlocks {
    const account = budget.of(name);
    let text: string[] = [];
    let rows = 0;
    const taken = () => {
      const block = { form: "text", text } as const;
      text = [];
      if (Number.isFinite(pace.blockBytes)) account.release();
      return block;
    };
    const onLine = (window: Uint8Array, from: number, to: number, line: number): void => {
      account.takeText(2 * (to - from));
      text.push(decoded(name, line, window.subarray(from, to)));
      rows++;
    };
    for await (const _ of scanLines(name, stream, budget.of(name), onLine, pace)) if (text.length > 0) yield taken();
    if (rows === 0) throw new RanksimError("empty-input", `${name}: expected a text on each line, found nothing`);
    if (text.length > 0) yield taken();
    return undefined;
  },
};
