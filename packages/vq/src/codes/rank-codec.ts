/**
 * `RankCodec`: rows of bytes, such as images, as a few bits and back. Each window is its mean, and in every stage the number of a shape and
 * how much of it there is; a stage encodes what the ones before it left. Shapes begin as sums of the rows of rank filters. Decoding is
 * arithmetic of whole numbers.
 */

import {
  Dense,
  type Estimator,
  type LabelSets,
  type Labels,
  type MatrixLike,
  type Model,
  type ModelReader,
  type ParameterInfo,
  RanksimError,
  type Run,
  type Saved,
  toDense,
} from "@ranksim/core";
import {
  advance,
  array,
  bad,
  checkParams,
  drawWithoutReplacement,
  generatorOf,
  matchingMatrix,
  paramsAsJson,
  storedParams,
  trainingMatrix,
  withBackend,
} from "@ranksim/core/internal";
import type { RankIndexModel } from "../neighbours/rank-index.ts";
import { BitReader, BitWriter } from "./bits.ts";
import { choose, gainCodes, indexOf, levelsOf, part, type Stage, shapesOf, takeAway } from "./shapes.ts";

/** Parameters of a codec. */
export interface CodecParams {
  /** Pixels in a row of an image; rows are cut into windows of `window` x `window`. 0: rows are not cut. */
  readonly width: number;
  readonly window: number;
  /** Shapes of a stage. */
  readonly filters: number;
  readonly stages: number;
  /** Bits of a mean, and of how much there is of a shape. */
  readonly meanBits: number;
  readonly gainBits: number;
  /** Seed for all random choices. */
  readonly seed: number;
}

/** The parameters of a codec as data. */
export const CODEC_PARAMETERS: readonly ParameterInfo[] = [
  { name: "width", form: "count", least: 0, default: 0, about: "pixels in a row of an image; 0: rows are not cut" },
  { name: "window", form: "count", default: 4, about: "side of the windows that images are cut into" },
  { name: "filters", form: "count", most: 65_536, default: 1024, about: "shapes of a stage" },
  { name: "stages", form: "count", most: 16, default: 1, about: "stages, each for what the ones before it left" },
  { name: "meanBits", form: "count", most: 8, default: 5, about: "bits of the mean of a window" },
  { name: "gainBits", form: "count", most: 8, default: 3, about: "bits for how much there is of a shape" },
  { name: "seed", form: "seed", default: 0, about: "seed for all random choices" },
];

/** Windows that a codec is learned from. */
const MOST_TRAINED = 2 ** 16;

/**
 * Encodes rows of bytes.
 *
 * ```ts
 * const codec = await new RankCodec({ width: 28, window: 4 }).fit(images);
 * const codes = await codec.encode(images); // Dense: rows x bytes of a row
 * const again = codec.decode(codes);
 * ```
 */
export class RankCodec implements Estimator<MatrixLike, RankCodecModel> {
  readonly kind = "rank-codec";
  readonly params: Readonly<CodecParams> & { readonly [name: string]: unknown };

  constructor(params: Partial<CodecParams> = {}) {
    this.params = checkParams<RankCodec["params"]>(params, CODEC_PARAMETERS);
  }

  /** A copy with some parameters changed. */
  with(changes: Partial<CodecParams>): RankCodec {
    return new RankCodec({ ...this.params, ...changes });
  }

  /** Learns shapes from the windows of the rows; labels are not used. */
  async fit(x: MatrixLike, _y?: Labels | LabelSets, run: Run = {}): Promise<RankCodecModel> {
    const rows = bytesOf(toDense(trainingMatrix(x)));
    const { params } = this;
    const cut = windowsOf(rows, params);
    return withBackend(run, rows, async (backend) => {
      const all = cut.values.length / cut.size;
      const drawn = drawWithoutReplacement(generatorOf(params.seed), Math.min(all, MOST_TRAINED), all).sort();
      const given = Dense.of(cut.values, all, cut.size).gather(drawn);
      const left = withoutMeans(given.values, cut.size, params.meanBits).left;
      const stages: Stage[] = [];
      for (let s = 0; s < params.stages; s++) {
        await advance(run, { stage: "fit", share: s / params.stages });
        const residuals = Dense.of(left, drawn.length, cut.size);
        const shapes = await shapesOf(residuals, params, backend);
        const chosen = await choose(residuals, await indexOf(shapes, cut.size, backend), shapes, backend);
        const stage = { shapes, levels: levelsOf(chosen.gains, 2 ** params.gainBits) };
        stages.push(stage);
        takeAway(left, cut.size, stage, chosen.shape, gainCodes(chosen.gains, stage.levels));
      }
      await advance(run, { stage: "fit", share: 1 });
      return new RankCodecModel(paramsAsJson(params), rows.features, stages);
    });
  }
}

/** Shapes that rows of bytes are made of. Made by `RankCodec.fit` or `loadModel`. */
export class RankCodecModel implements Model {
  readonly kind = "rank-codec";
  readonly features: number;
  readonly params: Saved["meta"];
  readonly #stages: readonly Stage[];
  readonly #indexes: (RankIndexModel | undefined)[] = [];
  readonly #given: CodecParams;

  /** Use `RankCodec.fit`, or `loadModel`. */
  constructor(params: Saved["meta"], features: number, stages: readonly Stage[]) {
    this.features = features;
    this.params = params;
    this.#given = params as unknown as CodecParams;
    this.#stages = stages;
  }

  /** Bits of a row; codes have as many bytes as they need. */
  get bitsPerRow(): number {
    const { meanBits, gainBits } = this.#given;
    return (this.features / this.#size) * (meanBits + this.#stages.length * (this.#shapeBits + gainBits));
  }

  get #size(): number {
    return sizeOf(this.features, this.#given);
  }

  get #shapeBits(): number {
    return 32 - Math.clz32(this.#stages[0].shapes.length / this.#size - 1);
  }

  /** The codes of rows, rows x bytes. */
  async encode(x: MatrixLike, run: Run = {}): Promise<Dense> {
    const rows = bytesOf(toDense(matchingMatrix(x, this.features)));
    const size = this.#size;
    const { values } = windowsOf(rows, this.#given);
    const { means, left } = withoutMeans(values, size, this.#given.meanBits);
    const numbers: (readonly [ArrayLike<number>, number])[] = [[means, this.#given.meanBits]];
    await withBackend(run, rows, async (backend) => {
      for (const [s, stage] of this.#stages.entries()) {
        await advance(run, { stage: "transform", share: s / this.#stages.length });
        this.#indexes[s] ??= await indexOf(stage.shapes, size, backend);
        const residuals = Dense.of(left.slice(), means.length, size);
        const chosen = await choose(residuals, this.#indexes[s], stage.shapes, backend);
        const gains = gainCodes(chosen.gains, stage.levels);
        takeAway(left, size, stage, chosen.shape, gains);
        numbers.push([chosen.shape, this.#shapeBits], [gains, this.#given.gainBits]);
      }
      await advance(run, { stage: "transform", share: 1 });
    });
    const width = Math.ceil(this.bitsPerRow / 8);
    const bytes = new Uint8Array(rows.rows * width);
    const windows = this.features / size;
    for (let r = 0; r < rows.rows; r++) {
      const writer = new BitWriter(bytes, r * width);
      for (let w = r * windows; w < (r + 1) * windows; w++)
        for (const [each, bits] of numbers) writer.write(each[w], bits);
    }
    return Dense.of(bytes, rows.rows, width);
  }

  /** The rows that codes stand for, as bytes. Refuses codes of another codec. */
  decode(codes: MatrixLike): Dense {
    const width = Math.ceil(this.bitsPerRow / 8);
    const given = bytesOf(toDense(matchingMatrix(codes, width)));
    const size = this.#size;
    const windows = this.features / size;
    const { meanBits, gainBits } = this.#given;
    const cut = new Uint8Array(given.rows * this.features);
    const values = new Int16Array(size);
    for (let r = 0; r < given.rows; r++) {
      const reader = new BitReader(given.values, r * width);
      for (let w = 0; w < windows; w++) {
        values.fill(meanAt(reader.read(meanBits), meanBits));
        for (const stage of this.#stages) {
          const shape = reader.read(this.#shapeBits);
          if (shape >= stage.shapes.length / size) {
            throw new RanksimError(
              "bad-matrix",
              `row ${r}: expected shapes below ${stage.shapes.length / size}, found ${shape}`,
            );
          }
          const level = stage.levels[reader.read(gainBits)];
          for (let i = 0; i < size; i++) values[i] += part(stage.shapes[shape * size + i], level);
        }
        for (let i = 0; i < size; i++) {
          cut[r * this.features + placeOf(w, i, this.#given)] = Math.max(0, Math.min(255, values[i]));
        }
      }
    }
    return Dense.of(cut, given.rows, this.features);
  }

  save(): Saved {
    const { kind, features, params } = this;
    const size = this.#size;
    const arrays = Object.fromEntries(
      this.#stages.flatMap(({ shapes, levels }, s) => [
        [`stage${s}_shapes`, { shape: [shapes.length / size, size], values: shapes }],
        [`stage${s}_levels`, { shape: [levels.length], values: levels }],
      ]),
    );
    return { kind, meta: { features, params }, arrays };
  }
}

/** The mean that a code of some bits stands for: the middle of its range. */
const meanAt = (code: number, bits: number): number => (code << (8 - bits)) + ((1 << (8 - bits)) >> 1);

/** Rows of whole numbers from 0 to 255. */
function bytesOf(x: Dense): Dense {
  if (x.values instanceof Uint8Array) return x;
  const wrong = x.values.findIndex((value) => !(Number.isInteger(value) && value >= 0 && value <= 255));
  if (wrong < 0) return Dense.of(Uint8Array.from(x.values), x.rows, x.features);
  const [row, column] = [Math.floor(wrong / x.features), wrong % x.features];
  throw new RanksimError(
    "bad-matrix",
    `row ${row}, column ${column}: expected whole numbers from 0 to 255 to encode, found ${x.values[wrong]}; scale and round them`,
  );
}

/** Values of a window; refused where windows do not fill an image. */
function sizeOf(features: number, { width, window }: CodecParams): number {
  if (width === 0) return features;
  const height = features / width;
  if (Number.isInteger(height) && width % window === 0 && height % window === 0) return window * window;
  throw new RanksimError(
    "bad-params",
    `window: expected a side that divides images of ${features} values, ${width} wide, found ${window}`,
  );
}

/** Where value i of window w is in a row. */
function placeOf(w: number, i: number, { width, window }: CodecParams): number {
  if (width === 0) return i;
  const across = width / window;
  const [x, y] = [(w % across) * window + (i % window), Math.floor(w / across) * window + Math.floor(i / window)];
  return y * width + x;
}

/** The windows of all rows, one after the other. */
function windowsOf(x: Dense, params: CodecParams): { readonly size: number; readonly values: Uint8Array } {
  const size = sizeOf(x.features, params);
  const values = new Uint8Array(x.values.length);
  const places = Uint32Array.from({ length: x.features }, (_, e) => placeOf(Math.floor(e / size), e % size, params));
  for (let r = 0; r < x.rows; r++) {
    for (let e = 0; e < x.features; e++) values[r * x.features + e] = x.values[r * x.features + places[e]];
  }
  return { size, values };
}

/** The codes of the means of windows, and what is left without them. */
function withoutMeans(values: ArrayLike<number>, size: number, bits: number) {
  const means = new Uint8Array(values.length / size);
  const left = new Int16Array(values.length);
  for (let w = 0; w < means.length; w++) {
    let sum = 0;
    for (let i = w * size; i < (w + 1) * size; i++) sum += values[i];
    means[w] = Math.floor(sum / size) >> (8 - bits);
    for (let i = w * size; i < (w + 1) * size; i++) left[i] = values[i] - meanAt(means[w], bits);
  }
  return { means, left };
}

/** Reads a stored codec. */
export const codecReader: ModelReader<RankCodecModel> = {
  kind: "rank-codec",
  read: (saved) => {
    const params = storedParams(saved, CODEC_PARAMETERS);
    const { features } = saved.meta;
    if (!Number.isSafeInteger(features) || (features as number) < 2)
      throw bad(saved, "features: expected a whole number from 2");
    const given = params as unknown as CodecParams;
    const size = sizeOf(features as number, given);
    const stages = Array.from({ length: given.stages }, (_, s): Stage => {
      const { shape, values: shapes } = array(saved, `stage${s}_shapes`, [Int16Array], [undefined, size]);
      if (shape[0] === 0 || shape[0] > given.filters)
        throw bad(saved, `stage${s}_shapes: expected 1 to ${given.filters}, found ${shape[0]}`);
      return { shapes, levels: array(saved, `stage${s}_levels`, [Uint32Array], [2 ** given.gainBits]).values };
    });
    if (stages.some(({ shapes }) => shapes.length !== stages[0].shapes.length))
      throw bad(saved, "expected stages of one size");
    return new RankCodecModel(params, features as number, stages);
  },
};
