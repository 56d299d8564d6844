/**
 * Rows held by an engine, dense or sparse. They stay in WebAssembly memory if they fit there; otherwise they pass through
 * in blocks on every call. Work that finds no room is done again with less: without bounds, in smaller blocks.
 */

import { inMemory } from "../../../kernels/rows.ts";
import type { FilterBank, Prototypes, RowSource, Rows } from "../../../kernels/shapes.ts";
import type { Backend, Refining } from "../../contract.ts";
import { RefiningInPlace } from "../../host/refine.ts";
import { HostRows } from "../../host/rows.ts";
import { Owners } from "../../host/spares.ts";
import { fitsWhole } from "../../host/streamed.ts";
import type { Engine } from "../engine/engine.ts";
import { type Limits, lesser } from "../engine/limits.ts";
import { borrowed, type Lease, OutOfMemory, Shared } from "../engine/memory.ts";
import { type Shelf, WasmBank } from "./bank.ts";
import { type RefineForm, refineRows } from "./refine.ts";
import type { Block } from "./rows.ts";
import type { Answer } from "./search.ts";

/** Share of the memory that is left which rows may take to stay there: the rest is for filters, bounds and answers. */
const RESIDENT_SHARE = 0.625;

export abstract class WasmRows<B extends Block> extends HostRows<WasmBank> {
  protected readonly engine: Engine;
  protected limits: Limits;
  /** All rows, if they stay in memory. */
  protected resident: Shared<B> | undefined;
  protected readonly shelf: Shelf;

  constructor(source: RowSource, backend: Backend, engine: Engine, shelf: Shelf, limits: Limits) {
    super(source, backend, engine.turn, shelf);
    this.engine = engine;
    this.limits = limits;
    this.shelf = shelf;
  }

  /** Bytes that all rows take in memory. */
  protected abstract bytes(): number;
  /** Copies rows into memory of the lease. */
  protected abstract place(lease: Lease, rows: Rows, first: number): Promise<B>;
  /** Copies all rows into memory of the lease as they are read. */
  protected abstract placeRead(lease: Lease): Promise<B>;
  /** How these rows are refined with; what it needs is in memory of the lease. */
  protected abstract refineForm(lease: Lease, start: Prototypes, resident: B | undefined): Promise<RefineForm<B>>;

  /** Takes the rows into memory if they fit. Called once, before anything else. */
  async settle(): Promise<this> {
    const { memory } = this.engine;
    const left = (memory.most - memory.used) * RESIDENT_SHARE;
    const bytes = this.bytes();
    if (bytes > this.limits.residentBytes || !fitsWhole(this.source)) return this;
    if (bytes > left) {
      this.#note("rows did not fit in memory and were searched in blocks");
      return this;
    }
    const lease = memory.lease();
    try {
      const x = inMemory(this.source);
      this.resident = new Shared(x ? await this.place(lease, x, 0) : await this.placeRead(lease), lease);
    } catch (error) {
      lease.release();
      if (!(error instanceof OutOfMemory)) throw error;
      this.#note("rows did not fit in memory and were searched in blocks");
    }
    return this;
  }

  /** Whether all rows stay in memory. */
  get isResident(): boolean {
    return this.resident !== undefined;
  }

  protected async refineRows(start: Prototypes): Promise<Refining> {
    const own = (bank: FilterBank): WasmBank => this.bankOf(bank, false);
    const resident = this.resident?.keep();
    const rows = {
      resident,
      bring: async (lease: Lease, list: Uint32Array): Promise<B> =>
        this.place(lease, await this.source.gather(list), 0),
      most: Math.max(1, Math.floor((this.limits.blockBytes * this.rows) / Math.max(1, this.bytes()))),
    };
    try {
      const formIn = (lease: Lease): Promise<RefineForm<B>> => this.refineForm(lease, start, resident?.value);
      return await refineRows(this.engine, rows, start, formIn, own);
    } catch (error) {
      resident?.release();
      if (!(error instanceof OutOfMemory)) throw error;
      this.#note("prototypes did not fit in memory and were refined by plain loops");
      return new RefiningInPlace(await this.all(), start, this.turn, own);
    }
  }

  protected bankOf(bank: FilterBank, isShared: boolean): WasmBank {
    return new WasmBank(this.shelf, bank, new Owners(isShared));
  }

  /** Calls `visit` on all rows, or on one block of them after the other. */
  protected async eachBlock(visit: (block: B, known: boolean, last: boolean) => Promise<void>): Promise<void> {
    if (this.rows === 0) return;
    if (this.resident) return this.withResident((resident) => visit(resident as B, false, true));
    const share = (this.source.entries * this.source.valueBytes) / Math.max(1, this.bytes());
    let first = 0;
    for await (const rows of this.source.blocks(this.limits.blockBytes * Math.min(1, share))) {
      await borrowed(this.engine.memory, async (lease) => {
        const block = await this.place(lease, rows, first);
        await visit(block, first > 0, first + rows.rows === this.rows);
      });
      first += rows.rows;
    }
  }

  /** Calls `work` with all rows, or with none where they do not stay in memory. */
  protected async withResident<T>(work: (resident: B | undefined) => Promise<T>): Promise<T> {
    const resident = this.resident?.keep();
    try {
      return await work(resident?.value);
    } finally {
      resident?.release();
    }
  }

  /** Room for k answers to each item, given back afterwards. */
  protected answer(items: number, k: number, use: (answer: Answer) => Promise<void>): Promise<void> {
    return borrowed(this.engine.memory, (lease) =>
      use({ k, ids: lease.take(items * k * 4), values: lease.take(items * k * 8) }),
    );
  }

  /** Items whose answers are in memory at a time. */
  protected answersAtATime(k: number): number {
    return Math.max(1, Math.floor(this.limits.answerBytes / (12 * k)));
  }

  protected copyAnswer(
    { k, ids, values }: Answer,
    items: number,
    id: Uint32Array,
    value: Float64Array,
    first: number,
  ): void {
    const { memory } = this.engine;
    id.set(memory.u32(ids, items * k), first * k);
    value.set(memory.f64(values, items * k), first * k);
  }

  protected free(): void {
    this.dropResident();
  }

  /** Does work again with less memory as often as it finds no room and less would help. */
  protected override async attempt<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      const limits = this.limits;
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof OutOfMemory)) throw error;
        // Another call on these rows may have lowered the limits while this one was at work.
        if (this.limits !== limits) continue;
        const less = lesser(limits);
        if (!less) throw error;
        this.limits = less;
        this.#note("too little memory: searches went without bounds, or in smaller blocks");
        if (less.residentBytes === 0) this.dropResident();
      }
    }
  }

  /** Lets rows pass through in blocks from now on. Calls that use them where they are go on to their end. */
  protected dropResident(): void {
    this.resident?.release();
    this.resident = undefined;
  }

  #note(text: string): void {
    this.notes.add(text);
  }
}
