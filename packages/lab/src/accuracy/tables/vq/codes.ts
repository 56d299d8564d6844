/** `RankCodec` beside k-means, product and residual quantisers and JPEG: what bits cost, and what a classifier loses. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Dense, RankSimilarityClassifier, toDense } from "@ranksim/core";
import { RankCodec, type RankCodecModel } from "@ranksim/vq";
import { pngAddress } from "ranksim/report";
import { chart } from "../../../paper/drawing/chart.ts";
import { LINES, sheet } from "../../../paper/drawing/plot.ts";
import { readPart, writePart } from "../../../runner/data-files.ts";
import { measureInPython } from "../../../runner/process.ts";
import { medianOf, type Results } from "../../../runner/results.ts";
import { timed } from "../../../runner/stopwatch.ts";
import type { AccuracyRow, AccuracyTable, Bench, Figures } from "../../table.ts";

const SIDE = 28;
const WINDOW = 4;
/** Images that codebooks are learned from, that classifiers learn from, and that are judged. */
const TRAINED = 5000;
const KNOWN = 10_000;
const ASKED = 500;
const TESTED = 2000;

interface Images {
  readonly known: Dense;
  readonly asked: Dense;
  readonly folder: string;
  /** What classifiers are trained on and tested by. */
  readonly labels: readonly number[];
  readonly test: { readonly x: Dense; readonly y: readonly number[] };
}

async function imagesOf({ shelf, workshop, quick }: Bench): Promise<Images> {
  const [train, test] = [await shelf.numbers("fashion-mnist:train"), await shelf.numbers("fashion-mnist:test")];
  const [known, asked, tested] = quick ? [200, 20, 50] : [KNOWN, ASKED, TESTED];
  const folder = join(workshop.scratch, "images");
  mkdirSync(folder, { recursive: true });
  const parts = { known: toDense(train.x.slice(0, known)), asked: toDense(test.x.slice(0, asked)) };
  for (const [part, x] of Object.entries(parts)) writePart(folder, part, { x, y: new Uint8Array(x.rows) });
  const of = { x: toDense(test.x.slice(0, tested)), y: test.y.slice(0, tested) as number[] };
  return { ...parts, folder, labels: train.y.slice(0, known) as number[], test: of };
}

/** Whole numbers of some bits of each row, the highest bit first. */
function fieldsOf(codes: Dense, widths: readonly number[], windows: number): Map<number, number>[] {
  const seen = widths.map(() => new Map<number, number>());
  for (let r = 0; r < codes.rows; r++) {
    const row = codes.row(r);
    let at = 0;
    for (let w = 0; w < windows; w++) {
      for (const [field, bits] of widths.entries()) {
        let value = 0;
        for (let b = 0; b < bits; b++, at++) value = 2 * value + ((row[at >> 3] >> (7 - (at & 7))) & 1);
        seen[field].set(value, (seen[field].get(value) ?? 0) + 1);
      }
    }
  }
  return seen;
}

/** Bits of a symbol if a coder spent on each what its frequency asks for. */
function entropyOf(counts: ReadonlyMap<number, number>): number {
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return [...counts.values()].reduce((sum, count) => sum - (count / all) * Math.log2(count / all), 0);
}

interface Setting {
  readonly filters: number;
  readonly meanBits: number;
  readonly gainBits: number;
  readonly stages?: number;
}

const learned = new Map<string, Promise<RankCodecModel>>();

async function codecOf(setting: Setting, seed: number, bench: Bench): Promise<RankCodecModel> {
  const key = JSON.stringify([setting, seed, bench.quick]);
  const { known } = await imagesOf(bench);
  const codec = new RankCodec({ width: SIDE, window: WINDOW, seed, ...setting });
  const found = learned.get(key) ?? codec.fit(known.slice(0, Math.min(TRAINED, known.rows)), undefined, bench);
  learned.set(key, found);
  return found;
}

/** What decoded images are worth: error, likeness, and the accuracy of a classifier that learned from them, on images as they are. */
async function worth(images: Images, known: Dense, { backend, workshop }: Bench): Promise<Figures> {
  const { folder, labels, test } = images;
  const job = { work: "judge", folder, side: SIDE };
  const { mse, ssim } = (await measureInPython(workshop, "vq_peers.py", job)).figures;
  const model = await new RankSimilarityClassifier({ filters: 500, seed: 0 }).fit(known, labels, { backend });
  const accuracy = await model.score(test.x, test.y, { backend });
  return { mse, psnr: 10 * Math.log10(255 ** 2 / mse), ssim, accuracy };
}

const own = (setting: Setting): AccuracyRow => ({
  name: `**RankCodec**, ${setting.filters.toLocaleString("en-US")} shapes, mean ${setting.meanBits}, gain ${setting.gainBits}${setting.stages ? `, ${setting.stages} stages` : ""}`,
  runs: 1,
  measure: async (seed, bench) => {
    const images = await imagesOf(bench);
    const { known, asked, folder } = images;
    const fit = await timed(() => codecOf(setting, seed, bench));
    const codec = fit.value;
    const codes = await codec.encode(asked, bench);
    const widths = [setting.meanBits];
    for (let s = 0; s < (setting.stages ?? 1); s++) widths.push(Math.log2(setting.filters), setting.gainBits);
    const fields = fieldsOf(codes, widths, (SIDE / WINDOW) ** 2);
    const bits = fields.reduce((sum, field) => sum + entropyOf(field), 0);
    writePart(folder, "decoded-asked", { x: codec.decode(codes), y: new Uint8Array(asked.rows) });
    const again = codec.decode(await codec.encode(known, bench));
    const rates = { bits: codec.bitsPerRow / SIDE ** 2, entropy: bits / WINDOW ** 2 };
    return { fitCpu: fit.cpu, ...rates, ...(await worth(images, again, bench)) };
  },
});

const peer = (name: string, system: string): AccuracyRow => ({
  name,
  runs: 1,
  measure: async (_, bench) => {
    const images = await imagesOf(bench);
    const trained = Math.min(TRAINED, images.known.rows);
    const job = { work: "codes", system, folder: images.folder, side: SIDE, trained };
    const { figures } = await measureInPython(bench.workshop, "vq_peers.py", job);
    const decoded = toDense(readPart(images.folder, "decoded-known").x);
    return { ...figures, ...(await worth(images, decoded, bench)) };
  },
});

/** The images as they are: what a classifier learns from them. */
const original: AccuracyRow = {
  name: "images as they are",
  runs: 1,
  measure: async (_, bench) => {
    const images = await imagesOf(bench);
    const { labels, known, test } = images;
    const { backend } = bench;
    const model = await new RankSimilarityClassifier({ filters: 500, seed: 0 }).fit(known, labels, { backend });
    return { bits: 8, accuracy: await model.score(test.x, test.y, { backend }) };
  },
};

/** Three rates that are shown as pictures. */
const DRAWN: readonly Setting[] = [
  { filters: 64, meanBits: 4, gainBits: 2 },
  { filters: 1024, meanBits: 5, gainBits: 3 },
  { filters: 256, meanBits: 6, gainBits: 4, stages: 2 },
];

const OWN = [own(DRAWN[0]), own({ filters: 256, meanBits: 5, gainBits: 3 }), own(DRAWN[1]), own(DRAWN[2])];

const KINDS: readonly { readonly title: string; readonly rows: readonly AccuracyRow[] }[] = [
  { title: "RankCodec", rows: OWN },
  {
    title: "k-means",
    rows: [256, 1024, 4096].map((words) => peer(`k-means, ${words.toLocaleString("en-US")} words`, `kmeans-${words}`)),
  },
  { title: "PQ", rows: [peer("PQ 2 × 8", "pq-2-8"), peer("PQ 2 × 9", "pq-2-9"), peer("PQ 4 × 8", "pq-4-8")] },
  { title: "residual k-means", rows: [peer("residual k-means 2 × 8", "residual-2-8")] },
  {
    title: "JPEG",
    rows: [10, 25, 50, 75].map((quality) => peer(`JPEG, quality ${quality}`, `jpeg-${quality}`)),
  },
];

function lines(results: Results, figure: string, rate: string) {
  return KINDS.map(({ rows }, j) => ({
    name: "",
    ...LINES[j],
    points: rows
      .flatMap((row) => {
        const found = results.find(row);
        const [x, y] = [medianOf(found, rate), medianOf(found, figure)];
        return x === undefined || y === undefined ? [] : [{ x, y }];
      })
      .sort((a, b) => a.x - b.x),
  }));
}

function picture(results: Results): string {
  const panels = [
    { figure: "psnr", rate: "bits", title: "PSNR, bits as stored", y: "PSNR, dB" },
    { figure: "psnr", rate: "entropy", title: "PSNR, bits by entropy", y: "PSNR, dB" },
    { figure: "ssim", rate: "bits", title: "SSIM, bits as stored", y: "SSIM" },
    { figure: "accuracy", rate: "bits", title: "Accuracy of a classifier", y: "accuracy" },
  ].map(({ figure, rate, title, y }) => ({
    title,
    ...chart({ x: { label: "bits a pixel" }, y: { label: y }, width: 400, lines: lines(results, figure, rate) }),
  }));
  const legend = KINDS.map(({ title: name }, j) => ({ name, ...LINES[j] }));
  return sheet("codes.svg", "Quality against bits a pixel", panels, legend, 2).svg;
}

const SHOWN = 10;
const CELL = 56;
const SHAPES = 64;

/** The first images as they are and decoded at three rates, and the shapes of the first of these, as text. */
const decodedImages: AccuracyRow = {
  name: "decoded images",
  runs: 1,
  measure: async () => ({ shown: SHOWN }),
  pictures: async (bench) => {
    const { asked } = await imagesOf(bench);
    const shown = asked.slice(0, SHOWN) as Dense;
    const lines = [{ title: "original", images: inText(shown.values) }];
    for (const setting of DRAWN) {
      const codec = await codecOf(setting, 0, bench);
      const { values } = codec.decode(await codec.encode(shown, bench));
      lines.push({ title: `${(codec.bitsPerRow / SIDE ** 2).toFixed(3)} bits a pixel`, images: inText(values) });
    }
    const { values } = (await codecOf(DRAWN[0], 0, bench)).save().arrays.stage0_shapes;
    const shapes = Uint8Array.from(values as Int16Array, (value) => Math.max(0, Math.min(255, 128 + value / 128)));
    return [...lines, { title: "shapes", images: inText(shapes) }];
  },
};

const inText = (values: ArrayLike<number>): string => Buffer.from(Uint8Array.from(values)).toString("base64");

interface Line {
  readonly title: string;
  readonly images: string;
}

function imageAt(values: Uint8Array, side: number, x: number, y: number, cell: number): string {
  // Ink is dark on paper, as in reports.
  const address = pngAddress({ width: side, height: side, pixels: values });
  return `<image x="${x}" y="${y}" width="${cell}" height="${cell}" href="${address}" style="image-rendering:pixelated"/>`;
}

function gallery(results: Results): string {
  const all = (results.find(decodedImages)?.pictures ?? []) as readonly Line[];
  if (all.length === 0) return sheet("decoded-images.svg", "Decoded images", []).svg;
  const width = SHOWN * CELL;
  const panels = all.map(({ title, images }) => {
    const values = Uint8Array.from(Buffer.from(images, "base64"));
    const isShapes = title === "shapes";
    const [side, cell, across] = isShapes ? [WINDOW, 16, SHAPES / 2] : [SIDE, CELL, SHOWN];
    const count = values.length / (side * side);
    const drawn = Array.from({ length: count }, (_, j) =>
      imageAt(
        values.subarray(j * side * side, (j + 1) * side * side),
        side,
        (j % across) * (cell + 1),
        Math.floor(j / across) * (cell + 1),
        cell,
      ),
    );
    return {
      title: isShapes ? `the ${count} shapes of the lowest rate` : title,
      svg: drawn.join(""),
      width: width + SHOWN,
      height: Math.ceil(count / across) * (cell + 1),
    };
  });
  return sheet("decoded-images.svg", "Images as they are, decoded at three rates, and the shapes", panels, [], 1).svg;
}

export const codes: AccuracyTable = {
  name: "codes",
  title: "Codes",
  page: "NEIGHBOURS.md",
  columns: {
    bits: "bits a pixel",
    entropy: "by entropy",
    mse: "mean squared error",
    psnr: "PSNR, dB",
    ssim: "SSIM",
    accuracy: "accuracy of a classifier",
    fitCpu: "learn, s",
  },
  rows: [original, ...KINDS.flatMap(({ rows }) => rows), decodedImages],
  pictures: (results) => ({ "codes.svg": picture(results), "decoded-images.svg": gallery(results) }),
};
