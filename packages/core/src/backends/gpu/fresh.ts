/**
 * Large arrays for answers. The first write to each page of fresh memory takes longer than copying the page: 768 MB took 350 ms to
 * touch and 80 ms to fill on the machine of an H200, where computing them takes 35. In Node other threads touch it: those
 * of libuv, by reading zeros into it, ahead of the one that copies. Four of them take 120 ms.
 */

/** Bytes that are touched at a time, and pieces that are asked for at once: libuv has four threads, or `UV_THREADPOOL_SIZE`. */
const PIECE = 2 ** 23;
const AT_ONCE = 16;

interface Files {
  openSync(path: string): number;
  closeSync(file: number): void;
  read(file: number, into: Uint8Array, at: number, bytes: number, from: null, done: () => void): void;
}

/** A fresh array, given with no page touched, whose pages are being touched. */
export class FreshNumbers<T extends Uint8Array | Uint16Array> {
  readonly values: T;
  readonly #touched: readonly Promise<void>[];

  constructor(values: T) {
    this.values = values;
    this.#touched = values.byteLength > 4 * PIECE ? touch(new Uint8Array(values.buffer)) : [];
  }

  /** Waits until the numbers before `end` may be written to. */
  async ready(end: number): Promise<void> {
    await Promise.all(this.#touched.slice(0, Math.ceil((this.values.BYTES_PER_ELEMENT * end) / PIECE)));
  }
}

/** Touches pieces in their order; each is done when its promise says so. None where there is no other thread to do it. */
function touch(bytes: Uint8Array): readonly Promise<void>[] {
  const { process } = globalThis as {
    process?: { getBuiltinModule?(name: "node:fs"): Files; readonly platform?: string };
  };
  const files = process?.platform === "linux" ? process.getBuiltinModule?.("node:fs") : undefined;
  if (!files) return [];
  let zeros: number;
  try {
    zeros = files.openSync("/dev/zero");
  } catch {
    return []; // a system without it: the pages are touched by the copying
  }
  const count = Math.ceil(bytes.length / PIECE);
  const done: (() => void)[] = [];
  const touched = Array.from({ length: count }, (_, j) => new Promise<void>((resolve) => (done[j] = resolve)));
  let begun = 0;
  const next = (): void => {
    if (begun === count) return;
    const j = begun++;
    const size = Math.min(PIECE, bytes.length - j * PIECE);
    files.read(zeros, bytes, j * PIECE, size, null, () => {
      done[j](); // an error leaves the pages as they were
      next();
    });
  };
  for (let j = 0; j < AT_ONCE; j++) next();
  Promise.all(touched).then(() => files.closeSync(zeros));
  return touched;
}
