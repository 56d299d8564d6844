/** The errors of the readers: one form for all, so that a message always says which file, where, what was found and what was expected. */

import { type ErrorFacts, RanksimError } from "@ranksim/core";

/** An error of code "bad-file": `name, where: message`. `where` is a line, a byte, a row or empty for the file as a whole. */
export function badFile(name: string, where: string, message: string, cause?: unknown): RanksimError {
  return new RanksimError(
    "bad-file",
    `${name}${where === "" ? "" : `, ${where}`}: ${message}`,
    cause === undefined ? undefined : { cause },
  );
}

/** The same for an error that names options: what was expected and found, and a cure that the caller may put in words of its own. */
export function badCell(
  file: string,
  where: string,
  facts: Pick<ErrorFacts, "expected" | "found" | "cure">,
  cause?: unknown,
): RanksimError {
  const about = { file, ...(where === "" ? {} : { where }), ...facts };
  return new RanksimError("bad-file", about, cause === undefined ? undefined : { cause });
}

/** Runs `work`, turning whatever a decoder or a matrix gate throws into a "bad-file" error that names the file. */
export async function guarded<T>(name: string, what: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asBadFile(name, what, error);
  }
}

/** The error of a decoder as a "bad-file" error that names the file; errors that are one already pass through. */
export function asBadFile(name: string, what: string, error: unknown): RanksimError {
  if (error instanceof RanksimError) {
    return error.code === "bad-matrix" ? badFile(name, "", error.message, error) : error;
  }
  return badFile(
    name,
    "",
    `cannot be read as ${what}: ${error instanceof Error ? error.message : String(error)}`,
    error,
  );
}

/** Text found in a file, quoted and cut so that it fits in a message. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
