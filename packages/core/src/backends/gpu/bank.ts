/**
 * Filters of the GPU back end. They are on the device, on the host or on both; each side is made from the other when it is first
 * asked for. Filters that were made on the device remember the rows they were made from, so that a lost device loses nothing.
 */

import { inForm, replaceFilters } from "../../bank/bank.ts";
import { replaceGroups } from "../../bank/groups.ts";
import { commonNorm } from "../../kernels/rank.ts";
import type { DenseBank, FilterBank, Groups } from "../../kernels/shapes.ts";
import { expandFilter } from "../../kernels/top.ts";
import type { HeldBank, HeldRows } from "../contract.ts";
import { Counted } from "../host/counted.ts";
import { type Kernel, MOST_GROUPS, type Room } from "./device.ts";
import { bringFloats, type FloatFilters } from "./float-bank.ts";
import type { Evictable, House } from "./house.ts";
import { bankBytes, moveItems, padded, strideOf } from "./layout.ts";

/** 255 times the weights of a filter stay below 2^32 - 1 up to this sum of weights. */
const MOST_WEIGHT = Math.floor((2 ** 32 - 2) / 255);
/** Doubled ranks of so many features fit one byte. */
const ONE_BYTE = 127;

/** Filters on the device. */
export interface Planes {
  readonly room: Room;
  readonly stride: number;
  /** Filters with those that are padding. */
  readonly padded: number;
  /** 1 if all high bytes are zero, else 2. */
  readonly planes: number;
  /** All filters have this norm. */
  readonly norm: number;
}

/** The rows that each filter was made of, and where they are. */
export interface Recipe {
  readonly rows: {
    onHost(): Promise<HeldRows>;
    /** Notes that the device failed; throws what is another error. */
    noteFailure(error: unknown): void;
  };
  readonly groups: Groups;
}

/** What a bank is made of: filters on the host, or on the device with the way they were made. */
type BankParts =
  | { readonly host: FilterBank; readonly held?: HeldBank }
  | { readonly room: Room; readonly filters: number; readonly features: number; readonly recipe: Recipe };

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

export class GpuBank extends Counted implements HeldBank, Evictable {
  readonly filters: number;
  readonly features: number;
  readonly house: House;
  readonly #recipe: Recipe | undefined;
  #host: FilterBank | undefined;
  #held: HeldBank | undefined;
  /** On the device; undefined if it has to be brought there, null if it cannot be. */
  #planes: Planes | null | undefined;
  /** The same as float32, in rows and in columns. */
  readonly #floats = new Map<boolean, Promise<FloatFilters | undefined>>();
  readonly #floatBytes = new Map<boolean, number>();

  constructor(house: House, parts: BankParts) {
    super();
    this.house = house;
    if ("host" in parts) {
      this.#host = parts.host;
      this.#held = parts.held;
      this.filters = parts.host.filters;
      this.features = parts.host.features;
      return;
    }
    const { filters, features, recipe, room } = parts;
    this.filters = filters;
    this.features = features;
    this.#recipe = recipe;
    const norm = commonNorm(features, undefined);
    const planes = features > ONE_BYTE ? 2 : 1;
    this.#planes = { room, stride: strideOf(features), padded: padded(filters), planes, norm };
    house.touch(this);
  }

  get deviceBytes(): number {
    let bytes = this.#planes?.room.bytes ?? 0;
    for (const each of this.#floatBytes.values()) bytes += each;
    return bytes;
  }

  /** Gives up what is on the device, where the host has it as well. */
  evict(): void {
    if (!this.#host) return;
    this.#freeRooms();
    this.#planes = undefined;
  }

  /** The filters on the device; undefined where products would not be exact there, or there is no room. For callers that use the bank. */
  onDevice(): Planes | undefined {
    if (this.#planes === undefined && this.#host) this.#planes = this.#bring(this.#host) ?? null;
    if (this.#planes) this.house.touch(this);
    return this.#planes ?? undefined;
  }

  /** The filters as float32 on the device, in rows or in columns; undefined where it cannot have them. For callers that use the bank. */
  async asFloats(columns: boolean): Promise<FloatFilters | undefined> {
    let floats = this.#floats.get(columns);
    if (!floats) {
      floats = this.#toHost()
        .then((bank) => bringFloats(this.house.device, bank, columns))
        .catch((error: unknown) => {
          this.#floats.delete(columns);
          throw error;
        });
      this.#floats.set(columns, floats);
    }
    const brought = await floats;
    this.#floatBytes.set(columns, brought?.room.bytes ?? 0);
    if (brought) this.house.touch(this);
    return brought;
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
        const recipe = joinRecipes(this.#recipe, at, fresh.#recipe);
        const [planes, given] = [this.#planes, fresh.#planes];
        if (recipe && planes && given) {
          try {
            const room = await this.#replaceOnDevice(planes, at, given);
            return new GpuBank(this.house, { room, filters: this.filters, features: this.features, recipe });
          } catch (error) {
            recipe.rows.noteFailure(error);
          }
        }
        const [old, made] = [await this.#toHost(), await fresh.#toHost()];
        return new GpuBank(this.house, { host: replaceFilters(old, at, inForm(made, old.form)).bank });
      }),
    );
  }

  read(): Promise<FilterBank> {
    return this.use(() => this.#toHost());
  }

  protected free(): void {
    this.#freeRooms();
    this.#held?.release();
    this.house.forget(this);
  }

  #freeRooms(): void {
    this.#planes?.room.free();
    for (const floats of this.#floats.values()) floats.then((brought) => brought?.room.free()).catch(() => {}); // whoever asked has heard of it
    this.#floats.clear();
    this.#floatBytes.clear();
  }

  async #toHost(): Promise<FilterBank> {
    this.#host ??= await this.#fetch();
    return this.#host;
  }

  async #fetch(): Promise<FilterBank> {
    const { rows, groups } = this.#recipe as Recipe;
    try {
      return await this.#readPlanes(this.#planes as Planes);
    } catch (error) {
      rows.noteFailure(error);
    }
    const made = await (await rows.onHost()).sum(groups).rank();
    this.#held = made;
    return made.read();
  }

  async #readPlanes({ room, stride, padded }: Planes): Promise<DenseBank> {
    const { device } = this.house;
    const { filters, features } = this;
    const count = filters * features;
    const weights = await device.borrowing(async (borrow) => {
      const out = borrow(2 * count + 4);
      const groups = Math.ceil(count / 512);
      const job = device.job();
      const params = [features, stride / 4, count, (padded * stride) / 4];
      await job.run(JOIN, [room, out], params, Math.min(groups, MOST_GROUPS), Math.ceil(groups / MOST_GROUPS));
      const read = job.read(out, 2 * count);
      job.send();
      return read;
    });
    const norm = new Float64Array(filters).fill(commonNorm(features, undefined));
    return { form: "dense", filters, features, weights: new Uint16Array(weights), norm };
  }

  async #replaceOnDevice(planes: Planes, at: Uint32Array, given: Planes): Promise<Room> {
    const { device } = this.house;
    const { stride } = planes;
    const bytes = bankBytes(this.filters, this.features);
    const room = device.room(bytes);
    try {
      await device.borrowing(async (borrow) => {
        const pairs = Uint32Array.from({ length: 2 * at.length }, (_, j) => (j % 2 === 0 ? j / 2 : at[(j - 1) / 2]));
        const list = borrow(pairs.byteLength);
        device.write(list, 0, pairs);
        const job = device.job();
        job.copy(planes.room, 0, room, 0, bytes);
        for (const plane of [0, 1]) {
          const source = { room: given.room, first: plane * given.padded };
          await moveItems(job, list, at.length, stride, source, { room, first: plane * planes.padded });
        }
        job.send();
      });
      return room;
    } catch (error) {
      room.free();
      throw error;
    }
  }

  /** Copies the filters to the device, if products are exact there: whole weights, small sums, one norm. */
  #bring(bank: FilterBank): Planes | undefined {
    const { filters, features, norm } = bank;
    if (filters === 0 || !(norm[0] > 0) || norm.some((each) => each !== norm[0])) return undefined;
    const { device } = this.house;
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
    const room = device.room(bytes);
    device.write(room, 0, all);
    return { room, stride, padded: padded(filters), planes: high === 0 ? 1 : 2, norm: norm[0] };
  }
}

/** How filters are made of which those at `at` are made another way. */
function joinRecipes(old: Recipe | undefined, at: Uint32Array, fresh: Recipe | undefined): Recipe | undefined {
  if (!old || !fresh || old.rows !== fresh.rows) return undefined;
  return { rows: old.rows, groups: replaceGroups(old.groups, at, fresh.groups) };
}
