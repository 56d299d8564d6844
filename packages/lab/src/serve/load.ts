/**
 * The server under load, on this machine: its rate beside a bare node:http server and beside the authors' package behind
 * Python's http.server, ten times as many clients as it takes, a soak with swaps and clients that go away, and the way back
 * after it was killed. Figures go to results/serve.json.
 *
 *   npm run load -- [--seconds 5] [--rounds 3] [--soak 60] [--python-package FOLDER] [--python /usr/bin/python3] [--only rate,restart]
 *
 * autocannon fires too where NODE_PATH leads to it. `--only` measures some of rate, overload, soak and restart; the file keeps the rest.
 */

import { copyFile, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type ClassifierModel, type Dense, RankSimilarityClassifier, saveModel, toDense } from "@ranksim/core";
import { loadData } from "@ranksim/data/node";
import { type Fired, findAutocannon, fire } from "./autocannon.ts";
import { type Load, load } from "./client.ts";
import { endAll, type Started, startPlain, startRanksim } from "./process.ts";

const BIN = fileURLToPath(new URL("../../../cli/dist/bin.js", import.meta.url));
const BARE = fileURLToPath(new URL("./bare-server.js", import.meta.url));
const PEER = fileURLToPath(new URL("../../python/serve_authors.py", import.meta.url));
const RESULTS = fileURLToPath(new URL("../../results/serve.json", import.meta.url));

const CONNECTIONS = 64;
const ASKED = 200;
/** Parts of a measurement in which memory may grow. */
const WARM_PARTS = 10;

const { values: flags } = parseArgs({
  options: {
    seconds: { type: "string", default: "5" },
    rounds: { type: "string", default: "3" },
    soak: { type: "string", default: "60" },
    python: { type: "string", default: "/usr/bin/python3" },
    "python-package": { type: "string" },
    only: { type: "string", default: "rate,overload,soak,restart" },
  },
});
const seconds = Number(flags.seconds);

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const folder = await mkdtemp(join(tmpdir(), "ranksim-load-"));
const results: { [name: string]: unknown } = JSON.parse(await readFile(RESULTS, "utf8").catch(() => "{}"));
const wanted = new Set(flags.only.split(","));
try {
  const { train, test, y } = await images();
  const [first, second] = [
    await new RankSimilarityClassifier({ filters: 300, seed: 1 }).fit(train, y),
    await new RankSimilarityClassifier({ filters: 300, seed: 2 }).fit(train, y),
  ];
  const path = join(folder, "images.ranksim");
  const other = join(folder, "other.model");
  await writeFile(path, saveModel(first));
  await writeFile(other, saveModel(second));
  const bodies = Array.from({ length: ASKED }, (_, r) =>
    Buffer.from(JSON.stringify({ rows: [Array.from(test.row(r))] })),
  );
  const expected = await first.predict(test);
  const isRight = (body: number, status: number, answer: string) =>
    status === 200 && JSON.parse(answer).labels[0] === expected[body];

  const parts = {
    rate: () => rates(path, bodies, isRight),
    overload: () => overload(path, bodies, isRight),
    soak: () => soak(path, other, first, second, test, bodies),
    restart: () => restart(path),
  };
  for (const [name, measure] of Object.entries(parts)) {
    if (!wanted.has(name)) continue;
    results[name] = await measure();
    await writeFile(RESULTS, `${JSON.stringify(results, undefined, 2)}\n`);
  }
  console.log(JSON.stringify(results, undefined, 2));
} finally {
  endAll();
  await rm(folder, { recursive: true, force: true });
}

/** Fashion-MNIST; the first 6,000 images to train on. */
async function images(): Promise<{ train: Dense; test: Dense; y: number[] }> {
  const [train, test] = [await loadData("fashion-mnist:train"), await loadData("fashion-mnist:test")];
  if (train.form !== "matrix" || test.form !== "matrix") throw new Error("expected images");
  const y = Array.from(train.y as ArrayLike<number>).slice(0, 6000);
  return { train: toDense(train.x.slice(0, 6000)), test: toDense(test.x.slice(0, ASKED)), y };
}

/** Rates in turns, so that a machine that is busy with something else is busy for all. */
async function rates(
  path: string,
  bodies: readonly Buffer[],
  isRight: NonNullable<Parameters<typeof load>[0]["isRight"]>,
) {
  const found: { [name: string]: Load[] } = { bare: [], ranksim: [], "ranksim infer": [] };
  const costs: { [name: string]: number[] } = {};
  const peer = flags["python-package"];
  const servers: { [name: string]: Started } = {
    bare: await startPlain(process.execPath, [BARE]),
    ranksim: await startRanksim(BIN, [path]),
    ...(peer ? { python: await startPlain(flags.python, [PEER, peer, await peerData()]) } : {}),
  };
  const tensors = bodies.map((body) => {
    const [data] = JSON.parse(body.toString()).rows;
    const inputs = [{ name: "rows", datatype: "UINT8", shape: [1, data.length], data }];
    return Buffer.from(JSON.stringify({ inputs, outputs: [{ name: "label" }] }));
  });
  // The first round is not counted: engines compile what they run often.
  for (let round = 0; round <= Number(flags.rounds); round++) {
    for (const [name, { port }] of Object.entries(servers)) {
      const common = { port, connections: CONNECTIONS, seconds };
      const own = name === "ranksim" ? { isRight } : {};
      found[name] ??= [];
      const before = servers[name].cpu();
      const one = await load({ ...common, path: "/predict", bodies, ...own });
      found[name].push(one);
      costs[name] ??= [];
      costs[name].push((servers[name].cpu() - before) / one.answered);
      if (name === "ranksim") {
        found["ranksim infer"].push(await load({ ...common, path: "/v2/models/images/infer", bodies: tensors }));
      }
    }
  }
  const autocannon = findAutocannon();
  const fired: { [name: string]: Fired[] } = {};
  for (let round = 0; autocannon && round < Number(flags.rounds); round++) {
    for (const [name, { port }] of Object.entries(servers)) {
      fired[name] ??= [];
      fired[name].push(await fire(autocannon, port, bodies, CONNECTIONS, seconds));
    }
  }
  for (const server of Object.values(servers)) server.signal("SIGTERM");
  for (const list of [...Object.values(found), ...Object.values(costs)]) list.shift();
  const rate = (name: string) => median(found[name].map((one) => one.rate));
  return {
    connections: CONNECTIONS,
    seconds,
    rounds: Number(flags.rounds),
    requestsPerSecond: Object.fromEntries(Object.keys(found).map((name) => [name, Math.round(rate(name))])),
    p99Ms: Object.fromEntries(Object.keys(found).map((name) => [name, median(found[name].map((one) => one.p99))])),
    wrong: found.ranksim.reduce((sum, { wrong }) => sum + wrong, 0),
    lost: found.ranksim.reduce((sum, { lost }) => sum + lost, 0),
    ofBare: rate("ranksim") / rate("bare"),
    // What a request takes of the processor, which tells more than rates where other work runs beside.
    processorMicroseconds: Object.fromEntries(Object.keys(costs).map((name) => [name, 1e6 * median(costs[name])])),
    ofBareByProcessor: median(costs.bare) / median(costs.ranksim),
    ...(autocannon ? { autocannon: ofAutocannon(fired) } : {}),
    ...(peer
      ? {
          timesPython: rate("ranksim") / rate("python"),
          timesPythonByProcessor: median(costs.python) / median(costs.ranksim),
        }
      : {}),
  };
}

/** The same figures as autocannon has them: medians over rounds. */
function ofAutocannon(fired: { readonly [name: string]: readonly Fired[] }) {
  const each = (pick: (one: Fired) => number) =>
    Object.fromEntries(Object.entries(fired).map(([name, list]) => [name, median(list.map(pick))]));
  const rate = each((one) => one.rate);
  return {
    requestsPerSecond: rate,
    medianMs: each((one) => one.median),
    p99Ms: each((one) => one.p99),
    refused: each((one) => one.refused),
    errors: each((one) => one.errors),
    ofBare: rate.ranksim / rate.bare,
    ...(rate.python ? { timesPython: rate.ranksim / rate.python } : {}),
  };
}

/** Rows and labels for the peer, as files that numpy reads. */
async function peerData(): Promise<string> {
  const { train, y } = await images();
  await writeFile(join(folder, "rows.bin"), Uint8Array.from(train.values));
  await writeFile(join(folder, "labels.bin"), Uint8Array.from(y));
  return folder;
}

/** Ten times the clients: some are told to come back, all others are answered right, and memory does not grow. */
async function overload(
  path: string,
  bodies: readonly Buffer[],
  isRight: NonNullable<Parameters<typeof load>[0]["isRight"]>,
) {
  const server = await startRanksim(BIN, [path]);
  const isFair = (body: number, status: number, answer: string) => status === 503 || isRight(body, status, answer);
  const common = {
    port: server.port,
    path: "/predict",
    bodies,
    connections: 10 * CONNECTIONS,
    seconds,
    isRight: isFair,
  };
  await load(common);
  const memory = [server.memory()];
  const parts: Load[] = [];
  // A heap grows to its size in the first minute; the second shows whether it goes on.
  for (let part = 0; part < 2 * WARM_PARTS; part++) {
    parts.push(await load(common));
    memory.push(server.memory());
  }
  server.signal("SIGINT");
  const total = (pick: (part: Load) => number) => parts.reduce((sum, part) => sum + pick(part), 0);
  return {
    connections: 10 * CONNECTIONS,
    accepted: total(({ byStatus }) => byStatus[200] ?? 0),
    refused: total(({ byStatus }) => byStatus[503] ?? 0),
    wrong: total(({ wrong }) => wrong),
    lost: total(({ lost }) => lost),
    p99Ms: median(parts.map(({ p99 }) => p99)),
    memoryBytes: memory,
    grownBytes: (memory.at(-1) as number) - Math.max(...memory.slice(0, WARM_PARTS + 1)),
  };
}

/** Two models that take each other's place every half second, under load, with clients that go away. */
async function soak(
  path: string,
  other: string,
  first: ClassifierModel,
  second: ClassifierModel,
  test: Dense,
  bodies: readonly Buffer[],
) {
  const server = await startRanksim(BIN, [path], "--watch");
  const labels = new Map<string, readonly unknown[]>();
  const answer = await fetch(`http://127.0.0.1:${server.port}/v2/models/images`);
  const one = (await answer.json()) as { readonly versions: readonly string[] };
  labels.set(one.versions[0], await first.predict(test));
  const otherLabels = await second.predict(test);
  const isRight = (body: number, status: number, answer: string) => {
    if (status !== 200) return false;
    const { version, labels: given } = JSON.parse(answer);
    if (!labels.has(version)) labels.set(version, otherLabels);
    return labels.get(version)?.[body] === given[0];
  };
  let swaps = 0;
  const kept = join(folder, "kept.model");
  await copyFile(path, kept);
  let isOver = false;
  const swap = async () => {
    for (; !isOver; await setTimeout(700)) {
      const fresh = join(folder, "fresh.model");
      await copyFile(++swaps % 2 === 1 ? other : kept, fresh);
      await rename(fresh, path);
    }
  };
  const swapping = swap();
  const common = { port: server.port, path: "/predict", bodies, connections: CONNECTIONS, isRight, abortShare: 0.01 };
  const warm = await load({ ...common, seconds: Math.max(5, Number(flags.soak) / 6) });
  const memory = [server.memory()];
  const parts: Load[] = [warm];
  for (let part = 0; part < 5; part++) {
    parts.push(await load({ ...common, seconds: Number(flags.soak) / 6 }));
    memory.push(server.memory());
  }
  isOver = true;
  await swapping;
  const metrics = await fetch(`http://127.0.0.1:${server.port}/metrics`).then((answer) => answer.text());
  server.signal("SIGTERM");
  const total = (pick: (part: Load) => number) => parts.reduce((sum, part) => sum + pick(part), 0);
  return {
    seconds: Number(flags.soak),
    answered: total(({ answered }) => answered),
    wrong: total(({ wrong }) => wrong),
    lost: total(({ lost }) => lost),
    aborted: total(({ aborted }) => aborted),
    versions: labels.size,
    swapped: Number(/ranksim_model_swaps_total\{[^}]*\} (\d+)/.exec(metrics)?.[1]),
    refused: Number(/ranksim_model_refusals_total\{[^}]*\} (\d+)/.exec(metrics)?.[1]),
    memoryBytes: memory,
    exitCode: await server.ended,
  };
}

/** From the start of the process to the first answer, five times after kill -9. */
async function restart(path: string) {
  const times: number[] = [];
  const costs: number[] = [];
  for (let round = 0; round < 5; round++) {
    const began = performance.now();
    const server = await startRanksim(BIN, [path]);
    const answer = await fetch(`http://127.0.0.1:${server.port}/v2/health/ready`);
    if (answer.status !== 200) throw new Error(`expected 200, found ${answer.status}`);
    times.push(performance.now() - began);
    costs.push(1000 * server.cpu());
    server.signal("SIGKILL");
    await server.ended;
  }
  return { readyMs: times, medianMs: median(times), medianProcessorMs: median(costs) };
}
