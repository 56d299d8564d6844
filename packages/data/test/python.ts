/** Files and answers by the real writers, where Python and its packages are at hand. */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const PYTHON = process.env.PYTHON ?? "/usr/bin/python3";

/** Whether Python can import the modules. */
export function pythonHas(...modules: string[]): boolean {
  return spawnSync(PYTHON, ["-c", `import ${modules.join(", ")}`]).status === 0;
}

/** Runs a script in `folder`; what it prints, as JSON. */
export function runPython(folder: string, script: string): unknown {
  const printed = execFileSync(PYTHON, ["-c", script], { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28 });
  return printed.trim() === "" ? undefined : JSON.parse(printed);
}

/** A folder that is gone after the test. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "ranksim-data-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}
