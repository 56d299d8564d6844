/**
 * `npm run large`: more rows than WebAssembly has memory for. Trains on float32 rows drawn from a seed, on wasm and threads, and
 * compares them with each other and, on a sample of rows and filters, with the reference.
 */

import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { argv, resourceUsage, stderr, stdout } from "node:process";
import { parseArgs } from "node:util";
import {
  type Backend,
  Dense,
  openBackend,
  RankSimilarityTransform,
  saveModel,
  type TransformModel,
  toCsr,
} from "@ranksim/core";
import { drawLarge } from "./rows.ts";

const HELP = `Trains on more float32 rows than WebAssembly has memory for and compares back ends.

  npm run large -- --gigabytes 5

  --gigabytes N   size of the rows (5)
  --features N    (784)
  --filters N     (64)
  --sample N      rows compared with the reference (1000)
  --seed N        (1)
  --results FILE  where to write what was found as JSON
  --help          this text

Needs as much memory as the rows take, and about 4 GB more. Ends with 1 where anything differs.
`;

const { values } = parseArgs({
  args: argv.slice(2),
  options: {
    gigabytes: { type: "string", default: "5" },
    features: { type: "string", default: "784" },
    filters: { type: "string", default: "64" },
    sample: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    results: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

/** Filters whose weights the reference makes again from the rows they were made of. */
const FILTERS_AGAIN = 4;

if (values.help) stdout.write(HELP);
else await main();

async function main(): Promise<void> {
  const [features, filters, sample, seed] = [values.features, values.filters, values.sample, values.seed].map(Number);
  const rows = Math.floor((Number(values.gigabytes) * 2 ** 30) / (4 * features));
  stderr.write(`drawing ${rows} rows x ${features} features\n`);
  const x = Dense.of(drawLarge(rows, features, seed), rows, features);
  const picked = Uint32Array.from({ length: Math.min(sample, rows) }, (_, j, count = Math.min(sample, rows)) =>
    Math.round((j * (rows - 1)) / Math.max(1, count - 1)),
  );
  const few = x.gather(picked);
  const reference = await openBackend("reference");
  const recipe = new RankSimilarityTransform({ filters, iterations: 2, tolerance: 0, seed });
  const found: { [name: string]: object } = {};
  const wrong: string[] = [];
  let first: string | undefined;
  for (const name of ["wasm", "threads"] as const) {
    const backend = await openBackend(name, name === "threads" ? { threads: 2 } : {});
    const began = performance.now();
    const model = await recipe.fit(x, undefined, { backend });
    const seconds = (performance.now() - began) / 1000;
    const digest = createHash("sha256").update(saveModel(model)).digest("hex");
    first ??= digest;
    if (digest !== first) wrong.push(`${name}: another model than wasm`);
    if (!(await answersAlike(model, few, backend, reference)))
      wrong.push(`${name}: the sample is transformed otherwise`);
    for (const f of await filtersUnlike(model, x, reference))
      wrong.push(`${name}: filter ${f} is not the rank of its rows`);
    await backend.close();
    found[name] = { seconds: Math.round(seconds), digest, pruned: model.report.pruned, notes: model.report.notes };
    stderr.write(`${name}: ${seconds.toFixed(1)} s, ${wrong.length} differences so far\n`);
  }
  const peakGigabytes = resourceUsage().maxRSS / 2 ** 20;
  const report = { rows, features, filters, sample: picked.length, seed, peakGigabytes, ...found, wrong };
  stdout.write(`${JSON.stringify(report, undefined, 1)}\n`);
  if (values.results !== undefined) writeFileSync(values.results, `${JSON.stringify(report, undefined, 1)}\n`);
  if (wrong.length > 0) process.exitCode = 1;
}

async function answersAlike(model: TransformModel, x: Dense, backend: Backend, reference: Backend): Promise<boolean> {
  const [a, b] = [
    toCsr(await model.transform(x, { backend })),
    toCsr(await model.transform(x, { backend: reference })),
  ];
  const same = (p: ArrayLike<number>, q: ArrayLike<number>) => {
    if (p.length !== q.length) return false;
    for (let j = 0; j < p.length; j++) if (p[j] !== q[j]) return false;
    return true;
  };
  return same(a.offsets, b.offsets) && same(a.indices, b.indices) && same(a.values, b.values);
}

/** Filters, of the smallest, whose weights are not what one filter of just their rows gets on the reference. */
async function filtersUnlike(model: TransformModel, x: Dense, reference: Backend): Promise<number[]> {
  const { bank } = model;
  if (bank.form !== "dense") throw new Error("expected dense filters of dense rows");
  const sizes = Array.from({ length: bank.filters }, (_, f) => ({ f, rows: model.filterRows(f).length }));
  const smallest = sizes
    .filter(({ rows }) => rows > 0)
    .sort((a, b) => a.rows - b.rows)
    .slice(0, FILTERS_AGAIN);
  const one = new RankSimilarityTransform({ filters: 1, iterations: 1 });
  const unlike: number[] = [];
  for (const { f } of smallest) {
    const again = await one.fit(x.gather(model.filterRows(f)), undefined, { backend: reference });
    const weights = bank.weights.subarray(f * bank.features, (f + 1) * bank.features);
    const made = again.bank.form === "dense" ? again.bank.weights : [];
    if (made.length !== weights.length || !weights.every((weight: number, i: number) => weight === made[i]))
      unlike.push(f);
  }
  return unlike;
}
