/**
 * Filters whose weights lie in the memory of the host, as those of all CPU back ends do, and beside them what searches have made
 * of them (a layout for the rows they meet, bounds, an index). These parts are made when they are first asked for and can be
 * made again, so they are freed when memory runs short or when too many banks are idle. A bank made from another by `replace`
 * remembers which filters changed, so that a search can begin from what was found before.
 */

import { inForm, replaceFilters } from "../../bank/bank.ts";
import type { FilterBank, Weights } from "../../kernels/shapes.ts";
import type { HeldBank } from "../contract.ts";
import { BankCache } from "./bank-cache.ts";
import { Counted, Lock, Shared } from "./counted.ts";
import { Spares, trimmed } from "./spares.ts";

/** Banks further back than this are forgotten: a round of spreading makes at most two. */
const GENERATIONS = 3;

/** Bytes that parts of idle banks of one back end may keep. A server asks the same few models again and again. */
const IDLE_BYTES = 2 ** 28;

/** What a bank was made from: the number of that bank, and which filters are others now. */
interface Origin {
  readonly version: number;
  readonly changed: Uint8Array;
  readonly origin: Origin | undefined;
}

let versions = 0;

/** What the banks and rows of one CPU back end share. */
export class CpuContext {
  readonly spares = new Spares();
  readonly banks = new BankCache(IDLE_BYTES);

  /** A bank of weights that were made for it, to be used again once it is gone. */
  own(bank: FilterBank): HostBank {
    return new HostBank(bank, this, this.spare(bank));
  }

  /** A bank of weights that belong to others. */
  load(bank: FilterBank): HostBank {
    return new HostBank(bank, this, undefined);
  }

  /** The weights of a bank, spare when the last bank that has them is gone. */
  spare({ form, weights }: FilterBank): Shared<Weights> | undefined {
    return form === "dense" ? new Shared<Weights>(weights, () => this.spares.give(weights)) : undefined;
  }
}

export class HostBank extends Counted implements HeldBank {
  readonly filters: number;
  readonly features: number;
  /** Different for every bank. */
  readonly version = ++versions;
  readonly host: FilterBank;
  readonly context: CpuContext;
  /** Row-filter pairs it was asked about so far: bounds are made once they pay. */
  pairs = 0;
  readonly #origin: Origin | undefined;
  readonly #weights: Shared<Weights> | undefined;
  readonly #lock = new Lock();
  readonly #parts = new Map<string, Shared<unknown>>();
  #mean: HostBank | undefined;

  /** `weights`: given back when the bank is freed. */
  constructor(host: FilterBank, context: CpuContext, weights: Shared<Weights> | undefined, origin?: Origin) {
    super();
    this.filters = host.filters;
    this.features = host.features;
    this.host = host;
    this.context = context;
    this.#weights = weights;
    this.#origin = origin;
  }

  async replace(at: Uint32Array, by: HeldBank): Promise<HeldBank> {
    const fresh = by as HostBank;
    const { context } = this;
    return this.use(() =>
      fresh.use(async () => {
        const given = inForm(fresh.host, this.host.form);
        const { bank, changed } = replaceFilters(this.host, at, given, (weights) => context.spares.copy(weights));
        // A bank of which every filter is replaced has the weights of the other, which may go on being used.
        const isSame = bank.weights === fresh.host.weights;
        const weights = isSame ? fresh.#weights?.keep() : context.spare(bank);
        return new HostBank(bank, context, weights, {
          version: this.version,
          changed,
          origin: trim(this.#origin, GENERATIONS),
        });
      }),
    );
  }

  async read(): Promise<FilterBank> {
    const weights = trimmed(this.host.weights);
    if (weights !== this.host.weights) return { ...this.host, weights };
    this.context.spares.handOut(weights);
    return this.host;
  }

  /** The bank of one filter, the mean of these, that `make` makes: once, however many rows ask for it. */
  mean(make: () => FilterBank): HostBank {
    this.#mean ??= this.context.own(make());
    return this.#mean;
  }

  /** 1 for each filter that may differ from the bank of the given number; undefined if nothing is known of that bank. */
  changedSince(version: number): Uint8Array | undefined {
    if (version === this.version) return new Uint8Array(this.filters);
    let changed: Uint8Array | undefined;
    for (let step = this.#origin; step; step = step.origin) {
      const now = step.changed;
      changed = changed ? changed.map((mark, f) => mark | now[f]) : now;
      if (step.version === version) return changed;
    }
    return undefined;
  }

  /** Bytes of its parts. */
  get cachedBytes(): number {
    let sum = 0;
    for (const part of this.#parts.values()) sum += part.bytes;
    return sum;
  }

  /**
   * The part of that name: the one there is, if it suits, or a new one. For callers that use the bank (`use`). Each call is
   * answered by one `release` of what it returns.
   */
  part<T>(name: string, suits: (part: T) => boolean, make: () => Promise<Shared<T>>): Promise<Shared<T>> {
    return this.#lock.run(async () => {
      const known = this.#parts.get(name) as Shared<T> | undefined;
      if (known && suits(known.value)) {
        this.context.banks.touch(this);
        return known.keep();
      }
      const made = (await make()).keep();
      // Others may have evicted the bank in the meantime, to make room for this part.
      this.#parts.get(name)?.release();
      this.#parts.set(name, made);
      this.context.banks.touch(this);
      return made;
    });
  }

  /** The part of that name, if there is one; the caller releases it. */
  known<T>(name: string): Shared<T> | undefined {
    return (this.#parts.get(name) as Shared<T> | undefined)?.keep();
  }

  /** Gives up all parts; those in use go with their last user. */
  evict(): void {
    for (const part of this.#parts.values()) part.release();
    this.#parts.clear();
  }

  protected free(): void {
    this.context.banks.forget(this);
    this.evict();
    this.#mean?.release();
    this.#weights?.release();
  }
}

function trim(origin: Origin | undefined, generations: number): Origin | undefined {
  if (!origin || generations <= 1) return undefined;
  return { ...origin, origin: trim(origin.origin, generations - 1) };
}
