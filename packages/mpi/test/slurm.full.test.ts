/** Jobs of a real Slurm on the loopback host: srun just works, and the job script of docs/slurm.md goes on after a kill. */

import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BIN, HOW, LINE, processesOf, writeData } from "./job.ts";
import { ended } from "./launchers.ts";
import { type Slurm, startSlurm } from "./slurm.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const isBuilt = existsSync(join(ROOT, "packages/mpi/dist/index.js"));
const found: Slurm | string = isBuilt ? await startSlurm() : "not built";
const slurm = typeof found === "string" ? undefined : found;
const env = { ...process.env, NO_COLOR: "1", ...slurm?.env };
const LIBRARIES = { pmi2: "MPICH", pmix: "Open MPI" } as const;
const ways = (["pmi2", "pmix"] as const).map((way) => ({
  way,
  isHere: slurm !== undefined && spawnSync("srun", [`--mpi=${way}`, "-n", "1", "true"], { env }).status === 0,
}));

const folder = mkdtempSync(join(tmpdir(), "ranksim-slurm-"));
const model = (name: string) => readFileSync(join(folder, name));
beforeAll(async () => {
  writeData(folder);
  // What the page has its readers install.
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const one = await ended(
    spawn(process.execPath, [BIN, ...`${LINE} -m one.ranksim`.split(" ")], { cwd: folder, stdio: "pipe" }),
  );
  expect([one.code, one.stderr]).toEqual([0, one.stderr]);
});
afterAll(async () => {
  await slurm?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const title = `Slurm${typeof found === "string" ? ` (${found})` : ""}`;
describe.skipIf(!slurm)(title, () => {
  for (const { way, isHere } of ways) {
    it.skipIf(!isHere)(`srun --mpi=${way} (${LIBRARIES[way]}): 1 and 4 processes make the file of one`, async () => {
      for (const size of [1, 4]) {
        const flags = [`--mpi=${way}`, "-n", String(size), process.execPath, BIN];
        const job = await ended(
          spawn("srun", [...flags, ...`${LINE} -m ${way}.ranksim --json`.split(" ")], { cwd: folder, env }),
        );
        expect([job.code, job.stderr]).toEqual([0, job.stderr]);
        const { report } = JSON.parse(job.stdout) as { report: { backend: string } };
        expect(report.backend).toMatch(size === 1 ? /^[^0-9]*$/ : new RegExp(`in ${size} processes`));
        expect(model(`${way}.ranksim`).equals(model("one.ranksim"))).toBe(true);
      }
    });
  }

  it.each([
    "a killed process ends the step in seconds, and the job goes on",
    "a job that is put back into the queue goes on",
  ])("the job script of the page: %s", async (how) => {
    const isRequeued = how.includes("queue");
    const name = isRequeued ? "requeued" : "killed";
    const page = readFileSync(join(ROOT, "docs/slurm.md"), "utf8");
    const [, script] = /```sh\n(#!\/bin\/bash\n#SBATCH --job-name[\s\S]*?)```/.exec(page) as RegExpExecArray;
    // A size at which a test is soon done; the rest is as the page says.
    const sized = script.replace("--estimator probabilistic --filters 20000", HOW);
    writeFileSync(
      join(folder, `${name}.sh`),
      sized.replaceAll("rows.kept", name).replace("rows.ranksim", `${name}.ranksim`),
    );
    const kept = join(folder, name);
    mkdirSync(kept);
    const said = (command: string, ...flags: string[]) =>
      spawnSync(command, flags, { cwd: folder, env, encoding: "utf8" }).stdout;
    const id = said("sbatch", "--nodes=1", "--ntasks-per-node=3", "--time=5", "--parsable", `${name}.sh`).trim();
    const job = () => said("scontrol", "show", "job", id);
    const until = async (holds: () => boolean) => {
      for (const end = performance.now() + 120_000; !holds(); ) {
        if (performance.now() > end || /JobState=(FAILED|CANCELLED|TIMEOUT)/.test(job())) {
          throw new Error(`${job()}${readFileSync(join(folder, `slurm-${id}.out`), "utf8")}`);
        }
        await new Promise((resume) => setTimeout(resume, 50));
      }
    };
    try {
      await until(() => readdirSync(kept).some((file) => file.endsWith(".state")));
      const [, victim, ...others] = processesOf(name);
      expect(others).toHaveLength(1);
      const began = performance.now();
      if (isRequeued) said("scontrol", "requeue", id);
      else process.kill(victim, "SIGKILL");
      await until(() => processesOf(name).every((pid) => pid !== victim && !others.includes(pid)));
      expect((performance.now() - began) / 1000).toBeLessThan(60);
      if (isRequeued) {
        await until(() => /JobState=PENDING/.test(job()));
        said("scontrol", "update", `JobId=${id}`, "StartTime=now");
      }
      await until(() => /JobState=COMPLETED/.test(job()));
      expect(job()).toMatch(isRequeued ? /Restarts=1/ : /Restarts=0/);
      expect(model(`${name}.ranksim`).equals(model("one.ranksim"))).toBe(true);
    } finally {
      said("scancel", id);
    }
  });
});
