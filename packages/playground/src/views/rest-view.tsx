/** How far each class has converged: the share of its rows that stayed with their filter in the last iteration. */

import type { StepSummary } from "../protocol.ts";
import { counted, percent } from "./text.ts";

/** Classes that are listed. */
const MOST_CLASSES = 20;

export function RestView({ atRest, atWork }: { atRest: ReadonlyMap<string, number>; atWork?: string | undefined }) {
  const shown = [...atRest].slice(0, MOST_CLASSES);
  if (shown.length === 0) return null;
  return (
    <figure class="rest">
      <figcaption class="hint">Rows that stay{shown.length > 1 ? ", class by class" : ""}</figcaption>
      <ul class="bars">
        {shown.map(([name, share]) => (
          <li key={name} class={name === atWork ? "bar chosen" : "bar"}>
            <span class="bar-name" title={name}>
              {name === "" ? "all" : name}
            </span>
            <span class="bar-track">
              <i style={{ transform: `scaleX(${share})` }} />
            </span>
            <span class="bar-value">{percent(share)}</span>
          </li>
        ))}
      </ul>
      {atRest.size > shown.length && (
        <p class="hint">and {counted(atRest.size - shown.length, "more class", "more classes")}</p>
      )}
    </figure>
  );
}

/** The same for a finished run, from its last iterations. */
export function restOf(steps: readonly StepSummary[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { label, moved, rows, iteration } of steps) {
    // In the first iteration every row is new, which says nothing of rest.
    if (iteration > 1) found.set(label ?? "", 1 - moved / Math.max(1, rows));
  }
  return found;
}
