/**
 * The process that measures a start: import the library, load a saved classifier, predict one row. Arguments: the model
 * file and a file with one row of bytes. Prints one JSON object of milliseconds. Imports nothing of ours before the clock runs.
 */

import { readFileSync } from "node:fs";
import { argv, cpuUsage } from "node:process";

const entered = performance.now();
const used = cpuUsage();
const { Dense, loadModel } = await import("@ranksim/core");
const imported = performance.now();
const model = loadModel(readFileSync(argv[2])) as import("@ranksim/core").ClassifierModel;
const loaded = performance.now();
const row = new Uint8Array(readFileSync(argv[3]));
await model.predict(Dense.of(row, 1, row.length));
const predicted = performance.now();
const { user, system } = cpuUsage(used);
const startUp: import("./results.ts").StartUp = {
  engine: entered,
  imported: imported - entered,
  loaded: loaded - entered,
  predicted: predicted - entered,
  cpu: (user + system) / 1000,
};
console.log(JSON.stringify(startUp));
