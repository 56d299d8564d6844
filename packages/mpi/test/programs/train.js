/** Trains all three estimators on bytes, on float32 and on sparse rows; the first process says the digests of the model files. */

import { createHash } from "node:crypto";
import {
  Dense,
  listedRows,
  openBackend,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  saveModel,
  toCsr,
} from "@ranksim/core";

const ROWS = 1200;
const FEATURES = 60;
let state = 3;
const draw = () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
};
const values = Float32Array.from({ length: ROWS * FEATURES }, (_, j) => {
  const isHigh = ((j % FEATURES) + Math.floor(j / FEATURES)) % 6 === 0;
  return draw() < 0.6 ? 0 : draw() * 9 + (isHigh ? 4 : 0);
});
const floats = Dense.of(values, ROWS, FEATURES);
const bytes = Dense.of(
  Uint8Array.from(values, (value) => value * 15),
  ROWS,
  FEATURES,
);
const y = Array.from({ length: ROWS }, (_, r) => `class ${r % 3}`);

// Alone, the package is not even loaded.
const mpi = process.argv[2] === "alone" ? undefined : await import("@ranksim/mpi");
const joined = mpi && (await mpi.joinProcesses());
const inner = await openBackend("wasm");
const backend = mpi && joined ? mpi.openShards(inner, joined.collective) : inner;
const estimators = [
  new RankSimilarityTransform({ filters: 40, iterations: 4 }),
  new RankSimilarityClassifier({ filters: 45, iterations: 3, calibrate: "temperature", calibrateOn: "drawn" }),
  new RankSimilarityProbabilisticClassifier({ filters: 40, iterations: 3, distribution: "confusion" }),
];
const digests = [];
for (const x of [bytes, floats, toCsr(floats)]) {
  for (const estimator of estimators) {
    const model = await estimator.fit(x, y, { backend });
    digests.push(createHash("sha256").update(saveModel(model)).digest("hex"));
  }
}
// Weighted rows: of processes from a source, alone from memory.
const weights = Uint8Array.from({ length: ROWS }, (_, r) => 1 + (r % 5));
for (const [j, x] of [bytes, floats, toCsr(floats)].entries()) {
  const rows = joined ? listedRows(x, Uint32Array.from(y.keys())) : x;
  const model = await estimators[j].fit(rows, y, { backend, weights });
  digests.push(createHash("sha256").update(saveModel(model)).digest("hex"));
}
// Every process has the same models.
const all = joined ? await joined.collective.gather(new TextEncoder().encode(digests.join())) : [];
const same = all.every((other) => new TextDecoder().decode(other) === digests.join());
if (!joined || joined.collective.rank === 0) console.log(same ? digests.join("\n") : "processes differ");
await inner.close();
await joined?.leave();
