/**
 * The patch transform (deviation 33): rank filters on the windows of images. Windows are compared with filters trained as RST trains
 * them, and the similarities are added up by the cells of a grid: whole numbers, on which a classifier is the second layer.
 */

import type { Backend } from "../backends/contract.ts";
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
  pooledFeatures,
  pooledType,
  pooledValues,
  windowFeatures,
  windowsOf,
} from "../kernels/patches.ts";
import type { DenseBank, FilterBank, PatchLayer, RowSource } from "../kernels/shapes.ts";
import { expandFilter } from "../kernels/top.ts";
import { Dense } from "../matrix/dense.ts";
import type { ImageShape } from "../matrix/image-shape.ts";
import type { LabelSets, Labels } from "../matrix/labels.ts";
import { isMatrix, type MatrixLike, toDense } from "../matrix/matrix.ts";
import { denseOf, joinBlocks, matchingRows, type RowsLike, trainingRows } from "../matrix/source.ts";
import type { Json, Saved } from "../model-file/saved.ts";
import { readParams } from "../model-file/stored/arrays.ts";
import { patchArrays, readLayers, readScale, readShape } from "../model-file/stored/patches.ts";
import { type Report, readReport, reportAsJson } from "../model-file/stored/report.ts";
import { Streams } from "../random.ts";
import { oneRow } from "./class-model.ts";
import type { Estimator, ModelReader, Run, TransformingModel } from "./estimator.ts";
import { checkParams, Parametrized, paramsAsJson } from "./parameter.ts";
import { WHOLE_PARAMETERS, type WholeParams } from "./params.ts";
import { byteLimits } from "./patch-limits.ts";
import { type LayerChoice, layerChoices, PATCH_PARAMETERS, type PatchParams } from "./patch-params.ts";
import { advance, partOfRun, quietRun, withBackend } from "./run.ts";
import { makeReport, trainOnAll } from "./train.ts";

/** Images pooled at a time: bounds memory, and lets a signal or a progress bar in between. */
const CHUNK_IMAGES = 2048;
/** Pooled rows are given as a matrix up to this many bytes; more are made for the back end that keeps them, without a copy on the host. */
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
export class PatchTransform extends Parametrized<PatchParams> implements Estimator<MatrixLike, PatchModel> {
  readonly kind = "patches";

  constructor(params: Partial<PatchParams> = {}) {
    super(params, PATCH_PARAMETERS);
    layerChoices(this.params);
  }

  /** Learns patch filters from the images; labels are not used and may be left out. */
  fit(x: RowSource, y?: Labels | LabelSets, run?: Run): Promise<PatchModel>;
  fit(x: MatrixLike, y?: Labels | LabelSets, run?: Run): Promise<PatchModel>;
  async fit(x: RowsLike, _y?: Labels | LabelSets, run: Run = {}): Promise<PatchModel> {
    const { params } = this;
    const began = performance.now();
    const rows = trainingRows(x);
    const shape = imageShapeOf(rows.features, params);
    const choices = layerChoices(params);
    const parts = choices.length + (params.bytes ? 1 : 0);
    const streams = new Streams(params.seed);
    return withBackend(run, rows, async (backend) => {
      const scale = await byteScaleOf(rows);
      let layers: PatchLayer[] = [];
      const trainings: Parameters<typeof makeReport>[1][number][] = [];
      const notes = new Set<string>();
      for (const [j, choice] of choices.entries()) {
        const windows = windowsOf(shape, choice);
        checkWindows(windows);
        const sample = await sampleWindows(rows, windows, params.sample, streams.windows(j), scale);
        const part = partOfRun(run, j / parts, (j + 1) / parts, `layer-${j}`);
        const { trained, notes: arisen } = await trainOnAll(sample, recipeOf(params, choice), backend, part, {
          share: 1,
        });
        for (const note of arisen) notes.add(note);
        layers.push({ bank: denseRanks(trained.bank), windows });
        trainings.push({ rows: sample.rows, trained });
      }
      const modelOf = (of: readonly PatchLayer[]): PatchModel => {
        const report = { ...makeReport(rows.features, trainings, [...notes], began, backend.name), rows: rows.rows };
        return new PatchModel(shape, of, scale, paramsAsJson(params, PATCH_PARAMETERS), report);
      };
      if (params.bytes) {
        const sums = modelOf(layers);
        const own = quietRun(run, backend);
        const limits = await byteLimits(
          rows,
          layers,
          (images) => sums.transform(images, own),
          (share) => advance(run, { stage: "fit", share: (choices.length + share) / parts }),
        );
        layers = layers.map(({ bank, windows }, j) => ({ bank, windows: { ...windows, limit: limits[j] } }));
      }
      await advance(run, { stage: "fit", share: 1 });
      return modelOf(layers);
    });
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

function recipeOf({ iterations, seed }: PatchParams, { filters }: LayerChoice): WholeParams {
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
   * them (`openData`) they are a source as well.
   */
  transform(x: MatrixLike, run?: Run): Promise<Dense>;
  transform(x: RowSource, run?: Run): Promise<Dense | RowSource>;
  async transform(x: RowsLike, run: Run = {}): Promise<Dense | RowSource> {
    const rows = matchingRows(x, this.features);
    return withBackend(run, rows, async (backend) => {
      // A back end with memory of its own cuts the images itself; what it gives is then all there is.
      const isWhole = isMatrix(rows) && (backend.overlap ?? 1) > 1;
      const most = isWhole ? Number.POSITIVE_INFINITY : CHUNK_IMAGES * this.features * rows.valueBytes;
      const blocks = this.#pool(rows, most, backend, run);
      const shape = { rows: rows.rows, features: this.pooledFeatures, like: pooledValues(this.layers, 0) };
      return rows.keep ? rows.keep(blocks, shape) : joinBlocks(blocks, shape);
    });
  }

  /** Pooled rows in order, `bytes` bytes of images at a time. */
  async *#pool(images: RowSource, bytes: number, backend: Backend, run: Run): AsyncGenerator<Dense> {
    // The work as the back end plans for it: as if each value met this many filters.
    const filters = Math.ceil(this.multiplyAdds / this.features);
    let first = 0;
    for await (const block of images.blocks(bytes)) {
      await advance(run, { stage: "transform", share: first / images.rows });
      const held = await backend.hold(toBytes(denseOf(block), this.scale), { filters });
      const { values, rows, features } = await held.pool(this.layers).finally(() => held.release());
      yield Dense.of(values, rows, features);
      first += rows;
    }
    await advance(run, { stage: "transform", share: 1 });
  }

  /** How often each training image comes, see `withCopies`. */
  get copies(): number {
    return 1 + ((this.params.shiftedCopies as number | null | undefined) ?? 0);
  }

  /** The images and their copies (`shiftedCopies`), for a classifier to learn from: copy c of image r is row c * images + r. */
  async withCopies(x: RowsLike): Promise<RowSource> {
    const { shape, copies } = this;
    const images = matchingRows(x, this.features);
    if (copies === 1) return images;
    const { withShiftedImages } = await import("../beyond/patches/shifted-images.ts");
    return withShiftedImages(images, shape, copies - 1);
  }

  /**
   * What `transform` gives, for something that takes a source: where that is much, rows that are made when they are asked for, so that
   * they are nowhere as a whole but in the memory of the back end.
   */
  async rowsFor(x: RowsLike, run: Run = {}): Promise<RowSource> {
    const images = matchingRows(x, this.features);
    if (!isMatrix(images)) return this.transform(images, run);
    // A back end with memory of its own pools all images at once; processes that share the work have to pool in step.
    const isWhole = await withBackend(
      run,
      images,
      async ({ overlap = 1, processes }) => overlap > 1 || processes !== undefined,
    );
    if (isWhole || images.rows * this.pooledBytes <= KEPT_BYTES) return this.transform(images, run);
    const { onProgress: _, ...quiet } = run;
    const { pooledRows } = await import("./pooled-rows.ts");
    return pooledRows(images, this.pooledFeatures, this.#valueBytes, (some) => this.transform(some, quiet));
  }

  /**
   * Where in one image a linear combination of its pooled similarities comes from: for each layer a value for each window. The values of
   * a map add up to what the layer contributes.
   */
  map(x: MatrixLike, row: number, weights: Float64Array): readonly WindowMap[] {
    const one = toBytes(toDense(oneRow(x, row, this.features)), this.scale);
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
      const params = checkParams<PatchParams>(stored as Partial<PatchParams>, PATCH_PARAMETERS);
      return { choices: layerChoices(params), bytes: params.bytes };
    });
    return new PatchModel(shape, layers, readScale(saved), readParams(saved), readReport(saved));
  },
};
