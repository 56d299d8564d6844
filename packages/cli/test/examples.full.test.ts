/** Every documented example is run: those of the help, and those of the README, each list in its order in one folder. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EXAMPLE_FILES, EXAMPLES } from "../src/commands/examples.ts";
import { EXAMPLE_CONTENTS, makeWorld, type World, words } from "./world.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const blocks = (language: string) =>
  Array.from(readme.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, "gm")), ([, content]) => content);

let world: World;
beforeAll(() => {
  world = makeWorld();
  expect(Object.keys(EXAMPLE_CONTENTS)).toEqual([...EXAMPLE_FILES]);
  for (const [name, content] of Object.entries(EXAMPLE_CONTENTS)) writeFileSync(world.path(name), content);
});
afterAll(() => world.remove());

/** Runs a line as a shell would: `echo ... | ranksim ...`, `ranksim ... > file`, or `ranksim ...`. */
async function shell(line: string): Promise<void> {
  const piped = /^echo '([^']*)' \| (.*)$/.exec(line);
  const [command, file] = (piped ? piped[2] : line).split(" > ");
  const [name, ...args] = words(command);
  expect(name).toBe("ranksim");
  const env = { RANKSIM_DATA: world.path("data") };
  const outcome = await world.ranksim(args, { env, ...(piped ? { stdin: `${piped[1]}\n` } : {}) });
  expect(outcome, `${line}\n${outcome.stderr}`).toMatchObject({ code: 0 });
  if (file) writeFileSync(world.path(file), outcome.bytes);
  const out = /(?:--out|-o|--model|-m) (\S+)/.exec(command)?.[1];
  if (out) expect(existsSync(world.path(out))).toBe(true);
}

describe("the help's examples", () => {
  for (const [command, examples] of Object.entries(EXAMPLES)) {
    for (const { line } of examples) {
      test(`${command}: ${line}`, () => shell(line));
    }
  }
});

describe("the README's examples", () => {
  for (const line of blocks("sh").flatMap((block) => block.split("\n"))) {
    const command = line.replace(/\s+#.*$/, "").trim();
    if (command.startsWith("ranksim") || command.startsWith("echo")) test(command, () => shell(command));
  }

  test("in TypeScript", async () => {
    const scripts = blocks("ts");
    expect(scripts.length).toBeGreaterThan(0);
    for (const [i, script] of scripts.entries()) {
      writeFileSync(world.path(`readme-${i}.ts`), script);
      await import(/* @vite-ignore */ world.path(`readme-${i}.ts`));
    }
  });
});
