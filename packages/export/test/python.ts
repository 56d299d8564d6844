/** A Python that has a module, where there is one. */

import { spawnSync } from "node:child_process";

/** The first of python3 and the system's own that imports all the modules; undefined where none does. */
export function pythonWith(...modules: string[]): string | undefined {
  const line = modules.map((name) => `import ${name}`).join("\n");
  return ["python3", "/usr/bin/python3"].find((program) => spawnSync(program, ["-c", line]).status === 0);
}
