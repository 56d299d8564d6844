/** Processes under the real launchers: the same model whatever their number, and no waiting for one that is gone. */

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BIN, LINE, processesOf, program, REFINED, writeData } from "./job.ts";
import { ended, launchers } from "./launchers.ts";

const isBuilt = existsSync(fileURLToPath(new URL("../dist/index.js", import.meta.url)));
const alone = (...args: string[]) => ended(spawn(process.execPath, args, { stdio: "pipe" }));

let folder = "";
const run = (line: string) => [BIN, ...line.split(" ")];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "ranksim-mpi-"));
  writeData(folder);
  if (!isBuilt) return;
  for (const line of [`${LINE} -m one.ranksim`, `${REFINED} -m refined.ranksim`]) {
    expect((await ended(spawn(process.execPath, run(line), { cwd: folder, stdio: "pipe" }))).code).toBe(0);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

for (const launcher of launchers) {
  describe.skipIf(!launcher.isHere || !isBuilt)(launcher.title, () => {
    it("processes agree about what they do together", async () => {
      for (const size of [1, 2, 3, 4]) {
        const { code, stdout, stderr } = await ended(launcher.start(size, [program("collective.js")]));
        expect([code, stderr]).toEqual([0, stderr]);
        const lines = stdout.trim().split("\n");
        expect(lines).toHaveLength(size);
        expect(new Set(lines).size).toBe(1);
        expect(lines[0]).toMatch(new RegExp(`^${size} `));
        expect(lines[0]).not.toMatch(/false/);
        expect(lines[0]).toMatch(new RegExp(`a0${["", "a1", "a1a2", "a1a2a3"][size - 1]} b0`));
      }
    });

    it("1, 2, 3 and 4 processes train the models of one without MPI", async () => {
      const expected = (await alone(program("train.js"), "alone")).stdout;
      expect(expected.trim().split("\n")).toHaveLength(12);
      for (const size of [1, 2, 3, 4]) {
        const { code, stdout } = await ended(launcher.start(size, [program("train.js")]));
        expect(code).toBe(0);
        expect(stdout).toBe(expected);
      }
    });

    it("the command just works: one speaks and writes, in memory or from a source", async () => {
      const expected = readFileSync(join(folder, "one.ranksim"));
      for (const flags of ["", " --memory 2MB"]) {
        const found = await ended(launcher.start(3, run(`${LINE} -m three.ranksim --json${flags}`), { cwd: folder }));
        expect(found.code).toBe(0);
        expect(JSON.parse(found.stdout)).toMatchObject({
          command: "train",
          report: { backend: expect.stringMatching(/in 3 processes/) },
        });
        expect(readFileSync(join(folder, "three.ranksim")).equals(expected)).toBe(true);
      }
      const answers = await ended(launcher.start(2, run("predict one.ranksim rows.npy"), { cwd: folder }));
      const same = await ended(
        spawn(process.execPath, run("predict one.ranksim rows.npy"), { cwd: folder, stdio: "pipe" }),
      );
      expect(answers.stdout.replaceAll("\r", "")).toBe(same.stdout);
      expect(same.stdout.trim().split("\n")).toHaveLength(3000);
    });

    it("the program of the README prints what it says", async () => {
      const readme = readFileSync(fileURLToPath(new URL("../README.md", import.meta.url)), "utf8");
      const [, block] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
      const path = program(`readme-${process.pid}.js`);
      writeFileSync(path, block);
      try {
        const { code, stdout } = await ended(launcher.start(2, [path]));
        expect([code, stdout.trim()]).toEqual([0, /console\.log.*\/\/ (.*)/.exec(block)?.[1]]);
      } finally {
        rmSync(path);
      }
    });

    it("an error is told once, and ends all with a code that is not 0", async () => {
      const found = await ended(
        launcher.start(3, [BIN, ..."train nothing.npy -m no.ranksim".split(" ")], { cwd: folder }),
      );
      expect(found.code).not.toBe(0);
      expect(found.stderr.match(/nothing\.npy: no file/g)).toHaveLength(1);
    });

    const unlike = (first: string, second: string) =>
      ended(launcher.start(1, [...run(first), ":", "-n", "1", process.execPath, ...run(second)], { cwd: folder }));

    it("processes with different data are refused, in memory and in blocks, and the error of any is told", async () => {
      const [file] = [readFileSync(join(folder, "rows.npy"))];
      writeFileSync(
        join(folder, "others.npy"),
        file.map((byte, at) => (at < file.length - 100 ? byte : 255 - byte)),
      );
      for (const memory of ["", " --memory 1MB"]) {
        const found = await unlike(
          `${LINE}${memory} -m no.ranksim`,
          `${LINE.replace("rows", "others")}${memory} -m no.ranksim`,
        );
        expect(found.stderr).toMatch(
          /processes 0 and 1 were given different work: (data digest|some rows) \w+… and \w+…/,
        );
        expect(found.code).not.toBe(0);
      }
      const found = await unlike(`${LINE} --quiet -m no.ranksim`, `${LINE.replace("rows", "none")} -m no.ranksim`);
      expect(found.stderr).toMatch(/process 1 of 2: .*none\.npy: no file/);
      expect(found.code).not.toBe(0);
      expect(existsSync(join(folder, "no.ranksim"))).toBe(false);
    });

    it("processes that may take different memory agree on the least", async () => {
      const { code } = await unlike(`${LINE} --memory 1MB -m least.ranksim`, `${LINE} --memory 9GB -m least.ranksim`);
      expect(code).toBe(0);
      expect(readFileSync(join(folder, "least.ranksim"))).toEqual(readFileSync(join(folder, "one.ranksim")));
    });

    it.each([
      ["state 1", 1, LINE, "one", /\.state$/, 3, 2],
      ["state 3", 3, LINE, "one", /\.state$/, 3, 2],
      ["a refined bank", 1, REFINED, "refined", /^refine-bank-2\.state$/, 2, 1],
    ])(
      "kill -9 of a process after %s ends the job in seconds, and a restart makes the same file",
      async (_, states, trained, whole, awaited, size, restarted) => {
        const kept = join(folder, `kept-${whole}-${states}`);
        rmSync(kept, { recursive: true, force: true });
        await mkdir(kept, { recursive: true });
        const line = run(`${trained} --checkpoint ${kept} -m again.ranksim`);
        const child = launcher.start(size, line, { cwd: folder });
        let left = states;
        let killedAt = 0;
        const watcher = watch(kept, (event, name) => {
          if (event !== "rename" || !awaited.test(name ?? "") || --left !== 0) return;
          const victims = processesOf(kept);
          process.kill(victims[states % victims.length], "SIGKILL");
          killedAt = performance.now();
        });
        const found = await ended(child);
        watcher.close();
        expect(killedAt).toBeGreaterThan(0);
        expect(found.code).not.toBe(0);
        // Long before the deadline of a call, which would end the job as well; a busy machine takes its time.
        expect((performance.now() - killedAt) / 1000).toBeLessThan(60);
        const again = await ended(launcher.start(restarted, line, { cwd: folder }));
        expect(again.code).toBe(0);
        const expected = readFileSync(join(folder, `${whole}.ranksim`));
        expect(readFileSync(join(folder, "again.ranksim")).equals(expected)).toBe(true);
      },
    );

    it("nobody waits for ever: a call that others take no part in has a deadline", async () => {
      const script = `
        import { joinProcesses } from "@ranksim/mpi";
        const { collective, abort } = await joinProcesses();
        if (collective.rank === 0) await collective.barrier().catch((error) => { console.error(error.message); setTimeout(() => abort(9), 300); });
        else await new Promise((resume) => setTimeout(resume, 60_000));`;
      const path = program(`waits-${process.pid}.js`);
      writeFileSync(path, script);
      try {
        const found = await ended(launcher.start(2, [path], { env: { RANKSIM_MPI_DEADLINE: "1" } }));
        expect(found.code).not.toBe(0);
        expect(found.stderr).toMatch(/process 0 of 2 waited 1 s for the others in MPI_Ibarrier/);
        expect(found.seconds).toBeLessThan(30);
      } finally {
        rmSync(path);
      }
    });

    it("works through a program between the two, or says that the launcher cannot be reached so", async () => {
      const between = `import { spawnSync } from "node:child_process";
        process.exitCode = spawnSync(process.execPath, ${JSON.stringify([program("collective.js")])}, { stdio: "inherit" }).status ?? 1;`;
      const path = program(`between-${process.pid}.js`);
      writeFileSync(path, between);
      try {
        const { code, stdout, stderr } = await ended(launcher.start(2, [path]));
        if (launcher.title === "MPICH") {
          expect(code).not.toBe(0);
          expect(stderr).toMatch(/speaks to its processes through open file \d+, which this process was not given/);
        } else expect([code, stdout.trim().split("\n").length]).toEqual([0, 2]);
      } finally {
        rmSync(path);
      }
    });

    it("a library of another MPI is noticed", async () => {
      const other = launcher.title === "MPICH" ? "libmpi.so.40" : "libmpich.so.12";
      const flags = `${LINE} -m no.ranksim`.split(" ");
      const how = { cwd: folder, env: { RANKSIM_MPI_LIBRARY: other } };
      const found = await ended(launcher.start(2, [BIN, ...flags], how));
      expect(found.code).not.toBe(0);
      if (launchers.every(({ isHere }) => isHere))
        expect(found.stderr).toMatch(/started 2 processes, .* knows of 1|did not start/);
    });
  });
}

describe.skipIf(!isBuilt)("without a launcher", () => {
  it("--mpi says what is missing", async () => {
    const found = await ended(
      spawn(process.execPath, [BIN, ...`${LINE} --mpi -m no.ranksim`.split(" ")], {
        cwd: folder,
        stdio: "pipe",
        env: { ...process.env, RANKSIM_MPI_LIBRARY: "libnot-there.so" },
      }),
    );
    expect(found.code).toBe(1);
    expect(found.stderr).toMatch(/expected the library of MPICH or Open MPI, found none of libnot-there\.so/);
  });
});
