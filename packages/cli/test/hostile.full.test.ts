/** Files made to need more memory than there is: under `--memory` each is refused or trained on, and the process stays small. */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { bombs, crowds } from "../../data/test/bomb-files.ts";
import { scratch } from "../../data/test/python.ts";
import { isBuiltOnLinux, watched } from "./built-command.ts";

const MEMORY = 300e6;
/** Beside rows and what is made of them there is the program, and garbage not yet collected. */
const MOST = 1.5 * MEMORY + 150e6;

/** How a file is trained on as a person would who was sent it. */
function flagsOf({ labelColumn, textColumn }: { labelColumn?: string; textColumn?: string } = {}): string {
  if (labelColumn) return `--label ${labelColumn}`;
  return textColumn ? `--columns ${textColumn}:text --estimator transform` : "--estimator transform";
}

describe.skipIf(!isBuiltOnLinux)("the built command (needs npm run build, Linux)", () => {
  // Rows of which there are only many are trained on, for as long as it takes; records without end are the library's to refuse.
  const small = bombs(2 ** 27).filter(({ name }) => !/^(rows|commas|lists|digits)/.test(name));
  const files = [...small.map(({ options, ...file }) => ({ ...file, flags: flagsOf(options) })), ...crowds()];
  test.each(files)("$name", { timeout: 600_000 }, async ({ name, bytes, flags }) => {
    const folder = scratch();
    const path = join(folder, name.includes("/") ? `pictures/${name}` : name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
    const asked = name.includes("/") ? "pictures" : name;
    const line = `train ${asked} ${flags} --memory 300MB --model never.ranksim --json`;
    const { code, said, peak } = await watched(line, folder);
    expect([0, 1], said).toContain(code);
    if (code === 1)
      expect(JSON.parse(said.trim().split("\n").at(-1) as string)).toMatchObject({ error: { code: "bad-file" } });
    expect(peak).toBeLessThan(MOST);
  });
});
