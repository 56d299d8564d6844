/** Refinement, which the host's back end does for the GPU. */

import type { Compared, HeldBank, Listed, RefineBatch, Refining } from "@ranksim/core/backend";
import { GpuBank } from "./bank.ts";
import type { GpuContext } from "./context.ts";

/** Refinement on the host: its filters come out as banks of the GPU back end. */
export class RefiningOnHost implements Refining {
  readonly #refining: Refining;
  readonly #context: GpuContext;

  constructor(refining: Refining, context: GpuContext) {
    this.#refining = refining;
    this.#context = context;
  }

  list(listed: Listed): void {
    this.#refining.list(listed);
  }

  update(batch: RefineBatch): Promise<Compared> {
    return this.#refining.update(batch);
  }

  values(): Promise<Float64Array> {
    return this.#refining.values();
  }

  async bank(): Promise<HeldBank> {
    const held = await this.#refining.bank();
    return new GpuBank(this.#context, { host: await held.read(), held });
  }

  release(): void {
    this.#refining.release();
  }
}
