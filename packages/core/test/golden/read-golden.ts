/** Reads golden vectors from the folder named by RANKSIM_GOLDEN (same files and fields, other numbers) or from `data`. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = process.env.RANKSIM_GOLDEN || fileURLToPath(new URL("data", import.meta.url));

/** The golden file `name` (without ".json"); the caller says what fields it expects. */
export function readGolden<T>(name: string): T {
  return JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as T;
}
