/**
 * Filters whose weights lie in the memory of the host, as those of all CPU back ends do. A bank made from another by
 * `replace` remembers which filters changed, so that a search can begin from what was found before.
 */

import { inForm, replaceFilters } from "../../bank/bank.ts";
import type { FilterBank, Weights } from "../../kernels/shapes.ts";
import type { HeldBank } from "../contract.ts";
import { Counted } from "./counted.ts";
import { Owners, type Spares, trimmed } from "./spares.ts";

/** Banks further back than this are forgotten: a round of spreading makes at most two. */
const GENERATIONS = 3;

/** What a bank was made from: the number of that bank, and which filters are others now. */
interface Origin {
  readonly version: number;
  readonly changed: Uint8Array;
  readonly origin: Origin | undefined;
}

let versions = 0;

/** What the banks and rows of one back end share. */
export interface Home {
  readonly spares: Spares;
}

export class HostBank extends Counted implements HeldBank {
  readonly filters: number;
  readonly features: number;
  /** Different for every bank. */
  readonly version = ++versions;
  readonly host: FilterBank;
  readonly home: Home;
  readonly #origin: Origin | undefined;
  readonly #owners: Owners;
  #mean: HostBank | undefined;

  /** `owners`: counts the banks that have these weights; this one adds itself. */
  constructor(host: FilterBank, home: Home, owners: Owners, origin?: Origin) {
    super();
    this.filters = host.filters;
    this.features = host.features;
    this.host = host;
    this.home = home;
    this.#owners = owners;
    owners.add();
    this.#origin = origin;
  }

  async replace(at: Uint32Array, by: HeldBank): Promise<HeldBank> {
    const fresh = by as HostBank;
    return this.use(() =>
      fresh.use(async () => {
        const given = inForm(fresh.host, this.host.form);
        const copy = (weights: Weights): Weights => this.home.spares.copy(weights);
        const { bank, changed } = replaceFilters(this.host, at, given, copy);
        // A bank of which every filter is replaced has the weights of the other, which may go on being used.
        const owners = bank.weights === fresh.host.weights ? fresh.#owners : new Owners(false);
        const origin = { version: this.version, changed, origin: trim(this.#origin, GENERATIONS) };
        return this.derive(bank, owners, origin);
      }),
    );
  }

  async read(): Promise<FilterBank> {
    const weights = trimmed(this.host.weights);
    if (weights !== this.host.weights) return { ...this.host, weights };
    this.#owners.share();
    return this.host;
  }

  lend<T>(work: (bank: FilterBank) => Promise<T>): Promise<T> {
    return this.use(() => work(this.host));
  }

  /** The bank of one filter, the mean of these, that `make` makes: once, however many rows ask for it. */
  mean(make: () => HostBank): HostBank {
    this.#mean ??= make();
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

  /** A bank of the same back end. */
  protected derive(bank: FilterBank, owners: Owners, origin: Origin): HostBank {
    return new HostBank(bank, this.home, owners, origin);
  }

  protected free(): void {
    this.#mean?.release();
    if (this.#owners.remove() && this.host.form === "dense") this.home.spares.give(this.host.weights);
  }
}

function trim(origin: Origin | undefined, generations: number): Origin | undefined {
  if (!origin || generations <= 1) return undefined;
  return { ...origin, origin: trim(origin.origin, generations - 1) };
}
