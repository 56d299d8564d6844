/** Commands are loaded one at a time where a line names one, and all together where it does not. */

import { describe, expect, it } from "vitest";
import type { Io } from "../src/io.ts";
import { commandOf, makeProgram } from "../src/program.ts";

const output = { columns: 80, colourDepth: 1, isTerminal: false, write: async () => undefined };
const io = { stdout: output, stderr: output, env: {}, cwd: ".", signal: new AbortController().signal } as unknown as Io;

describe("commands on demand", () => {
  it("gives a line that names a command that command alone, with all its flags", async () => {
    const all = await makeProgram(io, () => undefined);
    expect(all.commands.length).toBeGreaterThan(15);
    for (const command of all.commands) {
      const name = command.name();
      if (name === "completion") continue;
      expect(commandOf(["--debug", name, "--help"])).toBe(name);
      const [alone, ...others] = (await makeProgram(io, () => undefined, { only: name })).commands;
      expect(others).toEqual([]);
      expect(alone.name()).toBe(name);
      expect(alone.options.map((option) => option.flags)).toEqual(command.options.map((option) => option.flags));
    }
  });

  it("gives all commands to lines that may be about any of them", () => {
    for (const line of [[], ["--help"], ["help", "train"], ["completion", "bash"], ["trian", "train"], ["toString"]]) {
      expect(commandOf(line)).toBeUndefined();
    }
  });
});
