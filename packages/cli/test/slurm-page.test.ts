/** docs/slurm.md: every command line in it is one that the command takes, and its job scripts are scripts. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, expect, it } from "vitest";
import { makeWorld } from "./world.ts";

const page = readFileSync(join(resolve(import.meta.dirname, "../../.."), "docs/slurm.md"), "utf8");
const blocks = (language: string) =>
  Array.from(page.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, "g")), ([, text]) => text);
const lines = [...blocks("sh"), ...blocks("yaml")]
  .flatMap((block) => block.split("\n"))
  .map((line) => /\branksim ((?:train|predict|evaluate) .*?)(?: && exit)?$/.exec(line)?.[1])
  .filter((line) => line !== undefined);
const world = makeWorld();
afterAll(() => world.remove());

it("has command lines", () => {
  expect(lines).toHaveLength(10);
});

it.each(lines)("ranksim %s", async (line) => {
  const given = line.replaceAll("$SLURM_ARRAY_TASK_ID", "3").replaceAll("$JOB_COMPLETION_INDEX", "3");
  expect(await world.ranksim(`${given} --print-config`)).toMatchObject({ code: 0 });
});

it("has scripts that a shell takes", () => {
  for (const script of blocks("sh")) {
    const { status, stderr } = spawnSync("bash", ["-n"], { input: script, encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
  }
});
