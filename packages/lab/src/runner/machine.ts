/** The machine and the commit that figures are of. */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cpus, release, type } from "node:os";
import { join } from "node:path";
import { versions } from "node:process";
import { fileURLToPath } from "node:url";

/** The folder of this package. */
export const LAB = fileURLToPath(new URL("../../", import.meta.url));

/** Processor, cores, system and engine in a line. */
export function machineLine(): string {
  const system = `${type()} ${release().split("-")[0]}`;
  return `${cpus()[0]?.model.trim() ?? "unknown"}, ${cpus().length} cores, ${system}, Node ${versions.node}`;
}

/** The commit that is checked out, in short; "unknown" where there is none. */
export function commitOf(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short=7", "HEAD"], {
      cwd: LAB,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return "unknown";
  }
}

/** A folder of data beside the checkout. */
const BESIDE = join(LAB, "../../../shared/data");

/** Where data sets are, besides the places that `ranksim data` names: given, RANKSIM_DATA, or beside the checkout. */
export function dataFolder(given: string | undefined): string | undefined {
  return given ?? process.env.RANKSIM_DATA ?? (existsSync(BESIDE) ? BESIDE : undefined);
}
