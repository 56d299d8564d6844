/**
 * Rows of the GPU back end. Questions about dense rows of bytes are answered on the device. For other values, and for filters whose
 * products are not exact there, the device proposes candidates. All other questions, and those that a device fails at, go to
 * the host's back end, which is given the rows when it first needs them. All give the same bits.
 */

import { RanksimError } from "../../errors.ts";
import { layersFeatures } from "../../kernels/patches.ts";
import type {
  DenseRows,
  FilterBank,
  Groups,
  Leaders,
  PatchLayer,
  Prototypes,
  RowSource,
  Sum,
  TopFilters,
  TopRows,
} from "../../kernels/shapes.ts";
import { leadersOf } from "../../kernels/top.ts";
import type { Assignment, Backend, HeldBank, HeldRows, HeldSums, Refining, Work } from "../contract.ts";
import { Counted } from "../host/counted.ts";
import type { Turn } from "../turn.ts";
import { GpuAssignment, GpuSums } from "./assignment.ts";
import { GpuBank, type Planes } from "./bank.ts";
import { MOST_PLACES } from "./candidates.ts";
import { GpuFailure } from "./device.ts";
import { bringFloats, canFloat, type FloatRows, freeFloats, withListed } from "./float-rows.ts";
import type { House } from "./house.ts";
import { FILTER, TIED } from "./multiply.ts";
import { canPool, poolOnDevice } from "./pool.ts";
import { canRank } from "./rank.ts";
import { OnHost } from "./refining.ts";
import { bringRows, canHold, freeRows, gatherRows, type Resident } from "./resident.ts";
import { rankGroups, searchFilters, searchRows, searchWinners } from "./search.ts";
import { type FloatQuestion, strongestOf, winnersOf } from "./search-floats.ts";
import { MOST_ROWS } from "./strong-rows.ts";

/** Sums of so many bytes stay below 2^32 - 1. */
const MOST_SUMMED = 2 ** 24;
/** Whole numbers below this are exact in float64. */
const EXACT = 2 ** 53;

/** Ways to an answer, the fastest first: exact products on the device, candidates from there, the host. */
interface Ways<T> {
  readonly bytes?: ((x: Resident, planes: Planes, bank: GpuBank) => Promise<T | undefined>) | undefined;
  readonly floats?: ((question: FloatQuestion) => Promise<T>) | undefined;
  /** The rows that are asked about, if not all. */
  readonly of?: Uint32Array | undefined;
  host(rows: HeldRows, bank: HeldBank): Promise<T>;
}

export class GpuRows extends Counted implements HeldRows {
  readonly rows: number;
  readonly features: number;
  readonly backend: Backend;
  readonly turn: Turn;
  readonly #house: House;
  readonly #source: RowSource;
  readonly #notes = new Set<string>();
  #resident: Resident | undefined;
  /** Brought when first needed, by those who then use the rows; undefined in the end where the device cannot have them. */
  #floats: Promise<FloatRows | undefined> | undefined;
  #host: Promise<HeldRows> | undefined;
  #pairs = 0;
  #exact = 0;

  constructor(source: RowSource, backend: Backend, house: House, turn: Turn) {
    super();
    this.rows = source.rows;
    this.features = source.features;
    this.backend = backend;
    this.turn = turn;
    this.#house = house;
    this.#source = source;
  }

  /** Brings the rows to the device if it can hold them, to the host otherwise. Called once, before anything else. */
  async settle(): Promise<this> {
    const { device } = this.#house;
    if (device.failure) this.#notes.add(noteOf(device.failure));
    else {
      try {
        if (canHold(this.#source)) this.#resident = await bringRows(this.#house, this.#source, this.turn);
        else if (await this.#asFloats()) return this;
      } catch (error) {
        this.noteFailure(error);
      }
    }
    if (!this.#resident) await this.onHost();
    return this;
  }

  /** The rows in the host's back end. */
  onHost(): Promise<HeldRows> {
    if (this.isReleased && !this.isInUse && !this.#host) {
      // The memory that the rows were read from may by now be another's.
      throw new RanksimError(
        "no-backend",
        "the device was lost, and the rows that filters were made from were released",
      );
    }
    this.#host ??= this.#house
      .host()
      .then((host) => host.hold(this.#source, { turn: this.turn }))
      .catch((error: unknown) => {
        this.#host = undefined;
        throw error;
      });
    return this.#host;
  }

  load(bank: FilterBank): HeldBank {
    return new GpuBank(this.#house, { host: bank });
  }

  topFilters(held: HeldBank, k: number, of?: Uint32Array): Promise<TopFilters> {
    const isShort = k <= MOST_PLACES;
    if (isShort && of?.length === 0) {
      this.#checked(held);
      return Promise.resolve({ rows: 0, k, filter: new Uint32Array(0), response: new Float64Array(0) });
    }
    return this.#ask(held, {
      bytes: isShort
        ? async (x, planes, bank) => {
            if (!of) return this.#top(x, planes, bank, k);
            const some = await gatherRows(this.#house, x, of);
            return this.#top(some, planes, bank, k).finally(() => freeRows(some));
          }
        : undefined,
      floats: isShort ? (question) => this.#strongest(question, k, k) : undefined,
      of,
      host: (rows, bank) => rows.topFilters(bank, k, of),
    });
  }

  leaders(held: HeldBank): Promise<Leaders> {
    return this.#ask(held, {
      bytes: async (x, planes, { filters }) => {
        const pairs = await this.#winners(x, planes, filters);
        const tied = new Uint8Array(x.rows);
        for (let r = 0; r < x.rows; r++) tied[r] = pairs[2 * r + 1] >= TIED ? 1 : 0;
        const { filter, response } = topOf(pairs, x.rows, 1, planes.norm);
        return { rows: x.rows, filter, response, tied };
      },
      floats: async (question) => leadersOf(await this.#strongest(question, 1, Math.min(2, held.filters))),
      host: (rows, bank) => rows.leaders(bank),
    });
  }

  topRows(held: HeldBank, filters: Uint32Array, k: number): Promise<TopRows> {
    return this.#ask(held, {
      bytes: async (x, planes, bank) => {
        const { features } = this;
        const largest = 255 * features * (features + 1) * bank.filters;
        if (k > MOST_ROWS || filters.length === 0 || !(largest < EXACT)) return undefined;
        this.#count(this.rows * filters.length);
        return searchRows(this.#house, x, planes, bank.filters, filters, k, this.turn);
      },
      host: (rows, bank) => rows.topRows(bank, filters, k),
    });
  }

  async assign(held: HeldBank, before?: Assignment): Promise<Assignment> {
    const winners = await this.#ask(held, {
      bytes: async (x, planes, { filters }) => {
        const pairs = await this.#winners(x, planes, filters);
        const winners = new Uint32Array(x.rows);
        for (let r = 0; r < x.rows; r++) winners[r] = pairs[2 * r + 1] & FILTER;
        return winners;
      },
      floats: async (question) => {
        const { winners, exact } = await winnersOf(question);
        this.#count(this.rows * held.filters, exact);
        return winners;
      },
      host: async (rows, bank) => {
        const found = await rows.assign(bank);
        return found.winners().finally(() => found.release());
      },
    });
    return new GpuAssignment(this, winners, held.filters, (before as GpuAssignment | undefined)?.filter);
  }

  assignment(winners: Uint32Array, filters: number): Assignment {
    return new GpuAssignment(this, winners, filters, winners);
  }

  sum(groups: Groups, onto?: readonly Sum[]): HeldSums {
    return new GpuSums(this, groups, onto);
  }

  pool(layers: readonly PatchLayer[]): Promise<DenseRows> {
    return this.use(async () => {
      const x = this.#resident;
      if (x && canPool(layers)) {
        try {
          const values = await poolOnDevice(this.#house, x, layers, this.turn);
          if (values) return { form: "dense", rows: this.rows, features: layersFeatures(layers), values };
        } catch (error) {
          this.noteFailure(error);
        }
      }
      return (await this.onHost()).pool(layers);
    });
  }

  refine(start: Prototypes): Promise<Refining> {
    return this.use(async () => new OnHost(await (await this.onHost()).refine(start), this.#house));
  }

  work(): Work {
    return { pairs: this.#pairs, exact: this.#exact, notes: [...this.#notes] };
  }

  /** The ranks of the sums of groups, as a bank. */
  rankSums(
    groups: Groups,
    onto: readonly Sum[] | undefined,
    distribution: Float64Array | undefined,
  ): Promise<HeldBank> {
    return this.use(async () => {
      const x = this.#resident;
      const { device } = this.#house;
      const isPlain = !onto && !distribution && !groups.weight && groups.rows.length <= MOST_SUMMED;
      const filters = groups.offsets.length - 1;
      if (x && isPlain && filters > 0 && canRank(device, this.features) && !device.failure) {
        try {
          const room = await rankGroups(this.#house, x, groups, this.turn);
          const recipe = { rows: this, groups };
          return new GpuBank(this.#house, { room, filters, features: this.features, recipe });
        } catch (error) {
          this.noteFailure(error);
        }
      }
      const sums = (await this.onHost()).sum(groups, onto);
      const made = await sums.rank(distribution).finally(() => sums.release());
      return new GpuBank(this.#house, { host: await made.read(), held: made });
    });
  }

  /** The sums of groups. */
  readSums(groups: Groups, onto: readonly Sum[] | undefined): Promise<Sum[]> {
    return this.use(async () => {
      const sums = (await this.onHost()).sum(groups, onto);
      return sums.read().finally(() => sums.release());
    });
  }

  protected free(): void {
    if (this.#resident) freeRows(this.#resident);
    this.#resident = undefined;
    this.#floats?.then((floats) => floats && freeFloats(floats)).catch(() => {}); // whoever brought them has heard of it
    this.#host?.then((rows) => rows.release()).catch(() => {}); // whoever asked for them has heard of it
  }

  async #top(x: Resident, planes: Planes, { filters }: GpuBank, k: number): Promise<TopFilters> {
    if (k === 1) return topOf(await this.#winners(x, planes, filters), x.rows, k, planes.norm);
    this.#count(x.rows * filters);
    return topOf(await searchFilters(this.#house, x, planes, filters, k, this.turn), x.rows, k, planes.norm);
  }

  /** Product and filter of each row's strongest. */
  #winners(x: Resident, planes: Planes, filters: number): Promise<Uint32Array> {
    this.#count(x.rows * filters);
    return searchWinners(this.#house, x, planes, filters, this.turn);
  }

  /** The k strongest filters by candidates for so many places. */
  async #strongest(question: FloatQuestion, places: number, k: number): Promise<TopFilters> {
    const { top, exact } = await strongestOf(question, places, k);
    this.#count(top.rows * question.bank.filters, exact);
    return top;
  }

  #count(pairs: number, exact = pairs): void {
    this.#pairs += pairs;
    this.#exact += exact;
  }

  /** Asks the device, and the host where the device has no answer or fails. */
  #ask<T>(held: HeldBank, ways: Ways<T>): Promise<T> {
    const bank = this.#checked(held);
    return this.use(() =>
      bank.use(async () => {
        const { failure } = this.#house.device;
        if (!failure) {
          try {
            const planes = ways.bytes && this.#resident && bank.onDevice();
            const found = planes
              ? await ways.bytes?.(this.#resident as Resident, planes, bank)
              : await this.#askFloats(bank, ways);
            if (found !== undefined) return found;
          } catch (error) {
            this.noteFailure(error);
          }
        } else if (this.#resident ?? this.#floats) this.noteFailure(failure);
        const rows = await this.onHost();
        const before = rows.work();
        const found = await ways.host(rows, await bank.onHost(rows));
        const after = rows.work();
        this.#count(after.pairs - before.pairs, after.exact - before.exact);
        return found;
      }),
    );
  }

  /** Asks for candidates; undefined where rows or filters cannot be had as float32. */
  async #askFloats<T>(bank: GpuBank, { floats, of }: Ways<T>): Promise<T | undefined> {
    const x = floats && (await this.#asFloats());
    const weights = x && (await bank.asFloats(x.form === "csr"));
    if (!floats || !x || !weights) return undefined;
    const house = this.#house;
    const question = { house, weights, bank: await bank.read(), source: this.#source, of, turn: this.turn };
    const onHost = async (list: Uint32Array, k: number): Promise<TopFilters> => {
      const rows = await this.onHost();
      return rows.topFilters(await bank.onHost(rows), k, list);
    };
    if (!of) return floats({ ...question, x, onHost });
    return withListed(house, x, of, (some) => floats({ ...question, x: some, onHost }));
  }

  /** The rows as float32 on the device; undefined where it cannot have them. */
  #asFloats(): Promise<FloatRows | undefined> {
    if (!canFloat(this.#source)) return Promise.resolve(undefined);
    this.#floats ??= bringFloats(this.#house, this.#source, this.turn).catch((error: unknown) => {
      this.#floats = undefined;
      throw error;
    });
    return this.#floats;
  }

  /** A bank of another back end has nothing in this one's memory. */
  #checked(bank: HeldBank): GpuBank {
    if (bank instanceof GpuBank && bank.house === this.#house) return bank;
    throw new RanksimError("no-backend", "expected filters that were loaded by the gpu back end of the rows");
  }

  /** Notes that the device failed at something; throws what is another error. */
  noteFailure(error: unknown): void {
    if (!(error instanceof GpuFailure)) throw error;
    this.#notes.add(noteOf(error));
  }
}

/** Responses and filters from pairs of product and filter. */
function topOf(pairs: Uint32Array, rows: number, k: number, norm: number): TopFilters {
  const filter = new Uint32Array(rows * k);
  const response = new Float64Array(rows * k);
  for (let e = 0; e < filter.length; e++) {
    response[e] = pairs[2 * e] / norm;
    filter[e] = pairs[2 * e + 1] & FILTER;
  }
  return { rows, k, filter, response };
}

function noteOf({ message }: GpuFailure): string {
  return `the GPU failed and the work was done on the processor: ${message.split("\n")[0].slice(0, 200)}`;
}
