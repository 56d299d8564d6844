/** What is attacked: one attempt a case, which answers with what went wrong. */

import type { Draw } from "../differential/draw.ts";

export interface Target {
  readonly name: string;
  /** What went wrong, in words; nothing if all is well. */
  attempt(draw: Draw): Promise<string[]>;
}
