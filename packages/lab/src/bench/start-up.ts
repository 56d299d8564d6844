/**
 * The process that measures a start: import the library, load a saved classifier, predict one row. Arguments: the model
 * file and how many features a row has. Imports nothing of ours before the clock runs. Prints figures: seconds until the first prediction, from
 * the first line of the program and from the birth of the process, and of the processor.
 */

import { readFileSync } from "node:fs";
import { argv, cpuUsage } from "node:process";

const entered = performance.now();
const used = cpuUsage();
const { Dense, loadModel } = await import("@ranksim/core");
const model = loadModel(readFileSync(argv[2])) as import("@ranksim/core").ClassifierModel;
await model.predict(Dense.of(new Uint8Array(Number(argv[3])).fill(1), 1, Number(argv[3])));
const predicted = performance.now();
const { user, system } = cpuUsage(used);
console.log(
  JSON.stringify({ first: (predicted - entered) / 1000, born: predicted / 1000, cpu: (user + system) / 1e6 }),
);
