/**
 * The memory that reading may take. Files lie: a few kilobytes can unpack to terabytes, and a header can claim any size. Every
 * reader asks its budget before it makes room, and what the budget does not have is refused as a bad file.
 */

import { RanksimError } from "@ranksim/core";

/** Share of the free memory that readers take by default: what is read has to be worked on as well. */
const SHARE = 0.5;
/** Where an engine does not say what it has. */
const UNKNOWN_MEMORY = 4 * 2 ** 30;
const UNKNOWN_HEAP = 2 ** 30;
/** Bytes of a short string, a small list or another value of its own, with its place in a list that grows. */
const OBJECT_BYTES = 48;
/** Bytes of a place alone, for a value that many places share. */
const PLACE_BYTES = 20;

/** A file that needs more memory than its budget has: a caller may read it in blocks instead. */
export class OverBudget extends RanksimError {}

/**
 * How much memory reading may take. One budget may serve several readings: what they keep adds up.
 *
 * @example
 * await readData(source, { budget: new Budget(2e9) });
 */
export class Budget {
  /** Bytes, of all kinds. */
  readonly bytes: number;
  /** Bytes of strings and lists, of which an engine has less. */
  readonly #heapBytes: number;
  #taken = 0;
  #heapTaken = 0;

  /** Without a number: half of the memory that is free now. */
  constructor(bytes: number = memoryAtHand()) {
    if (!(bytes > 0))
      throw new RanksimError("bad-params", `budget: expected a number of bytes above 0, found ${bytes}`);
    this.bytes = bytes;
    this.#heapBytes = Math.min(bytes, heapAtHand());
  }

  /** Bytes now taken. */
  get taken(): number {
    return this.#taken;
  }

  /** The share that is taken, of what there is least. */
  get share(): number {
    return Math.max(this.#taken / this.bytes, this.#heapTaken / this.#heapBytes);
  }

  /** The budget as the reader of one file sees it: refusals name the file. */
  of(name: string): Account {
    return new Account(
      (bytes, heap) => this.#take(name, bytes, heap),
      (bytes, heap) => this.#give(bytes, heap),
    );
  }

  #take(name: string, bytes: number, heap: number): void {
    const [all, inHeap] = [this.#taken + bytes, this.#heapTaken + heap];
    if (all <= this.bytes && inHeap <= this.#heapBytes) {
      this.#taken = all;
      this.#heapTaken = inHeap;
      return;
    }
    const isHeap = all <= this.bytes;
    throw new OverBudget(
      "bad-file",
      `${name}: expected a file that can be read in ${sizeText(isHeap ? this.#heapBytes : this.bytes)} of memory${isHeap ? " for strings and lists" : ""}, found one that needs ${sizeText(isHeap ? inHeap : all)} or more; if it is sound, raise the budget (--memory)`,
    );
  }

  #give(bytes: number, heap: number): void {
    this.#taken -= bytes;
    this.#heapTaken -= heap;
  }
}

type Move = (bytes: number, heapBytes: number) => void;

/** A budget on behalf of one file. Everything is taken before it is allocated; what is over at once is given back. */
export class Account {
  readonly #take: Move;
  readonly #give: Move;
  #bytes = 0;
  #heapBytes = 0;

  constructor(take: Move, give: Move) {
    this.#take = take;
    this.#give = give;
  }

  /** Bytes of buffers. */
  take(bytes: number): void {
    this.#move(bytes, 0);
  }

  /** Bytes of a buffer that is over. */
  give(bytes: number): void {
    this.#give(bytes, 0);
    this.#bytes -= bytes;
  }

  /** A string of its own. */
  takeText(length: number): void {
    this.takeHeap(OBJECT_BYTES + length);
  }

  /** Small values of their own: short strings, lists, views. */
  takeValues(count: number): void {
    this.takeHeap(OBJECT_BYTES * count);
  }

  /** Places in lists, for values that are there already. */
  takePlaces(count: number): void {
    this.takeHeap(PLACE_BYTES * count);
  }

  /** Bytes of the engine's own memory, where strings and lists are. */
  takeHeap(bytes: number): void {
    this.#move(bytes, bytes);
  }

  /** Runs `work` with an account for what is needed no longer than that. */
  async during<T>(work: (account: Account) => T | Promise<T>): Promise<T> {
    const passing = new Account(this.#take, this.#give);
    try {
      return await work(passing);
    } finally {
      passing.release();
    }
  }

  /** Gives back all that was taken. */
  release(): void {
    this.#give(this.#bytes, this.#heapBytes);
    [this.#bytes, this.#heapBytes] = [0, 0];
  }

  #move(bytes: number, heapBytes: number): void {
    this.#take(bytes, heapBytes);
    this.#bytes += bytes;
    this.#heapBytes += heapBytes;
  }

  /** Heap that is over. */
  giveHeap(bytes: number): void {
    this.#give(bytes, bytes);
    this.#bytes -= bytes;
    this.#heapBytes -= bytes;
  }
}

/** The budget of a reading: the caller's, or one of its own. */
export function budgetOf(options: { readonly budget?: Budget }): Budget {
  return options.budget ?? new Budget();
}

/** A number of bytes from text such as 500MB, 2GB or 1.5GiB; undefined if it is none. */
export function parseBytes(text: string): number | undefined {
  const match = /^(\d{1,15}(?:\.\d{1,15})?) ?([kmgt]?)(i?)b?$/i.exec(text.trim());
  if (match === null) return undefined;
  const power = ["", "k", "m", "g", "t"].indexOf(match[2].toLowerCase());
  const unit = [1, match[3] === "" ? 1e3 : 2 ** 10, match[3] === "" ? 1e6 : 2 ** 20, match[3] === "" ? 1e9 : 2 ** 30][
    power
  ];
  const bytes = Math.floor(Number(match[1]) * (unit ?? (match[3] === "" ? 1e12 : 2 ** 40)));
  return bytes > 0 ? bytes : undefined;
}

/** A number of bytes for a message. */
export function sizeText(bytes: number): string {
  const rounded = (value: number) => Number(value.toPrecision(3));
  if (bytes >= 1e9) return `${rounded(bytes / 1e9)} GB`;
  return bytes >= 1e6 ? `${rounded(bytes / 1e6)} MB` : `${Math.ceil(bytes)} bytes`;
}

interface Engine {
  readonly process?: {
    availableMemory?(): number;
    getBuiltinModule?(name: string): { getHeapStatistics?(): { heap_size_limit: number } } | undefined;
  };
  readonly navigator?: { readonly deviceMemory?: number };
  readonly performance?: { readonly memory?: { readonly jsHeapSizeLimit?: number } };
}

/** Both are asked of Node or of the browser, whichever answers. */
function memoryAtHand(): number {
  const { process, navigator } = globalThis as unknown as Engine;
  const gigabytes = navigator?.deviceMemory;
  return SHARE * (process?.availableMemory?.() || (gigabytes ? gigabytes * 2 ** 30 : UNKNOWN_MEMORY));
}

function heapAtHand(): number {
  const { process, performance } = globalThis as unknown as Engine;
  const heap = process?.getBuiltinModule?.("node:v8")?.getHeapStatistics?.().heap_size_limit;
  return SHARE * (heap ?? performance?.memory?.jsHeapSizeLimit ?? UNKNOWN_HEAP);
}
