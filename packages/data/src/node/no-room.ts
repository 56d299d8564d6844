/** A folder that does not take what is to be written: the error names it, says what was being written, and what helps. */

import { RanksimError } from "@ranksim/core";
import { sizeText } from "../budget.ts";

const FOUND: { readonly [code: string]: string } = {
  ENOENT: "nothing",
  ENOTDIR: "a file",
  EEXIST: "a file",
  EACCES: "one without permission to write",
  EPERM: "one without permission to write",
  EROFS: "one that is read-only",
  ENOSPC: "one that is full",
  EDQUOT: "one whose quota is used up",
  EFBIG: "one where files may not be that large",
};

/** The error of the system on writing to a folder, with the folder and the cure; other errors pass through. */
export function noRoom(
  { folder, what, bytes, cure }: { folder: string; what: string; bytes?: number; cure: string },
  error: unknown,
): unknown {
  const found = FOUND[(error as NodeJS.ErrnoException | undefined)?.code ?? ""];
  if (found === undefined) return error;
  const use = bytes === undefined ? `for ${what}` : `with room for ${what} of ${sizeText(bytes)}`;
  const message = `${folder}: expected a folder ${use}, found ${found}; ${cure}`;
  return new RanksimError("bad-params", message, { cause: error });
}
