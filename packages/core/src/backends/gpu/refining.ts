/** Refinement on the host, for rows of the GPU back end: its filters come out as banks of that back end. */

import type { Compared, HeldBank, Listed, RefineBatch, Refining } from "../contract.ts";
import { GpuBank } from "./bank.ts";
import type { House } from "./house.ts";

export class OnHost implements Refining {
  readonly #refining: Refining;
  readonly #house: House;

  constructor(refining: Refining, house: House) {
    this.#refining = refining;
    this.#house = house;
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
    return new GpuBank(this.#house, { host: await held.read(), held });
  }

  release(): void {
    this.#refining.release();
  }
}
