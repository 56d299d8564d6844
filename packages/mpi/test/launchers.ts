/** The launchers of this machine, and programs started by them. One that is not here is skipped by name. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";

export interface Launcher {
  readonly title: string;
  readonly isHere: boolean;
  start(size: number, program: readonly string[], how?: Circumstances): ChildProcess;
}

interface Circumstances {
  readonly cwd?: string;
  readonly env?: { readonly [name: string]: string };
}

const isHere = (command: string) => spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0;

const launcher = (title: string, command: string, flags: readonly string[]): Launcher => ({
  title,
  isHere: isHere(command),
  start: (size, program, { cwd, env } = {}) =>
    spawn(command, [...flags, "-n", String(size), process.execPath, ...program], {
      stdio: "pipe",
      ...(cwd ? { cwd } : {}),
      env: { ...process.env, NO_COLOR: "1", ...env },
    }),
});

/** More processes than cores are allowed, and the root of a container may start them. */
export const launchers: readonly Launcher[] = [
  launcher("MPICH", "mpirun.mpich", []),
  launcher("Open MPI", "mpirun.openmpi", ["--allow-run-as-root", "--oversubscribe"]),
];

/** What a program said and how it ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
}

export async function ended(child: ChildProcess): Promise<Ended> {
  const began = performance.now();
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout?.on("data", (chunk) => out.push(String(chunk)));
  child.stderr?.on("data", (chunk) => err.push(String(chunk)));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout: out.join(""), stderr: err.join(""), seconds: (performance.now() - began) / 1000 };
}
