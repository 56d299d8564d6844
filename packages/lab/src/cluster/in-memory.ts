/** A process of its own: predicts rows that are in memory, and says how long that took. `node in-memory.js MODEL ROWS` */

import { readFileSync } from "node:fs";
import { argv, stdout } from "node:process";
import { loadModel, type Matrix, openBackend, type PredictingModel } from "@ranksim/core";
import { Budget } from "@ranksim/data";
import { openPath, readData } from "@ranksim/data/node";

const [, , modelPath, rowsPath] = argv;
const model = loadModel(readFileSync(modelPath)) as unknown as PredictingModel<Matrix>;
// The reader counts eight bytes a value before it knows their type.
const data = await readData(await openPath(rowsPath), { budget: new Budget(1e12) });
if (data.form !== "matrix") throw new Error(`${rowsPath}: expected numbers`);
const backend = await openBackend("auto", { threads: 1 });
await model.predict(data.x.slice(0, 1000), { backend });
const began = performance.now();
const answers = await model.predict(data.x, { backend });
stdout.write(`${JSON.stringify({ rows: answers.length, seconds: (performance.now() - began) / 1000 })}\n`);
await backend.close();
