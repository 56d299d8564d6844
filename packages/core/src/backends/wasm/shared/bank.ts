/**
 * A bank of the WebAssembly back ends: weights on the host, and beside them what searches need in WebAssembly memory (a
 * layout for the rows it meets, bounds, an index). These parts are made when they are first asked for and can be made
 * again, so they are freed when memory runs short or when too many banks are idle.
 */

import type { FilterBank } from "../../../kernels/shapes.ts";
import { type Home, HostBank } from "../../host/bank.ts";
import { Lock } from "../../host/counted.ts";
import { type Owners, Spares } from "../../host/spares.ts";
import type { Shared } from "../engine/memory.ts";

/** Bytes that idle banks of one back end may keep. A server asks the same few models again and again. */
const IDLE_BYTES = 2 ** 28;

/** The banks of a back end that have something in memory, the one longest unused first. */
export class Shelf implements Home {
  readonly spares = new Spares();
  readonly #banks = new Set<WasmBank>();
  #bytes = 0;

  /** Notes that a bank is being used, and by how much its parts have grown. */
  touch(bank: WasmBank, grown: number): void {
    this.#bytes += grown;
    this.#banks.delete(bank);
    this.#banks.add(bank);
    if (this.#bytes <= IDLE_BYTES) return;
    for (const kept of this.#banks) if (kept !== bank && !kept.isInUse && this.#bytes > IDLE_BYTES) kept.clear();
  }

  /** Notes that a bank has nothing in memory any more. */
  forget(bank: WasmBank, bytes: number): void {
    this.#bytes -= bytes;
    this.#banks.delete(bank);
  }

  /** Frees the parts of all idle banks; returns whether there were any. */
  clear(): boolean {
    let found = false;
    for (const bank of this.#banks) {
      if (bank.isInUse) continue;
      found ||= bank.bytes > 0;
      bank.clear();
    }
    return found;
  }
}

export class WasmBank extends HostBank {
  /** Row-filter pairs it was asked about so far: bounds are made once they pay. */
  pairs = 0;
  readonly #shelf: Shelf;
  readonly #lock = new Lock();
  readonly #parts = new Map<string, Shared<unknown>>();

  constructor(shelf: Shelf, host: FilterBank, owners: Owners, origin?: ConstructorParameters<typeof HostBank>[3]) {
    super(host, shelf, owners, origin);
    this.#shelf = shelf;
  }

  /** Bytes of its parts. */
  get bytes(): number {
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
        this.#shelf.touch(this, 0);
        return known.keep();
      }
      const made = (await make()).keep();
      // Others may have cleared the bank in the meantime, to make room for this part.
      const before = this.#parts.get(name);
      before?.release();
      this.#parts.set(name, made);
      this.#shelf.touch(this, made.bytes - (before?.bytes ?? 0));
      return made;
    });
  }

  /** The part of that name, if there is one; the caller releases it. */
  known<T>(name: string): Shared<T> | undefined {
    return (this.#parts.get(name) as Shared<T> | undefined)?.keep();
  }

  /** Gives up all parts; those in use go with their last user. */
  clear(): void {
    this.#shelf.forget(this, this.bytes);
    for (const part of this.#parts.values()) part.release();
    this.#parts.clear();
  }

  protected override derive(...[bank, owners, origin]: Parameters<HostBank["derive"]>): HostBank {
    return new WasmBank(this.#shelf, bank, owners, origin);
  }

  protected override free(): void {
    this.clear();
    super.free();
  }
}
