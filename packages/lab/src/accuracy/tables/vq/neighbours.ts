/** `RankIndex` beside other indexes: recall at 10 against queries a second, seconds to build, bytes. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Backend, type Dense, type Matrix, RanksimError, saveModel } from "@ranksim/core";
import { RankIndex, type RankIndexModel } from "@ranksim/vq";
import { chart } from "../../../paper/drawing/chart.ts";
import { LINES, sheet } from "../../../paper/drawing/plot.ts";
import { writePart } from "../../../runner/data-files.ts";
import { measureApart, measureInPython } from "../../../runner/process.ts";
import { medianOf, type Results, type Row } from "../../../runner/results.ts";
import { megabytes, number, table } from "../../../runner/show.ts";
import { cpuSoFar } from "../../../runner/stopwatch.ts";
import type { AccuracyRow, AccuracyTable, Bench, Figures } from "../../table.ts";
import { type DataName, partsOf, TITLES } from "./data.ts";

/** Neighbours asked for. */
const K = 10;
const PROBES = [8, 16, 32, 64];
const REPEATS = 3;
/** Asked for so many, a back end makes every product: bounds are for fewer. */
const MORE_THAN_BOUNDED = 65;

const DATA = ["fashion", "drawn", "newsgroups", "cells"] as const;
const OURS = "**RankIndex**";

/** Systems beside it, and whether they take sparse rows. */
const PEERS = [
  { name: "scikit-learn, brute force", system: "brute", isSparse: true },
  { name: "faiss IndexFlatIP", system: "flat" },
  { name: "faiss IndexIVFFlat", system: "lists" },
  { name: "hnswlib, M 16", system: "hnsw" },
  { name: "usearch (npm), M 16", system: "usearch" },
] as const;

interface Asked {
  readonly index: RankIndexModel;
  readonly buildCpu: number;
  /** The ten nearest of each query, as they are: equal to a brute force by a test of the package. */
  readonly exact: Uint32Array;
}

const built = new Map<string, Promise<Asked>>();

function indexOf(data: DataName, bench: Bench): Promise<Asked> {
  const key = `${data} ${bench.quick}`;
  const found = built.get(key) ?? build(data, bench);
  built.set(key, found);
  return found;
}

async function build(data: DataName, bench: Bench): Promise<Asked> {
  const { x, asked } = await partsOf(data, bench);
  const { backend } = bench;
  const began = cpuSoFar();
  const index = await new RankIndex({ similarity: "cosine" }).fit(x, undefined, { backend });
  // The first search makes what all others use.
  await index.search(asked.slice(0, 1), K, { backend });
  const buildCpu = cpuSoFar() - began;
  return { index, buildCpu, exact: (await index.search(asked, K, { backend })).rows };
}

/** Seconds of the fastest of some calls. */
async function fastest(call: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const began = cpuSoFar();
    await call();
    least = Math.min(least, cpuSoFar() - began);
  }
  return least;
}

const recallOf = (found: Uint32Array, exact: Uint32Array): number => {
  let hits = 0;
  for (let at = 0; at < exact.length; at += K) {
    const own = new Set(exact.subarray(at, at + K));
    for (let e = at; e < at + K; e++) if (own.has(found[e])) hits++;
  }
  return hits / exact.length;
};

const own = (data: DataName): AccuracyRow => ({
  name: `${OURS}, ${data}`,
  runs: 1,
  measure: async (_, bench) => {
    const { x, asked } = await partsOf(data, bench);
    const { index, buildCpu, exact } = await indexOf(data, bench);
    const { backend } = bench;
    const rate = async (probes: number | "all") =>
      asked.rows / (await fastest(() => index.search(asked, K, { probes, backend })));
    const figures: { [name: string]: number } = { buildCpu, bytes: saveModel(index).length, rows: x.rows };
    figures["recall@all lists"] = 1;
    figures["rate@all lists"] = await rate("all");
    for (const probes of PROBES.filter((count) => count < index.lists)) {
      const { rows } = await index.search(asked, K, { probes, backend });
      figures[`recall@${probes} of ${index.lists} lists`] = recallOf(rows, exact);
      figures[`rate@${probes} of ${index.lists} lists`] = await rate(probes);
    }
    if (x.form === "dense" && x.values instanceof Uint8Array) figures.everyProduct = await bruteRate(x, asked, backend);
    return figures;
  },
});

/** Queries a second where WebAssembly makes every product of bytes and keeps the largest: what bounds and lists are compared with. */
async function bruteRate(x: Dense, asked: Matrix, backend: Backend): Promise<number> {
  const weights = Uint16Array.from(x.values);
  const norm = new Float64Array(x.rows).fill(1);
  const held = await backend.hold(asked, { filters: x.rows });
  const bank = held.load({ form: "dense", filters: x.rows, features: x.features, weights, norm });
  try {
    const k = Math.min(x.rows, MORE_THAN_BOUNDED);
    const before = held.work();
    const seconds = await fastest(() => held.topFilters(bank, k));
    const after = held.work();
    if (after.exact - before.exact !== after.pairs - before.pairs)
      throw new RanksimError("unsupported", "expected every product, found some left out");
    return asked.rows / seconds;
  } finally {
    bank.release();
    held.release();
  }
}

const peer = (data: DataName, { name, system }: (typeof PEERS)[number]): AccuracyRow => ({
  name: `${name}, ${data}`,
  runs: 1,
  measure: async (_, bench): Promise<Figures> => {
    const { workshop } = bench;
    const folder = join(workshop.scratch, `neighbours-${data}`);
    const { x, asked } = await partsOf(data, bench);
    mkdirSync(folder, { recursive: true });
    writePart(folder, "x", { x, y: new Uint8Array(x.rows) });
    writePart(folder, "asked", { x: asked, y: new Uint8Array(asked.rows) });
    writeFileSync(join(folder, "exact"), (await indexOf(data, bench)).exact);
    const job = { work: "neighbours", system, folder, k: K, repeats: REPEATS };
    const found =
      system === "usearch"
        ? await measureApart(workshop, "accuracy/tables/vq/usearch", { ...job, peers: bench.peers })
        : await measureInPython(workshop, "vq_peers.py", job);
    return found.figures;
  },
});

/** All peers on dense rows; on sparse ones those that take them as they are. */
const systemsOf = (data: DataName): AccuracyRow[] => [
  own(data),
  ...PEERS.filter((one) => "isSparse" in one || data === "fashion" || data === "drawn").map((one) => peer(data, one)),
];

const rowsOf = new Map(DATA.map((data) => [data, systemsOf(data)]));

/** What each system found at each of its settings. */
function pointsOf(row: Row): { readonly setting: string; readonly recall: number; readonly rate: number }[] {
  return Object.keys(row.figures)
    .filter((figure) => figure.startsWith("recall@"))
    .map((figure) => figure.slice("recall@".length))
    .map((setting) => ({
      setting,
      recall: medianOf(row, `recall@${setting}`) ?? Number.NaN,
      rate: medianOf(row, `rate@${setting}`) ?? Number.NaN,
    }));
}

const systemOf = (row: Row): string => row.name.replace(/, \w+$/, "");

function sectionOf(data: DataName, results: Results): string[] {
  const rows = (rowsOf.get(data as (typeof DATA)[number]) ?? []).flatMap((row) => results.find(row) ?? []);
  if (rows.length === 0) return [];
  const lines = rows.flatMap((row) =>
    row.failure
      ? [[systemOf(row), row.failure, "–", "–", "–", row.commit]]
      : pointsOf(row).map(({ setting, recall, rate }) => [
          setting === "all" ? systemOf(row) : `${systemOf(row)}, ${setting}`,
          number(medianOf(row, "buildCpu") ?? Number.NaN),
          megabytes(medianOf(row, "bytes") ?? Number.NaN),
          recall.toFixed(4),
          number(rate),
          row.commit,
        ]),
  );
  const every = medianOf(results.find({ name: `${OURS}, ${data}` }), "everyProduct");
  const rowsAsked = medianOf(rows[0], "rows");
  return [
    `${TITLES[data]}, ${rowsAsked?.toLocaleString("en-US")} rows:`,
    table(["system", "build, s", "MB", "recall at 10", "queries a second", "commit"], lines),
    ...(every ? [`Every product, in WebAssembly on one thread: ${number(every)} queries a second.`] : []),
  ];
}

function picture(results: Results): string {
  const names = [OURS, ...PEERS.map(({ name }) => name)];
  const panels = DATA.map((data) => {
    const lines = (rowsOf.get(data) ?? []).flatMap((row) => {
      const found = results.find(row);
      const points = found && !found.failure ? pointsOf(found) : [];
      const look = LINES[names.indexOf(row.name.replace(/, \w+$/, ""))];
      return points.length === 0
        ? []
        : [
            {
              name: "",
              ...look,
              points: points.map(({ recall, rate }) => ({ x: recall, y: rate })).sort((a, b) => a.x - b.x),
            },
          ];
    });
    return {
      title: TITLES[data],
      ...chart({
        x: { label: "recall at 10", format: ".2f" },
        y: { label: "queries a second", log: true },
        width: 400,
        lines,
      }),
    };
  });
  const legend = names.map((name, j) => ({ name: name.replace(/\*/g, ""), ...LINES[j] }));
  return sheet("neighbours.svg", "Queries a second against recall at 10", panels, legend, 2).svg;
}

export const neighbours: AccuracyTable = {
  name: "neighbours",
  title: "Neighbours",
  page: "NEIGHBOURS.md",
  columns: {},
  rows: DATA.flatMap((data) => rowsOf.get(data) ?? []),
  show: (results) => DATA.flatMap((data) => sectionOf(data, results)).join("\n\n"),
  pictures: (results) => ({ "neighbours.svg": picture(results) }),
};
