/**
 * Accuracy on held-out rows while a model is still being made, from the filters that exist so far. It is an indicator: a row
 * takes the class of its strongest filter. The finished model is judged by its own `predict`.
 */

import type { Backend, FilterBank, HeldRows, Matrix, TopFilters } from "@ranksim/core";

/** Rows looked at, at most: the indicator must not cost more than the training it watches. */
export const LIVE_ROWS = 2000;

/** For classes that train apart. */
export class ClassLiveScore {
  readonly #held: HeldRows;
  readonly #codes: Uint32Array;
  /** Per class, the strongest response of each row; absent until the class has filters. */
  readonly #responses: (Float64Array | undefined)[];

  static async open(backend: Backend, x: Matrix, codes: Uint32Array, classes: number): Promise<ClassLiveScore> {
    return new ClassLiveScore(await backend.hold(x), codes, classes);
  }

  private constructor(held: HeldRows, codes: Uint32Array, classes: number) {
    this.#held = held;
    this.#codes = codes;
    this.#responses = new Array(classes).fill(undefined);
  }

  /** Takes in the filters of one class. */
  async update(code: number, bank: FilterBank): Promise<void> {
    this.#responses[code] = (await strongest(this.#held, bank)).response;
  }

  /** Over the rows of those classes that have filters: rows of the others cannot be right yet. */
  accuracy(): number {
    const rows = this.#codes.length;
    const best = new Float64Array(rows).fill(Number.NEGATIVE_INFINITY);
    const answer = new Int32Array(rows).fill(-1);
    this.#responses.forEach((response, code) => {
      if (!response) return;
      for (let r = 0; r < rows; r++) {
        if (response[r] <= best[r]) continue;
        best[r] = response[r];
        answer[r] = code;
      }
    });
    let asked = 0;
    let right = 0;
    this.#codes.forEach((code, r) => {
      if (!this.#responses[code]) return;
      asked++;
      if (answer[r] === code) right++;
    });
    return asked === 0 ? 0 : right / asked;
  }

  release(): void {
    this.#held.release();
  }
}

/** For one bank over all rows: filters are named after the training rows they win. */
export class WholeLiveScore {
  readonly #train: HeldRows;
  readonly #test: HeldRows;
  readonly #trainCodes: Uint32Array;
  readonly #testCodes: Uint32Array;
  readonly #classes: number;

  static async open(
    backend: Backend,
    train: { x: Matrix; codes: Uint32Array },
    test: { x: Matrix; codes: Uint32Array },
    classes: number,
  ): Promise<WholeLiveScore> {
    const held = await backend.hold(train.x);
    return new WholeLiveScore(held, await backend.hold(test.x), train.codes, test.codes, classes);
  }

  private constructor(
    train: HeldRows,
    test: HeldRows,
    trainCodes: Uint32Array,
    testCodes: Uint32Array,
    classes: number,
  ) {
    this.#train = train;
    this.#test = test;
    this.#trainCodes = trainCodes;
    this.#testCodes = testCodes;
    this.#classes = classes;
  }

  async accuracy(bank: FilterBank): Promise<number> {
    const counts = new Uint32Array(bank.filters * this.#classes);
    const won = await strongest(this.#train, bank);
    won.filter.forEach((filter, r) => {
      counts[filter * this.#classes + this.#trainCodes[r]]++;
    });
    const asked = await strongest(this.#test, bank);
    let right = 0;
    asked.filter.forEach((filter, r) => {
      const own = counts.subarray(filter * this.#classes, (filter + 1) * this.#classes);
      if (own.indexOf(Math.max(...own)) === this.#testCodes[r]) right++;
    });
    return right / this.#testCodes.length;
  }

  release(): void {
    this.#train.release();
    this.#test.release();
  }
}

/** The strongest filter of each row. */
async function strongest(rows: HeldRows, bank: FilterBank): Promise<TopFilters> {
  const held = rows.load(bank);
  try {
    return await rows.topFilters(held, 1);
  } finally {
    held.release();
  }
}
