/**
 * Rows of bytes of the GPU back end. Questions that have an exact answer on the device are answered there. All others go to the
 * host's back end, which is given the rows when it first needs them. Both give the same bits.
 */

import { RanksimError } from "@ranksim/core";
import {
  type Assignment,
  assignmentOf,
  type Backend,
  Counted,
  type DenseRows,
  type FilterBank,
  type Groups,
  type HeldBank,
  type HeldRows,
  type Leaders,
  layersFeatures,
  type PatchLayer,
  type Prototypes,
  type Refining,
  type RowSource,
  type Sum,
  type TopFilters,
  type TopRows,
  type Turn,
  type Work,
} from "@ranksim/core/backend";
import { GpuBank, type Planes } from "./bank.ts";
import type { GpuContext } from "./context.ts";
import { FILTER, TIED } from "./multiply.ts";
import { poolOnDevice } from "./pool.ts";
import { canRank } from "./rank.ts";
import { RefiningOnHost } from "./refine.ts";
import { freeRows, gatherRows, type Resident } from "./resident.ts";
import { rankGroups, searchFilters, searchRows, searchWinners } from "./search.ts";
import { MOST_STRONGEST } from "./select.ts";
import { MOST_ROWS } from "./strong-rows.ts";

/** Sums of so many bytes stay below 2^32 - 1. */
const MOST_SUMMED = 2 ** 24;
/** Whole numbers below this are exact in float64. */
const EXACT = 2 ** 53;

/** Ways to an answer: on the device, where it has an exact one, and on the host. */
interface Ways<T> {
  device(planes: Planes): Promise<T | undefined>;
  host(rows: HeldRows, bank: HeldBank): Promise<T>;
}

export class GpuRows extends Counted implements HeldRows {
  readonly rows: number;
  readonly features: number;
  readonly backend: Backend;
  readonly turn: Turn;
  readonly #context: GpuContext;
  readonly #source: RowSource;
  readonly #resident: Resident;
  #host: Promise<HeldRows> | undefined;
  #pairs = 0;
  #exact = 0;

  /** `resident`: the rows on the device, which these own from now on. */
  constructor(source: RowSource, resident: Resident, backend: Backend, context: GpuContext, turn: Turn) {
    super();
    this.rows = source.rows;
    this.features = source.features;
    this.backend = backend;
    this.turn = turn;
    this.#context = context;
    this.#source = source;
    this.#resident = resident;
  }

  load(bank: FilterBank): HeldBank {
    return new GpuBank(this.#context, { host: bank });
  }

  topFilters(held: HeldBank, k: number, of?: Uint32Array): Promise<TopFilters> {
    return this.#ask(held, {
      device: async (planes) => {
        if (k > MOST_STRONGEST) return undefined;
        if (!of) return this.#top(this.#resident, planes, held.filters, k);
        const some = await gatherRows(this.#context, this.#resident, of);
        return this.#top(some, planes, held.filters, k).finally(() => freeRows(some));
      },
      host: (rows, bank) => rows.topFilters(bank, k, of),
    });
  }

  leaders(held: HeldBank): Promise<Leaders> {
    return this.#ask(held, {
      device: async (planes) => {
        const { rows } = this;
        const pairs = await this.#winners(this.#resident, planes, held.filters);
        const tied = new Uint8Array(rows);
        for (let r = 0; r < rows; r++) tied[r] = pairs[2 * r + 1] >= TIED ? 1 : 0;
        const { filter, response } = topOf(pairs, rows, 1, planes.norm);
        return { rows, filter, response, tied };
      },
      host: (rows, bank) => rows.leaders(bank),
    });
  }

  topRows(held: HeldBank, filters: Uint32Array, k: number): Promise<TopRows> {
    return this.#ask(held, {
      device: async (planes) => {
        const largest = 255 * this.features * (this.features + 1) * held.filters;
        if (k > MOST_ROWS || filters.length === 0 || !(largest < EXACT)) return undefined;
        this.#count(this.rows * filters.length);
        return searchRows(this.#context, this.#resident, planes, held.filters, filters, k, this.turn);
      },
      host: (rows, bank) => rows.topRows(bank, filters, k),
    });
  }

  async assign(held: HeldBank, before?: Assignment): Promise<Assignment> {
    const winners = await this.#ask(held, {
      device: async (planes) => {
        const pairs = await this.#winners(this.#resident, planes, held.filters);
        const winners = new Uint32Array(this.rows);
        for (let r = 0; r < winners.length; r++) winners[r] = pairs[2 * r + 1] & FILTER;
        return winners;
      },
      host: async (rows, bank) => (await rows.assign(bank)).winners,
    });
    return assignmentOf(winners, held.filters, before?.winners);
  }

  sum(groups: Groups, onto?: readonly Sum[]): Promise<Sum[]> {
    return this.use(async () => (await this.#onHost()).sum(groups, onto));
  }

  rank(groups: Groups, distribution?: Float64Array, onto?: readonly Sum[]): Promise<HeldBank> {
    return this.use(async () => {
      const context = this.#context;
      const { features } = this;
      const filters = groups.offsets.length - 1;
      const isPlain = !onto && !distribution && !groups.weight && groups.rows.length <= MOST_SUMMED;
      if (isPlain && filters > 0 && canRank(context.device, features)) {
        const buffer = await context.onDevice(() => rankGroups(context, this.#resident, groups, this.turn));
        return new GpuBank(context, { buffer, filters, features });
      }
      const held = await (await this.#onHost()).rank(groups, distribution, onto);
      return new GpuBank(context, { host: await held.read(), held });
    });
  }

  pool(layers: readonly PatchLayer[]): Promise<DenseRows> {
    return this.use(async () => {
      const context = this.#context;
      const values = await context.onDevice(() => poolOnDevice(context, this.#resident, layers, this.turn));
      if (!values) return (await this.#onHost()).pool(layers);
      return { form: "dense", rows: this.rows, features: layersFeatures(layers), values };
    });
  }

  refine(start: Prototypes): Promise<Refining> {
    return this.use(async () => new RefiningOnHost(await (await this.#onHost()).refine(start), this.#context));
  }

  work(): Work {
    return { pairs: this.#pairs, exact: this.#exact, notes: [] };
  }

  protected free(): void {
    freeRows(this.#resident);
    this.#host?.then((rows) => rows.release()).catch(() => {}); // the caller already got this rejection
  }

  async #top(x: Resident, planes: Planes, filters: number, k: number): Promise<TopFilters> {
    if (k === 1) return topOf(await this.#winners(x, planes, filters), x.rows, k, planes.norm);
    this.#count(x.rows * filters);
    return topOf(await searchFilters(this.#context, x, planes, filters, k, this.turn), x.rows, k, planes.norm);
  }

  /** Product and filter of each row's strongest. */
  #winners(x: Resident, planes: Planes, filters: number): Promise<Uint32Array> {
    this.#count(x.rows * filters);
    return searchWinners(this.#context, x, planes, filters, this.turn);
  }

  #count(pairs: number, exact = pairs): void {
    this.#pairs += pairs;
    this.#exact += exact;
  }

  /** Asks the device, and the host where the device has no exact answer. */
  #ask<T>(held: HeldBank, ways: Ways<T>): Promise<T> {
    const bank = this.#checked(held);
    return this.use(() =>
      bank.use(async () => {
        const found = await this.#context.onDevice(async () => {
          const planes = bank.onDevice();
          return planes && ways.device(planes);
        });
        if (found !== undefined) return found;
        const rows = await this.#onHost();
        const before = rows.work();
        const answer = await ways.host(rows, await bank.onHost(rows));
        const after = rows.work();
        this.#count(after.pairs - before.pairs, after.exact - before.exact);
        return answer;
      }),
    );
  }

  /** The rows in the host's back end. */
  #onHost(): Promise<HeldRows> {
    this.#host ??= this.#context
      .host()
      .then((host) => host.hold(this.#source, { turn: this.turn }))
      .catch((error: unknown) => {
        this.#host = undefined;
        throw error;
      });
    return this.#host;
  }

  /** A bank of another back end has nothing in this one's memory. */
  #checked(bank: HeldBank): GpuBank {
    if (bank instanceof GpuBank && bank.context === this.#context) return bank;
    throw new RanksimError("no-backend", "expected filters that were loaded by the gpu back end of the rows");
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
