/** What was tried for a model, as a small table. */

import type { TriedRecipe } from "@ranksim/core";
import { brief, percent, score } from "../terminal/numbers.ts";
import { printable, type Style } from "../terminal/style.ts";
import { table } from "../terminal/table.ts";

/** Each recipe with what held-out rows said of it, those in the model marked; nothing where nothing was tried. */
export function triedText(tried: readonly TriedRecipe[] | undefined, style: Style): string {
  if (tried === undefined) return "";
  const right = { align: "right" } as const;
  return table(
    [
      { head: "tried" },
      { head: "log loss", ...right },
      { head: "accuracy", ...right },
      { head: "rows", ...right },
      { head: "multiply-adds", ...right },
      { head: "" },
    ],
    tried.map(({ name, reason, rows, logLoss, accuracy, multiplyAdds, weight }) => [
      printable(name),
      logLoss === undefined ? "" : logLoss.toFixed(4),
      accuracy === undefined ? "" : score(accuracy),
      rows === undefined ? "" : String(rows),
      multiplyAdds === undefined ? "" : brief(multiplyAdds),
      weight === undefined
        ? style.faint(printable(reason ?? ""))
        : style.good(weight === 1 ? "chosen" : `${percent(weight)} of the blend`),
    ]),
    style,
  );
}
