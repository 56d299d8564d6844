/** `ranksim doctor`: what this machine has to compute with, and how fast each back end is on it. */

import { arch, cpus, release, totalmem, type } from "node:os";
import { versions } from "node:process";
import { type Backend, Dense, RanksimError } from "@ranksim/core";
import type { Command } from "commander";
import { type CommandBackend, openNamed } from "../backends.ts";
import type { Io } from "../io.ts";
import { addCommonOptions, type CommonOptions, Session } from "../session.ts";
import { bytes, count } from "../terminal/numbers.ts";
import { pairs, table } from "../terminal/table.ts";

/** What each back end is; "auto" is one of them. */
const ABOUT: { readonly [name in Exclude<CommandBackend, "auto">]: string } = {
  gpu: "kernels on a GPU, through WebGPU, for dense rows of bytes",
  threads: "SIMD kernels on several threads",
  wasm: "SIMD kernels on one thread",
  reference: "the definitions, as plain loops",
};

/** Bytes of a row in the test, rows and filters it begins with, and milliseconds of a run that is long enough to tell. */
const FEATURES = 784;
const FEWEST = 128;
const MOST = 8192;
const LONG_ENOUGH = 80;

/** What was found of one back end. */
interface Found {
  readonly name: CommandBackend;
  readonly about: string;
  /** Why it does not run here. */
  readonly refused?: string;
  readonly threads?: number;
  /** Row-filter products of one feature answered for in a second, those that were pruned included. */
  readonly rate?: number;
  readonly device?: Awaited<ReturnType<NonNullable<Backend["describe"]>>>;
}

/** Adds the command. */
export function addDoctor(program: Command, io: Io): void {
  const command = program
    .command("doctor")
    .summary("what this machine can compute with, and how fast")
    .description(
      "Lists the back ends that run here, with the GPU's adapter, threads and memory, and a short speed test of each: the strongest of many filters for rows of 784 bytes.",
    );
  addCommonOptions(command).action((options: CommonOptions) => run(new Session(io, options)));
}

async function run(session: Session): Promise<void> {
  const found = await session.metered("trying back ends", async () => {
    const all: Found[] = [];
    for (const [name, about] of Object.entries(ABOUT) as [CommandBackend, string][]) {
      session.io.signal.throwIfAborted();
      all.push(await look(name, about));
    }
    return all;
  });
  const machine = {
    processor: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memory: totalmem(),
    system: `${type()} ${release()} ${arch()}`,
    node: versions.node,
  };
  await session.print("doctor", { machine, backends: found.map(({ about: _, ...facts }) => facts) }, () => {
    const { style } = session;
    const facts = pairs(
      [
        ["processor", `${machine.processor}, ${machine.cores} cores`],
        ["memory", bytes(machine.memory)],
        ["system", machine.system],
        ["Node", machine.node],
      ],
      style,
    );
    const list = table(
      [
        { head: "back end" },
        { head: "here" },
        { head: "billion products a second", align: "right" },
        { head: "what it is" },
      ],
      found.map(({ name, about, refused, rate, threads, device }) => [
        style.strong(name),
        refused ? style.faint("no") : style.good("yes"),
        rate === undefined ? "" : billions(rate),
        refused ?? device?.adapter ?? (name === "threads" ? `${about}: ${threads}` : about),
      ]),
      style,
    );
    const gpu = found.find(({ device }) => device)?.device;
    const kind = gpu?.isSoftware ? ", a program that plays a GPU: for tests, slower than the processor" : "";
    const told = gpu
      ? `\n${pairs(
          [
            ["gpu", `program "${gpu.variant}"${kind}`],
            ["rows", "dense bytes; the processor searches all others"],
            ["buffers", `up to ${bytes(gpu.limits.bufferBytes)}`],
          ],
          style,
        )}`
      : "";
    return `${facts}\n${list}${told}`;
  });
}

function billions(rate: number): string {
  return rate < 1e10 ? (rate / 1e9).toPrecision(2) : count(Math.round(rate / 1e9));
}

/** Opens a back end and lets it show its speed. */
async function look(name: CommandBackend, about: string): Promise<Found> {
  let backend: Backend;
  try {
    backend = await openNamed(name);
  } catch (error) {
    return { name, about, refused: (error as Error).message };
  }
  try {
    const device = await backend.describe?.();
    return { name, about, threads: backend.threads, rate: await speedOf(backend), ...(device ? { device } : {}) };
  } catch (error) {
    if (!(error instanceof RanksimError)) throw error;
    return { name, about, refused: error.message }; // it opened, and fails at work
  } finally {
    await backend.close();
  }
}

/** Products a second, of work that is doubled until it takes long enough. */
async function speedOf(backend: Backend): Promise<number> {
  for (let size = FEWEST; ; size *= 2) {
    const x = Dense.of(drawn(size * FEATURES), size, FEATURES);
    const rows = await backend.hold(x);
    const singles = Uint32Array.from({ length: size + 1 }, (_, f) => f);
    const bank = await rows.rank({ offsets: singles, rows: singles.subarray(0, size) });
    try {
      await rows.topFilters(bank, 1); // what is made once is not counted
      const began = performance.now();
      await rows.topFilters(bank, 1);
      const milliseconds = performance.now() - began;
      if (milliseconds >= LONG_ENOUGH || size === MOST) return (size * size * FEATURES) / (milliseconds / 1000);
    } finally {
      bank.release();
      rows.release();
    }
  }
}

/** Bytes that look like noise. */
function drawn(count: number): Uint8Array {
  const values = new Uint8Array(count);
  for (let j = 0; j < count; j++) values[j] = Math.imul(j ^ (j >>> 7), 2_654_435_761) >>> 24;
  return values;
}
