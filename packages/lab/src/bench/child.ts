/** The process that measures one job on the Node side. Argument: the job as JSON, with the path for the result. */

import { writeFileSync } from "node:fs";
import { argv } from "node:process";
import type { NodeJob } from "./job.ts";

const job = JSON.parse(argv[2]) as NodeJob & { readonly out: string };
writeFileSync(job.out, JSON.stringify(await measure(job)));

/** Imports only what the job needs, so that one system's memory is not charged to another. */
async function measure(job: NodeJob): Promise<unknown> {
  switch (job.task) {
    case "estimate":
      return (await import("./estimate.ts")).estimate(job);
    case "growth":
      return (await import("./estimate.ts")).grow(job);
    case "npm-peer":
      return (await import("./npm-peers.ts")).measurePeer(job);
    case "kernel":
      return (await import("./kernels.ts")).measureKernel(job);
    default:
      throw new Error(`unknown job ${JSON.stringify(job satisfies never)}`);
  }
}
