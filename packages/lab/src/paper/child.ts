/** The process that measures one point on the Node side. Argument: the job as JSON, with the path for the result. */

import { writeFileSync } from "node:fs";
import { argv } from "node:process";
import type { Job } from "./job.ts";
import type { Measured } from "./spec.ts";
import { measureDistributions } from "./tasks/distributions.ts";
import { fitAndApply } from "./tasks/fit.ts";
import { measureLogLoss } from "./tasks/log-loss.ts";
import { findStrongest } from "./tasks/strongest-filters.ts";

const job = JSON.parse(argv[2]) as Job;
const measured = await measure(job);
const { user, system } = process.cpuUsage();
writeFileSync(job.out, JSON.stringify({ ...measured, cpu: (user + system) / 1e6 } satisfies Measured));

function measure({ spec, ...job }: Job): Promise<Omit<Measured, "cpu">> {
  switch (spec.task) {
    case "fit":
      return fitAndApply(job, spec);
    case "log-loss":
      return measureLogLoss(job, spec);
    case "distributions":
      return measureDistributions(job, spec);
    case "strongest-filters":
      return findStrongest(job, spec);
    default:
      throw new Error(`no task of Node: ${spec.task}`);
  }
}
