/** The data sets of the experiments, each read once. Training and test parts are the published ones. */

import type { Label, Matrix } from "@ranksim/core";
import { type DataSet, loadDataSet, locateDataSet, type ReadDataOptions } from "@ranksim/data/node";

/** Rows of numbers with a label each. */
export interface Labelled {
  readonly x: Matrix;
  readonly y: readonly Label[];
}

/** Rows of numbers with several labels each. */
interface LabelledSets {
  readonly x: Matrix;
  readonly y: readonly (readonly Label[])[];
}

/** Texts with a label each. */
interface LabelledText {
  readonly text: readonly string[];
  readonly y: readonly Label[];
}

/** Reads data sets by name ("fashion-mnist:train") and keeps them. */
export class Shelf {
  readonly folder: string | undefined;
  readonly #env: NodeJS.ProcessEnv;
  readonly #read = new Map<string, Promise<DataSet>>();

  constructor(folder: string | undefined) {
    this.folder = folder;
    this.#env = folder === undefined ? process.env : { ...process.env, RANKSIM_DATA: folder };
  }

  async numbers(name: string): Promise<Labelled> {
    const set = await this.#open(name, {});
    if (set.form !== "matrix" || !set.y) throw new Error(`${name}: expected rows of numbers with labels`);
    return { x: set.x, y: set.y as readonly Label[] };
  }

  async sets(name: string): Promise<LabelledSets> {
    const { x, y } = await this.numbers(name);
    if (!y.every(Array.isArray)) throw new Error(`${name}: expected several labels per row`);
    return { x, y: y as unknown as LabelledSets["y"] };
  }

  /** The file of a data set, for other programs to read. */
  async path(name: string): Promise<string> {
    const found = await locateDataSet(name, { env: this.#env });
    if (found?.paths.length !== 1) throw new Error(`${name}: expected one file at hand`);
    return found.paths[0];
  }

  async text(name: string, options: ReadDataOptions): Promise<LabelledText> {
    const set = await this.#open(name, options);
    if (set.form !== "text" || !set.y) throw new Error(`${name}: expected texts with labels`);
    return { text: set.text, y: set.y as readonly Label[] };
  }

  #open(name: string, options: ReadDataOptions): Promise<DataSet> {
    const key = JSON.stringify([name, options]);
    const found = this.#read.get(key) ?? loadDataSet(name, { ...options, env: this.#env });
    this.#read.set(key, found);
    return found;
  }
}
