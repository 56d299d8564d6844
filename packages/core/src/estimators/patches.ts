/**
 * The patch transform (deviation 33): rank filters on the windows of images. Windows are compared with filters trained as RST trains
 * them, and the similarities are added up by the cells of a grid: whole numbers, on which a classifier is the second layer.
 */

import type { Backend } from "../backends/contract.ts";
import { byteScaleOfSource, denseOf, sampleFromSource } from "../beyond/patches/image-source.ts";
import { withShiftedImages, withShiftedSource } from "../beyond/patches/shifted-images.ts";
import {
  type ByteScale,
  byteScaleOf,
  checkWindows,
  imageShapeOf,
  mapWindows,
  sampleWindows,
  toBytes,
  type WindowMap,
  weightsByLayer,
} from "../beyond/patches/windows.ts";
import { RanksimError } from "../errors.ts";
import {
  layersFeatures,
  type Pooled,
  pooledFeatures,
  pooledType,
  pooledValues,
  windowFeatures,
  windowsOf,
} from "../kernels/patches.ts";
import type { DenseBank, FilterBank, PatchLayer, RowSource, Windows } from "../kernels/shapes.ts";
import { expandFilter } from "../kernels/top.ts";
import { Dense } from "../matrix/dense.ts";
import type { ImageShape } from "../matrix/image-shape.ts";
import type { LabelSets, Labels } from "../matrix/labels.ts";
import { type Matrix, type MatrixLike, matchingMatrix, toDense } from "../matrix/matrix.ts";
import { isSource, matchingRows, type RowsLike, trainingRows } from "../matrix/source.ts";
import type { Json, Saved } from "../model-file/saved.ts";
import { readParams, readReport } from "../model-file/stored/filters.ts";
import { patchArrays, readLayers, readScale, readShape } from "../model-file/stored/patches.ts";
import { type Report, reportAsJson } from "../model-file/stored/report.ts";
import { type RandomGenerator, Streams } from "../random.ts";
import { checkpointOf } from "./checkpoint.ts";
import type { Estimator, ModelReader, Run, TransformingModel } from "./estimator.ts";
import { checkParams, WHOLE_PARAMETERS, type WholeParams } from "./params.ts";
import { byteLimits } from "./patch-limits.ts";
import {
  checkPatchParams,
  type LayerChoice,
  layerChoices,
  type PatchParams,
  storedPatchParams,
} from "./patch-params.ts";
import { pooledRows } from "./pooled-rows.ts";
import { makeReport } from "./report.ts";
import { oneRow } from "./row.ts";
import { advance, withBackend } from "./run.ts";
import { trainWhole } from "./whole.ts";

/** Images pooled at a time: bounds memory, and lets a signal or a progress bar in between. */
const CHUNK_IMAGES = 2048;
/** Pooled rows are kept up to this many bytes; more are made twice, which takes less memory. */
const KEPT_BYTES = 2 ** 28;

/**
 * Maps images to how often, and where, each of some small pictures is found in them.
 *
 * ```ts
 * const recipe = new Pipeline([
 *   ["patches", new PatchTransform({ filters: 256 })],
 *   ["classify", new RankSimilarityClassifier({ filters: 100, refine: true })],
 * ]);
 * const model = await recipe.fit(images, labels); // rows of bytes, 28 x 28 values each
 * ```
 */
export class PatchTransform implements Estimator<MatrixLike, PatchModel> {
  readonly kind = "patches";
  readonly params: Readonly<PatchParams> & { readonly [name: string]: unknown };

  constructor(params: Partial<PatchParams> = {}) {
    this.params = checkPatchParams<PatchParams & { readonly [name: string]: unknown }>(params);
  }

  /** A copy with some parameters changed. */
  with(changes: Partial<PatchParams>): PatchTransform {
    return new PatchTransform({ ...this.params, ...changes });
  }

  /** Learns patch filters from the images; labels are not used and may be left out. */
  fit(x: RowSource, y?: Labels | LabelSets, run?: Run): Promise<PatchModel>;
  fit(x: MatrixLike, y?: Labels | LabelSets, run?: Run): Promise<PatchModel>;
  async fit(x: RowsLike, _y?: Labels | LabelSets, run: Run = {}): Promise<PatchModel> {
    const began = performance.now();
    const rows = trainingRows(x);
    const shape = imageShapeOf(rows.features, this.params);
    if (isSource(x)) {
      const scale = await byteScaleOfSource(rows);
      const sample: Sampler = (windows, most, generator) => sampleFromSource(rows, windows, most, generator, scale);
      return withBackend(run, (backend) => this.#train(rows, sample, shape, scale, backend, run, began));
    }
    const dense = toDense(rows as Matrix);
    const scale = byteScaleOf(dense);
    const images = toBytes(dense, scale);
    const sample: Sampler = (windows, most, generator) => sampleWindows(images, windows, most, generator);
    return withBackend(run, (backend) => this.#train(rows, sample, shape, scale, backend, run, began));
  }

  async #train(
    rows: RowSource,
    sampled: Sampler,
    shape: ImageShape,
    scale: ByteScale | undefined,
    backend: Backend,
    run: Run,
    began: number,
  ): Promise<PatchModel> {
    const { params } = this;
    const choices = layerChoices(params);
    const parts = choices.length + (params.bytes ? 1 : 0);
    const streams = new Streams(params.seed);
    const layers: PatchLayer[] = [];
    const trainings: Parameters<typeof makeReport>[1][number][] = [];
    const notes = new Set<string>();
    for (const [j, choice] of choices.entries()) {
      const windows = windowsOf(shape, choice);
      checkWindows(windows);
      const sample = await sampled(windows, params.sample, streams.windows(j));
      const part: Run = {
        ...run,
        ...checkpointOf(run, `layer-${j}`),
        ...(run.onProgress && {
          onProgress: (progress) => run.onProgress?.({ ...progress, share: (j + progress.share) / parts }),
        }),
      };
      const { trained, notes: arisen } = await trainWhole(sample, trainingOf(params, choice), part, backend, {
        share: 1,
      });
      for (const note of arisen) notes.add(note);
      layers.push({ bank: denseRanks(trained.bank), windows });
      trainings.push({ rows: sample.rows, trained });
    }
    const modelOf = (of: readonly PatchLayer[]): PatchModel => {
      const seconds = (performance.now() - began) / 1000;
      const report = { ...makeReport(rows.features, trainings, [...notes], seconds, backend.name), rows: rows.rows };
      return new PatchModel(shape, of, scale, storedPatchParams(params), report);
    };
    if (params.bytes) {
      const sums = modelOf(layers);
      const own: Run = { backend, ...(run.signal && { signal: run.signal }) };
      const limits = await byteLimits(
        rows,
        layers,
        (images) => sums.transform(images, own),
        (share) => advance(run, { stage: "fit", share: (choices.length + share) / parts }),
      );
      for (const [j, { bank, windows }] of layers.entries())
        layers[j] = { bank, windows: { ...windows, limit: limits[j] } };
    }
    await advance(run, { stage: "fit", share: 1 });
    return modelOf(layers);
  }

  /** Bytes of the rows that a classifier learns from for one image of so many values: those of the image and of its moved copies (`shiftedCopies`). */
  trainingBytes(features: number): number {
    const { params } = this;
    const shape = imageShapeOf(features, params);
    const sums = layerChoices(params).map((choice) => pooledFeatures(windowsOf(shape, choice), choice.filters));
    const values = sums.reduce((all, each) => all + each, 0);
    return values * pooledType(params.bytes).BYTES_PER_ELEMENT * (1 + (params.shiftedCopies ?? 0));
  }

  /** Learns patch filters and transforms the same images. */
  async fitTransform(x: MatrixLike, y?: Labels | LabelSets, run: Run = {}): Promise<Dense> {
    return (await this.fit(x, y, run)).transform(x, run);
  }
}

/** Windows of the images, drawn by a generator of their own. */
type Sampler = (windows: Windows, most: number, generator: RandomGenerator) => Dense | Promise<Dense>;

function trainingOf({ iterations, seed }: PatchParams, { filters }: LayerChoice): WholeParams {
  return checkParams<WholeParams>({ filters, iterations, seed }, WHOLE_PARAMETERS);
}

/** The bank with every weight written out, as windows need it: they are dense. */
function denseRanks(bank: FilterBank): DenseBank {
  const { filters, features, norm } = bank;
  const weights = new Uint16Array(filters * features);
  const one = new Float64Array(features);
  for (let f = 0; f < filters; f++) {
    expandFilter(bank, f, one);
    weights.set(one, f * features);
  }
  return { form: "dense", filters, features, weights, norm };
}

/** Trained patch filters that turn images into pooled similarities. */
export class PatchModel implements TransformingModel<MatrixLike> {
  readonly kind = "patches";
  /** Values of an image. */
  readonly features: number;
  readonly shape: ImageShape;
  /** The filters of each layer, which are pictures of the size of its windows, and the windows. Not to be written to. */
  readonly layers: readonly PatchLayer[];
  /** How values become bytes; absent where they are. */
  readonly scale: ByteScale | undefined;
  /** The parameters the model was trained with. */
  readonly params: { readonly [name: string]: Json };
  readonly report: Report;

  /** Use `PatchTransform.fit` or `loadModel`. */
  constructor(
    shape: ImageShape,
    layers: readonly PatchLayer[],
    scale: ByteScale | undefined,
    params: { readonly [name: string]: Json },
    report: Report,
  ) {
    this.features = shape.width * shape.height * shape.channels;
    this.shape = shape;
    this.layers = layers;
    this.scale = scale;
    this.params = params;
    this.report = report;
  }

  /** Values of a row that `transform` gives. */
  get pooledFeatures(): number {
    return layersFeatures(this.layers);
  }

  /** Bytes of such a row. */
  get pooledBytes(): number {
    return this.pooledFeatures * this.#valueBytes;
  }

  get #valueBytes(): number {
    return pooledValues(this.layers, 0).BYTES_PER_ELEMENT;
  }

  /** Multiply-adds that an image takes when none of its windows is without contrast. */
  get multiplyAdds(): number {
    return this.layers.reduce(
      (sum, { bank, windows }) => sum + windows.across * windows.down * windowFeatures(windows) * bank.filters,
      0,
    );
  }

  /**
   * Pooled similarities: for each layer, cell by cell from the top left, one sum for each filter. Whole numbers, or bytes where
   * the model was trained with `bytes`. Of a source that can keep
   * them (`openRows`) they are a source as well.
   */
  transform(x: MatrixLike, run?: Run): Promise<Dense>;
  transform(x: RowSource, run?: Run): Promise<Dense | RowSource>;
  async transform(x: RowsLike, run: Run = {}): Promise<Dense | RowSource> {
    if (isSource(x)) return this.#pooledSource(matchingRows(x, this.features), run);
    const matrix = matchingMatrix(x, this.features);
    const width = this.pooledFeatures;
    // The work as the back end plans for it: as if each value met this many filters.
    const filters = Math.ceil(this.multiplyAdds / this.features);
    return withBackend(run, async (backend) => {
      // A back end with memory of its own cuts the images itself; what it gives is then all there is.
      const most = (backend.overlap ?? 1) > 1 ? matrix.rows : CHUNK_IMAGES;
      let values = pooledValues(this.layers, most < matrix.rows ? matrix.rows * width : 0);
      for (let from = 0; from < matrix.rows; from += most) {
        await advance(run, { stage: "transform", share: from / matrix.rows });
        const chunk = toDense(matrix.slice(from, Math.min(matrix.rows, from + most)));
        const held = await backend.hold(toBytes(chunk, this.scale), { filters });
        const pooled = await held.pool(this.layers).finally(() => held.release());
        if (most >= matrix.rows) values = pooled.values as Pooled;
        else values.set(pooled.values, from * width);
      }
      await advance(run, { stage: "transform", share: 1 });
      return Dense.of(values, matrix.rows, width);
    });
  }

  #pooledSource(x: RowSource, run: Run): Promise<Dense | RowSource> {
    return withBackend(run, async (backend) => {
      const chunks = async function* (this: PatchModel): AsyncGenerator<Dense> {
        let first = 0;
        for await (const block of x.blocks(CHUNK_IMAGES * this.features * x.valueBytes)) {
          await advance(run, { stage: "transform", share: first / x.rows });
          yield this.transform(denseOf(block), { backend, ...(run.signal ? { signal: run.signal } : {}) });
          first += block.rows;
        }
        await advance(run, { stage: "transform", share: 1 });
      }.call(this);
      const features = this.pooledFeatures;
      if (x.keep) return x.keep(chunks, { rows: x.rows, features, like: pooledValues(this.layers, 0) });
      const values = pooledValues(this.layers, x.rows * features);
      let first = 0;
      for await (const chunk of chunks) {
        values.set(chunk.values, first * features);
        first += chunk.rows;
      }
      return Dense.of(values, x.rows, features);
    });
  }

  /** How often each training image comes, see `withCopies`. */
  get copies(): number {
    return 1 + ((this.params.shiftedCopies as number | null | undefined) ?? 0);
  }

  /** The images and their copies (`shiftedCopies`), for a classifier to learn from: copy c of image r is row c * images + r. */
  withCopies(x: RowsLike): Matrix | RowSource {
    const { shape, copies } = this;
    if (isSource(x)) return copies > 1 ? withShiftedSource(matchingRows(x, this.features), shape, copies - 1) : x;
    const images = matchingMatrix(x, this.features);
    return copies > 1 ? withShiftedImages(images, shape, copies - 1) : images;
  }

  /**
   * What `transform` gives, for something that takes a source: where that is much, rows that are made when they are asked for, so that
   * they are nowhere as a whole but in the memory of the back end.
   */
  async rowsFor(x: RowsLike, run: Run = {}): Promise<RowSource> {
    if (isSource(x)) return this.transform(x, run);
    const images = matchingMatrix(x, this.features);
    // A back end with memory of its own pools all images at once; processes that share the work have to pool in step.
    const isWhole = await withBackend(run, async ({ overlap = 1, processes = 1 }) => overlap > 1 || processes > 1);
    if (isWhole || images.rows * this.pooledBytes <= KEPT_BYTES) return this.transform(images, run);
    const { onProgress: _, ...quiet } = run;
    return pooledRows(images, this.pooledFeatures, this.#valueBytes, (some) => this.transform(some, quiet));
  }

  /**
   * Where in one image a linear combination of its pooled similarities comes from: for each layer a value for each window. The values of
   * a map add up to what the layer contributes.
   */
  map(x: MatrixLike, row: number, weights: Float64Array): readonly WindowMap[] {
    const one = toBytes(toDense(oneRow(matchingMatrix(x, this.features), row)), this.scale);
    if (weights.length !== this.pooledFeatures) {
      throw new RanksimError("wrong-width", `expected ${this.pooledFeatures} weights, found ${weights.length}`);
    }
    const parts = weightsByLayer(this.layers, weights);
    return this.layers.map((layer, j) => mapWindows(one.values as Uint8Array, layer, parts[j]));
  }

  save(): Saved {
    const { width, height, channels } = this.shape;
    const scale = this.scale ? { low: this.scale.low, high: this.scale.high } : null;
    const limits = this.layers.map(({ windows }) => windows.limit);
    const meta = {
      width,
      height,
      channels,
      scale,
      ...(limits[0] ? { limits } : {}),
      params: this.params,
      report: reportAsJson(this.report),
    };
    return { kind: this.kind, meta, arrays: patchArrays(this.layers) };
  }
}

/** Reads a stored patch transform. */
export const patchReader: ModelReader = {
  kind: "patches",
  read: (saved) => {
    const shape = readShape(saved);
    const layers = readLayers(saved, shape, (stored) => {
      const params = checkPatchParams(stored as Partial<PatchParams>);
      return { choices: layerChoices(params), bytes: params.bytes };
    });
    return new PatchModel(shape, layers, readScale(saved), readParams(saved), readReport(saved));
  },
};
