/** The process that measures one run on the Node side. Argument: the job as JSON, with its module and the path for the result. */

import { writeFileSync } from "node:fs";
import { argv } from "node:process";
import type { Measured } from "./results.ts";

interface Job {
  readonly module: string;
  readonly out: string;
}

const job = JSON.parse(argv[2]) as Job;
// Imports only what the job needs, so that one system's memory is not charged to another.
const { measure } = (await import(`../${job.module}.js`)) as { measure(job: Job): Promise<Measured> };
writeFileSync(job.out, JSON.stringify(await measure(job)));
