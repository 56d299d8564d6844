/** A back end refuses what does not fit in its memory by this error. */

import { RanksimError } from "../../errors.ts";

/** There was too little memory. Work that meets this is done again with less in memory at a time (`rows.ts`). */
export class OutOfMemory extends RanksimError {
  constructor(wanted: number, used: number, most: number) {
    super(
      "no-backend",
      `WebAssembly memory: expected room for ${wanted} bytes more, found ${used} of at most ${most} in use; use fewer rows or filters at a time`,
    );
  }
}
