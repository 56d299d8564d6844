/** Buffers that nobody uses, up to so many bytes. Those of the size that was not used for longest go first. */
export class Idle {
  readonly #most: number;
  /** By size; the last one is that of the last call. */
  readonly #bySize = new Map<number, GPUBuffer[]>();
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  take(size: number): GPUBuffer | undefined {
    const found = this.#ofSize(size).pop();
    if (found) this.#bytes -= size;
    return found;
  }

  keep(buffer: GPUBuffer, size: number): void {
    if (size > this.#most) {
      buffer.destroy();
      return;
    }
    this.#ofSize(size).push(buffer);
    this.#bytes += size;
    for (const [each, buffers] of this.#bySize) {
      while (this.#bytes > this.#most && buffers.length > 0) {
        buffers.pop()?.destroy();
        this.#bytes -= each;
      }
      if (this.#bytes <= this.#most) return;
      this.#bySize.delete(each);
    }
  }

  clear(): void {
    for (const same of this.#bySize.values()) for (const buffer of same) buffer.destroy();
    this.#bySize.clear();
    this.#bytes = 0;
  }

  #ofSize(size: number): GPUBuffer[] {
    const same = this.#bySize.get(size) ?? [];
    this.#bySize.delete(size);
    this.#bySize.set(size, same);
    return same;
  }
}
