/** docs/slurm.md: every command line in it is one that the command takes, and its job scripts are scripts. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { processIo } from "../src/io.ts";
import { makeProgram } from "../src/program.ts";
import { words } from "./world.ts";

const page = readFileSync(join(resolve(import.meta.dirname, "../../.."), "docs/slurm.md"), "utf8");
const blocks = (language: string) =>
  Array.from(page.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, "g")), ([, text]) => text);
const lines = [...blocks("sh"), ...blocks("yaml")]
  .flatMap((block) => block.split("\n"))
  .map((line) => /\branksim ((?:train|predict|evaluate) .*?)(?: && exit)?$/.exec(line)?.[1])
  .filter((line) => line !== undefined);

it("has command lines", () => {
  expect(lines).toHaveLength(10);
});

it.each(lines)("ranksim %s", async (line) => {
  const given = line.replaceAll("$SLURM_ARRAY_TASK_ID", "3").replaceAll("$JOB_COMPLETION_INDEX", "3");
  const program = await makeProgram(processIo(new AbortController().signal), () => {});
  program.hook("preAction", () => {
    throw new Error("taken");
  });
  await expect(program.parseAsync(words(given), { from: "user" })).rejects.toThrow("taken");
});

it("has scripts that a shell takes", () => {
  for (const script of blocks("sh")) {
    const { status, stderr } = spawnSync("bash", ["-n"], { input: script, encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
  }
});
