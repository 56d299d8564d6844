/** Python for tests: interpreters that have numpy or scikit-learn, and what python/ranksim_model.py answers beside the command. */

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { World } from "./world.ts";

const module = fileURLToPath(new URL("../../../python", import.meta.url));
const pythons = ["python3", "/usr/bin/python3"];
const withModule = (name: string) => pythons.find((python) => spawnSync(python, ["-c", `import ${name}`]).status === 0);

/** An interpreter with numpy, if there is one. */
export const numpy = withModule("numpy");
/** An interpreter with scikit-learn, if there is one. */
export const sklearn = withModule("sklearn");

/** What a script prints that runs in the folder. */
export function python({ folder }: World, script: string, interpreter = numpy as string): string {
  const env = { ...process.env, PYTHONPATH: module, PYTHONDONTWRITEBYTECODE: "1" };
  const { status, stdout, stderr } = spawnSync(interpreter, ["-c", script], { cwd: folder, encoding: "utf8", env });
  expect(status, stderr).toBe(0);
  return stdout;
}

/** Labels, and probabilities where there are some, as Python sees them. */
export function ask(world: World, model: string, input: string): { labels: unknown[]; probabilities?: number[][] } {
  return JSON.parse(
    python(
      world,
      `import json, numpy as np
from ranksim_model import Model
m = Model(${JSON.stringify(model)}); x = ${input}
out = {"labels": m.predict(x)}
if hasattr(m, "predict_proba"): out["probabilities"] = m.predict_proba(x).tolist()
print(json.dumps(out))`,
    ),
  );
}

/** Expects of Python the labels and the probabilities that the command gives. */
export async function compare(world: World, model: string, data: string, input: string): Promise<void> {
  const { code, stdout, stderr } = await world.ranksim(`predict ${model} ${data} --probabilities --json`);
  expect(code, stderr).toBe(0);
  const expected = JSON.parse(stdout);
  const found = ask(world, model, input);
  expect(found.labels).toEqual(expected.labels);
  expected.probabilities.forEach((row: number[], r: number) => {
    row.forEach((share, c) => {
      expect(found.probabilities?.[r][c]).toBeCloseTo(share, 9);
    });
  });
}
