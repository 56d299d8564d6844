/**
 * A Slurm of one's own on the loopback host: munged, slurmctld and slurmd, with their key, ports, state and logs in one folder, apart
 * from any that the machine has. It says why it cannot start.
 */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { hostname, tmpdir, userInfo } from "node:os";
import { join } from "node:path";

/** Milliseconds in which the node has to report. */
const STARTS = 120_000;
/** Tasks that the node says it has room for, whatever its cores. */
const TASKS = 4;

export interface Slurm {
  /** What its commands (srun, sbatch, scontrol) need in their environment. */
  readonly env: { readonly SLURM_CONF: string };
  /** The ways of starting MPI that its srun knows: pmi2, pmix. */
  readonly mpi: readonly string[];
  stop(): Promise<void>;
}

/** Starts one; the reason where it cannot be started here. */
export async function startSlurm(): Promise<Slurm | string> {
  const missing = ["munged", "slurmctld", "slurmd", "srun"].filter(
    (command) => spawnSync("which", [command], { env: WITH_SYSTEM }).status !== 0,
  );
  if (missing.length > 0) return `no ${missing.join(", ")}`;
  // The paths of sockets are short.
  const folder = mkdtempSync(join(tmpdir(), "slurm-"));
  const started: ChildProcess[] = [];
  const stop = async () => {
    // Munge last: the others say goodbye with it.
    for (const child of started.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), 5000);
      await gone;
      clearTimeout(late);
    }
    rmSync(folder, { recursive: true, force: true });
  };
  const env = { SLURM_CONF: join(folder, "slurm.conf") };
  try {
    for (const name of ["state", "spool"]) mkdirSync(join(folder, name), { mode: 0o700 });
    writeFileSync(join(folder, "key"), randomBytes(1024), { mode: 0o600 });
    writeFileSync(env.SLURM_CONF, configuration(folder, await freePort(), await freePort()));
    const at = (flag: string, name: string) => `--${flag}=${join(folder, name)}`;
    const files = [at("key-file", "key"), at("socket", "munge"), at("pid-file", "munged.pid"), at("seed-file", "seed")];
    started.push(start("munged", ["--foreground", "--force", ...files, at("log-file", "munged.log")], env));
    await until(() => answers("munge", ["--no-input", "--socket", join(folder, "munge")], env));
    started.push(start("slurmctld", ["-D"], env), start("slurmd", ["-D"], env));
    await until(() => said("sinfo", ["--noheader", "--format=%T"], env).includes("idle"));
  } catch {
    const reasons = ["munged", "slurmctld", "slurmd"].map((name) => lastError(join(folder, `${name}.log`)));
    await stop();
    return `does not start here: ${reasons.filter(Boolean).join("; ") || "it said nothing"}`;
  }
  const listed = said("srun", ["--mpi=list"], env);
  return { env, mpi: ["pmi2", "pmix"].filter((name) => new RegExp(`\\b${name}\\b`).test(listed)), stop };
}

/** Daemons are where a user's path may not lead. */
const WITH_SYSTEM = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };

function start(command: string, flags: readonly string[], env: object): ChildProcess {
  const child = spawn(command, flags, { stdio: "ignore", env: { ...WITH_SYSTEM, ...env } });
  child.on("error", () => {}); // nothing answers then, and that is noticed
  return child;
}

const run = (command: string, flags: readonly string[], env: object) =>
  spawnSync(command, flags, { env: { ...WITH_SYSTEM, ...env }, encoding: "utf8", timeout: 60_000 });
const answers = (command: string, flags: readonly string[], env: object) => run(command, flags, env).status === 0;
const said = (command: string, flags: readonly string[], env: object) => {
  const { stdout, stderr } = run(command, flags, env);
  return `${stdout}${stderr}`;
};

async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + STARTS;
  while (!holds()) {
    if (performance.now() > end) throw new Error("too late");
    await new Promise((resume) => setTimeout(resume, 100));
  }
}

function lastError(log: string): string {
  try {
    const lines = readFileSync(log, "utf8").split("\n");
    return lines.findLast((line) => /error|fatal/i.test(line)) ?? "";
  } catch {
    return "";
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

function configuration(folder: string, controller: number, node: number): string {
  const host = hostname().split(".")[0];
  const user = userInfo().username;
  return `ClusterName=here
SlurmctldHost=${host}(127.0.0.1)
SlurmUser=${user}
SlurmdUser=${user}
AuthType=auth/munge
AuthInfo=socket=${folder}/munge
CredType=cred/munge
SlurmctldPort=${controller}
SlurmdPort=${node}
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/spool
SlurmctldPidFile=${folder}/slurmctld.pid
SlurmdPidFile=${folder}/slurmd.pid
SlurmctldLogFile=${folder}/slurmctld.log
SlurmdLogFile=${folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
NodeName=${host} NodeAddr=127.0.0.1 CPUs=${TASKS}
PartitionName=all Nodes=${host} Default=YES MaxTime=INFINITE State=UP
`;
}
