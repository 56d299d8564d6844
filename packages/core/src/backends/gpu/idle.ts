/** Buffers that nobody uses, up to so many bytes. */
export class Idle {
  readonly #most: number;
  readonly #bySize = new Map<number, GPUBuffer[]>();
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  take(size: number): GPUBuffer | undefined {
    const found = this.#bySize.get(size)?.pop();
    if (found) this.#bytes -= size;
    return found;
  }

  keep(buffer: GPUBuffer, size: number): void {
    if (this.#bytes + size > this.#most) {
      buffer.destroy();
      return;
    }
    this.#bytes += size;
    const same = this.#bySize.get(size);
    if (same) same.push(buffer);
    else this.#bySize.set(size, [buffer]);
  }

  clear(): void {
    for (const same of this.#bySize.values()) for (const buffer of same) buffer.destroy();
    this.#bySize.clear();
    this.#bytes = 0;
  }
}
