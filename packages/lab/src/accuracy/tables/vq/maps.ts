/** `RankMap` beside other maps, and the transform beside other reductions: trustworthiness, neighbours kept, and seconds. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Dense, type Matrix, RankSimilarityTransform, toDense } from "@ranksim/core";
import { RankMap } from "@ranksim/vq";
import { chart } from "../../../paper/drawing/chart.ts";
import { LINES, sheet } from "../../../paper/drawing/plot.ts";
import { writePart } from "../../../runner/data-files.ts";
import { measureApart, measureInPython } from "../../../runner/process.ts";
import { medianOf, type Results } from "../../../runner/results.ts";
import { timed } from "../../../runner/stopwatch.ts";
import type { AccuracyRow, AccuracyTable, Bench, Figures } from "../../table.ts";
import { type DataName, partsOf, TITLES } from "./data.ts";

/** Rows that are laid out, and by what they are alike. */
interface Shown {
  readonly title: string;
  readonly data: DataName;
  readonly rows: number;
  readonly metric: "euclidean" | "cosine";
  readonly systems: readonly System[];
}

type System = "ours" | "pca" | "umap" | "tsne" | "umap-js";

const NAMES: { readonly [name in System]: string } = {
  ours: "**RankMap**",
  pca: "PCA",
  umap: "umap-learn",
  tsne: "t-SNE of scikit-learn",
  "umap-js": "umap-js (npm)",
};

/** New rows that are taken to a map of all. */
const NEW_ROWS = 10_000;
const ALL: readonly System[] = ["ours", "pca", "umap", "tsne", "umap-js"];

const SHOWN: readonly Shown[] = [
  { title: TITLES.digits, data: "digits", rows: 1797, metric: "euclidean", systems: ALL },
  { title: "Fashion-MNIST, 5,000 rows", data: "fashion", rows: 5000, metric: "euclidean", systems: ALL },
  {
    title: "Fashion-MNIST, 60,000 rows",
    data: "fashion",
    rows: 60_000,
    metric: "euclidean",
    systems: ["ours", "pca", "umap"],
  },
  { title: TITLES.cells, data: "cells", rows: 2800, metric: "cosine", systems: ["ours", "pca", "umap", "tsne"] },
  {
    title: TITLES.newsgroups,
    data: "newsgroups",
    rows: 5000,
    metric: "cosine",
    systems: ["ours", "pca", "umap", "tsne"],
  },
];

/** The rows, spread evenly over all there are, laid down for other programs. */
async function laid(
  data: DataName,
  rows: number,
  bench: Bench,
): Promise<{ readonly x: Matrix; readonly folder: string }> {
  const { x: all } = await partsOf(data, bench);
  const count = Math.min(rows, all.rows);
  const x = all.gather(Uint32Array.from({ length: count }, (_, r) => Math.floor((r * all.rows) / count))) as Matrix;
  const folder = join(bench.workshop.scratch, `rows-${data}-${rows}`);
  mkdirSync(folder, { recursive: true });
  writePart(folder, "x", { x, y: new Uint8Array(x.rows) });
  return { x, folder };
}

/** Trustworthiness and neighbours kept of places made here. */
async function judged(folder: string, places: Dense, metric: string, { workshop }: Bench): Promise<Figures> {
  writePart(folder, "places", { x: places, y: new Uint8Array(places.rows) });
  return (await measureInPython(workshop, "vq_peers.py", { work: "reduce", system: "given", folder, metric })).figures;
}

const mapRow = ({ title, data, rows, metric }: Shown, system: System): AccuracyRow => ({
  name: `${title}: ${NAMES[system]}`,
  runs: 1,
  measure: async (seed, bench) => {
    const { x, folder } = await laid(data, rows, bench);
    const { backend, workshop } = bench;
    if (system === "ours") {
      const fit = await timed(() => new RankMap({ similarity: metric, seed }).fit(x, undefined, { backend }));
      const map = await timed(() => fit.value.transform(x, { backend }));
      const isLarge = x.rows >= NEW_ROWS;
      const fresh = isLarge && (await timed(() => fit.value.transform(x.slice(0, NEW_ROWS), { backend })));
      return {
        fitCpu: fit.cpu + map.cpu,
        ...(fresh ? { newCpu: fresh.cpu } : {}),
        ...(await judged(folder, map.value, metric, bench)),
      };
    }
    if (system === "umap-js") {
      const job = { folder, peers: bench.peers, seed };
      const { figures } = await measureApart(workshop, "accuracy/tables/vq/umap", job);
      const quality = { work: "reduce", system: "given", folder, metric };
      return { ...figures, ...(await measureInPython(workshop, "vq_peers.py", quality)).figures };
    }
    const job = { work: "reduce", system, size: 2, folder, metric, seed };
    return (await measureInPython(workshop, "vq_peers.py", job)).figures;
  },
});

export const maps: AccuracyTable = {
  name: "maps",
  title: "Maps",
  page: "NEIGHBOURS.md",
  columns: {
    trust: "trustworthiness",
    kept: "neighbours kept",
    fitCpu: "fit and map all, s",
    newCpu: "map 10,000 new rows, s",
  },
  rows: SHOWN.flatMap((shown) => shown.systems.map((system) => mapRow(shown, system))),
};

const SIZES = [10, 25, 50, 150];
const REDUCED_ROWS = 3000;
const REDUCTIONS = { ours: "**RankSimilarityTransform**", pca: "PCA", "kernel-pca": "kernel PCA" };

const reductionRow = (system: keyof typeof REDUCTIONS, size: number): AccuracyRow => ({
  name: `${REDUCTIONS[system]}, ${size}`,
  runs: 1,
  measure: async (seed, bench) => {
    const { x, folder } = await laid("fashion", REDUCED_ROWS, bench);
    const metric = "euclidean";
    if (system !== "ours") {
      const job = { work: "reduce", system, size: Math.min(size, x.features, x.rows), folder, metric, seed };
      return (await measureInPython(bench.workshop, "vq_peers.py", job)).figures;
    }
    const { backend } = bench;
    const { value, cpu } = await timed(async () => {
      const model = await new RankSimilarityTransform({ filters: size, seed }).fit(x, undefined, { backend });
      return model.transform(x, { backend });
    });
    return { fitCpu: cpu, ...(await judged(folder, toDense(value) as Dense, metric, bench)) };
  },
});

const reductionRows = (Object.keys(REDUCTIONS) as (keyof typeof REDUCTIONS)[]).map((system) => ({
  system,
  rows: SIZES.map((size) => ({ size, row: reductionRow(system, size) })),
}));

function reductionPicture(results: Results): string {
  const panels = [
    { figure: "kept", title: "Neighbours kept" },
    { figure: "trust", title: "Trustworthiness" },
    { figure: "fitCpu", title: "Seconds" },
  ].map(({ figure, title }) => ({
    title,
    ...chart({
      x: { label: "dimensions", log: true, ticks: SIZES },
      y: { label: title.toLowerCase(), log: figure === "fitCpu" },
      width: 330,
      lines: reductionRows.map(({ rows }, j) => ({
        name: "",
        ...LINES[j],
        points: rows.flatMap(({ size, row }) => {
          const y = medianOf(results.find(row), figure);
          return y === undefined ? [] : [{ x: size, y }];
        }),
      })),
    }),
  }));
  const legend = reductionRows.map(({ system }, j) => ({ name: REDUCTIONS[system].replace(/\*/g, ""), ...LINES[j] }));
  return sheet("reduction.svg", "Neighbours kept, trustworthiness and seconds against dimensions", panels, legend).svg;
}

export const reduction: AccuracyTable = {
  name: "reduction",
  title: "The transform as a reduction",
  page: "NEIGHBOURS.md",
  columns: { kept: "neighbours kept", trust: "trustworthiness", fitCpu: "fit and transform, s" },
  rows: reductionRows.flatMap(({ rows }) => rows.map(({ row }) => row)),
  pictures: (results) => ({ "reduction.svg": reductionPicture(results) }),
};
