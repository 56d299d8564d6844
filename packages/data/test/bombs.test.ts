/** Each bomb, read by a process of its own that may have little memory, ends in a refusal, and soon. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { bytesSource, readData } from "../src/index.ts";
import { bombs, equalStrings } from "./bomb-files.ts";
import { scratch } from "./python.ts";

const BUILT = new URL("../dist/node.js", import.meta.url);
/** Bytes that reading may take, and that the whole process may ever hold. */
const BUDGET = 200e6;
const MOST = 1.5 * BUDGET + 150e6;

const script = (path: string, options: object | undefined) => `
  import { Budget, loadData } from ${JSON.stringify(BUILT.href)};
  const budget = new Budget(${BUDGET});
  const end = await loadData(${JSON.stringify(path)}, { ...${JSON.stringify(options ?? {})}, budget }).then(
    () => "read",
    (error) => [error.name, error.code, error.message].join(" "),
  );
  console.log(JSON.stringify({ end, peak: 1024 * process.resourceUsage().maxRSS }));`;

describe.skipIf(!existsSync(BUILT))("in the built package (npm run build:code)", () => {
  test.each(bombs())("$name ends as a bad file", ({ name, bytes, options }) => {
    const folder = scratch();
    expect(bytes.length).toBeLessThan(20e6);
    const path = join(folder, name.includes("/") ? `${name}.folder/${name}` : name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
    const asked = name.includes("/") ? join(folder, `${name}.folder`) : path;
    const output = execFileSync(
      process.execPath,
      ["--max-old-space-size=300", "--input-type=module", "-e", script(asked, options)],
      { encoding: "utf8", timeout: 240_000 },
    );
    const { end, peak } = JSON.parse(output) as { end: string; peak: number };
    expect(end).toMatch(/^RanksimError bad-file .*/);
    expect(peak).toBeLessThan(MOST);
  });
});

test("the Parquet that the bombs are made of is sound: a small one is read", async () => {
  const data = await readData(bytesSource(equalStrings(3, 7), "small.parquet"), { textColumn: "t" });
  expect(data).toMatchObject({ form: "text", text: Array(21).fill("hi") });
});
