/**
 * Filters of the GPU back end. They are on the device, on the host or on both; each side is made from the other when it is first
 * asked for.
 */

import {
  type Cached,
  Counted,
  commonNorm,
  type DenseBank,
  expandFilter,
  type FilterBank,
  type HeldBank,
  type HeldRows,
  inForm,
  replaceFilters,
} from "@ranksim/core/backend";
import type { GpuContext } from "./context.ts";
import { type DeviceBuffer, type Kernel, MOST_GROUPS } from "./device.ts";
import { bankBytes, moveItems, padded, strideOf } from "./layout.ts";

/** 255 times the weights of a filter stay below 2^32 - 1 up to this sum of weights. */
const MOST_WEIGHT = Math.floor((2 ** 32 - 2) / 255);
/** Doubled ranks of so many features fit one byte. */
const ONE_BYTE = 127;

/** Filters on the device. */
export interface Planes {
  readonly buffer: DeviceBuffer;
  readonly stride: number;
  /** Filters with those that are padding. */
  readonly padded: number;
  /** 1 if all high bytes are zero, else 2. */
  readonly planes: number;
  /** All filters have this norm. */
  readonly norm: number;
}

/** What a bank is made of: filters on the host, or doubled ranks on the device. */
type BankParts =
  | { readonly host: FilterBank; readonly held?: HeldBank }
  | { readonly buffer: DeviceBuffer; readonly filters: number; readonly features: number };

/** One thread a word: two weights from their two planes. */
const JOIN: Kernel = {
  name: "join planes",
  writes: [false, true],
  code: `
struct Params { features: u32, words: u32, weights: u32, plane: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> planes: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
fn weight(e: u32) -> u32 {
  if (e >= p.weights) { return 0u; }
  let i = e % p.features;
  let at = (e / p.features) * p.words + i / 4u;
  let shift = (i % 4u) * 8u;
  return (((planes[at] >> shift) & 255u) << 8u) | ((planes[p.plane + at] >> shift) & 255u);
}
@compute @workgroup_size(256) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
  let c = (g.y * ${MOST_GROUPS}u + g.x) * 256u + t;
  if (c * 2u < p.weights) { out[c] = weight(c * 2u) | (weight(c * 2u + 1u) << 16u); }
}`,
};

export class GpuBank extends Counted implements HeldBank, Cached {
  readonly filters: number;
  readonly features: number;
  readonly context: GpuContext;
  /** Whether the filters are doubled ranks that were made on the device. */
  readonly #isRanked: boolean;
  #host: FilterBank | undefined;
  #held: HeldBank | undefined;
  /** On the device; undefined if it has to be brought there, null if it cannot be. */
  #planes: Planes | null | undefined;

  constructor(context: GpuContext, parts: BankParts) {
    super();
    this.context = context;
    this.#isRanked = !("host" in parts);
    if ("host" in parts) {
      this.#host = parts.host;
      this.#held = parts.held;
      this.filters = parts.host.filters;
      this.features = parts.host.features;
      return;
    }
    const { filters, features, buffer } = parts;
    this.filters = filters;
    this.features = features;
    const norm = commonNorm(features, undefined);
    const planes = features > ONE_BYTE ? 2 : 1;
    this.#planes = { buffer, stride: strideOf(features), padded: padded(filters), planes, norm };
    context.banks.touch(this);
  }

  get cachedBytes(): number {
    return this.#planes?.buffer.bytes ?? 0;
  }

  /** Gives up what is on the device, where the host has it as well. */
  evict(): void {
    if (!this.#host) return;
    this.#planes?.buffer.free();
    this.#planes = undefined;
  }

  /** The filters on the device; undefined where products would not be exact there, or they are too large. For callers that use the bank. */
  onDevice(): Planes | undefined {
    if (this.#planes === undefined && this.#host) this.#planes = this.#bring(this.#host) ?? null;
    if (this.#planes) this.context.banks.touch(this);
    return this.#planes ?? undefined;
  }

  /** The bank in the memory of the host's back end. */
  async onHost(rows: HeldRows): Promise<HeldBank> {
    const bank = await this.read();
    this.#held ??= rows.load(bank);
    return this.#held;
  }

  async replace(at: Uint32Array, by: HeldBank): Promise<HeldBank> {
    const fresh = by as GpuBank;
    return this.use(() =>
      fresh.use(async () => {
        const [planes, given] = [this.#planes, fresh.#planes];
        if (this.#isRanked && fresh.#isRanked && planes && given) {
          const buffer = await this.context.onDevice(() => this.#replaceOnDevice(planes, at, given));
          return new GpuBank(this.context, { buffer, filters: this.filters, features: this.features });
        }
        const [old, made] = [await this.#toHost(), await fresh.#toHost()];
        return new GpuBank(this.context, { host: replaceFilters(old, at, inForm(made, old.form)).bank });
      }),
    );
  }

  read(): Promise<FilterBank> {
    return this.use(() => this.#toHost());
  }

  protected free(): void {
    this.#planes?.buffer.free();
    this.#held?.release();
    this.context.banks.forget(this);
  }

  async #toHost(): Promise<FilterBank> {
    this.#host ??= await this.context.onDevice(() => this.#readPlanes(this.#planes as Planes));
    return this.#host;
  }

  async #readPlanes({ buffer, stride, padded }: Planes): Promise<DenseBank> {
    const { device } = this.context;
    const { filters, features } = this;
    const count = filters * features;
    const weights = await device.borrowing(async (borrow) => {
      const out = borrow(2 * count + 4);
      const groups = Math.ceil(count / 512);
      const job = device.job();
      const params = [features, stride / 4, count, (padded * stride) / 4];
      await job.run(JOIN, [buffer, out], params, Math.min(groups, MOST_GROUPS), Math.ceil(groups / MOST_GROUPS));
      const read = job.read(out, 2 * count);
      job.send();
      return read;
    });
    const norm = new Float64Array(filters).fill(commonNorm(features, undefined));
    return { form: "dense", filters, features, weights: new Uint16Array(weights), norm };
  }

  async #replaceOnDevice(planes: Planes, at: Uint32Array, given: Planes): Promise<DeviceBuffer> {
    const { device } = this.context;
    const { stride } = planes;
    const bytes = bankBytes(this.filters, this.features);
    const buffer = device.allocate(bytes);
    try {
      await device.borrowing(async (borrow) => {
        const pairs = Uint32Array.from({ length: 2 * at.length }, (_, j) => (j % 2 === 0 ? j / 2 : at[(j - 1) / 2]));
        const list = borrow(pairs.byteLength);
        device.write(list, 0, pairs);
        const job = device.job();
        job.copy(planes.buffer, 0, buffer, 0, bytes);
        for (const plane of [0, 1]) {
          const source = { buffer: given.buffer, first: plane * given.padded };
          await moveItems(job, list, at.length, stride, source, { buffer, first: plane * planes.padded });
        }
        job.send();
      });
      return buffer;
    } catch (error) {
      buffer.free();
      throw error;
    }
  }

  /** Copies the filters to the device, if products are exact there: whole weights, small sums, one norm. */
  #bring(bank: FilterBank): Planes | undefined {
    const { filters, features, norm } = bank;
    if (filters === 0 || !(norm[0] > 0) || norm.some((each) => each !== norm[0])) return undefined;
    const { device } = this.context;
    const bytes = bankBytes(filters, features);
    if (bytes > device.mostBytes) return undefined;
    const stride = strideOf(features);
    const all = new Uint8Array(bytes);
    const plane = padded(filters) * stride;
    const w = new Float64Array(features);
    let high = 0;
    for (let f = 0; f < filters; f++) {
      expandFilter(bank, f, w);
      let sum = 0;
      for (let i = 0; i < features; i++) {
        const weight = w[i];
        if (!(Number.isInteger(weight) && weight >= 0 && weight <= 65_535)) return undefined;
        sum += weight;
        all[f * stride + i] = weight >>> 8;
        all[plane + f * stride + i] = weight & 255;
        high |= weight >>> 8;
      }
      if (sum > MOST_WEIGHT) return undefined;
    }
    const buffer = device.allocate(bytes);
    device.write(buffer, 0, all);
    return { buffer, stride, padded: padded(filters), planes: high === 0 ? 1 : 2, norm: norm[0] };
  }
}
