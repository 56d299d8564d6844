/** The machine as facts, and a wait for a quiet moment before figures that are read off the clock. */

import { cpus, release, totalmem, type } from "node:os";
import { versions } from "node:process";
import { machineBusySeconds } from "./launch.ts";
import { missingPackage, NPM_PEERS, packageVersion } from "./npm-peers.ts";
import type { MachineFacts } from "./results.ts";

/** A core counts as quiet below this share of other processes' work. */
const QUIET_SHARE = 0.15;

/** Facts about this machine. */
export function machineFacts(): MachineFacts {
  const peers = Object.values(NPM_PEERS).filter((peer) => missingPackage(peer) === undefined);
  const names = ["@ranksim/core", ...peers.flatMap(({ packages }) => packages)];
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryBytes: totalmem(),
    system: `${type()} ${release().split("-")[0]}`,
    node: versions.node,
    v8: versions.v8,
    packages: Object.fromEntries(names.map((name) => [name, packageVersion(name)])),
  };
}

/** Waits for quiet moments: a second in which other processes leave the machine alone. Its patience is for a whole session. */
export class Patience {
  #seconds: number;

  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  /** Returns at the next quiet moment, or when patience is spent. */
  async wait(): Promise<void> {
    for (; this.#seconds > 0; this.#seconds--) {
      const before = machineBusySeconds();
      await new Promise((resolve) => setTimeout(resolve, 1000));
      if (machineBusySeconds() - before < QUIET_SHARE) return;
    }
  }
}
