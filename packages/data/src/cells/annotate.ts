/** Types of cells written into an AnnData file, as columns of its table of cells. */

import { RanksimError } from "@ranksim/core";
import type { Group } from "h5wasm";
import { badFile } from "../bad-file.ts";
import { Budget } from "../budget.ts";
import { type ByteSource, type BytesAt, bytesAt, readAll } from "../source.ts";
import { openHdf5 } from "./hdf5.ts";

/** What is said of the cells, in the order of the file. */
export interface CellAnswers {
  readonly types: readonly string[];
  /** The probability of each type; absent where the model has none. */
  readonly probabilities?: Float64Array | undefined;
}

/** The columns that are written. */
export const TYPE_COLUMN = "ranksim_type";
export const PROBABILITY_COLUMN = "ranksim_probability";

/** The bytes of an AnnData file with the answers in its table of cells. The file stays as it is. */
export async function* annotated(source: ByteSource, answers: CellAnswers): AsyncGenerator<Uint8Array> {
  const { name } = source;
  const base = source.at?.() ?? bytesAt(await readAll(source.stream(), new Budget().of(name)));
  try {
    const changed = new Changed(base);
    await annotate(name, changed, answers);
    for (let from = 0; from < changed.byteLength; from += PAGE) {
      const chunk = new Uint8Array(Math.min(PAGE, changed.byteLength - from));
      changed.read(chunk, from);
      yield chunk;
    }
  } finally {
    base.close();
  }
}

/** Bytes of a part that is kept once something in it was written. */
const PAGE = 1 << 16;

/** Bytes with what was written over them, which is kept in memory. */
class Changed implements BytesAt {
  byteLength: number;
  readonly #base: BytesAt;
  readonly #pages = new Map<number, Uint8Array>();

  constructor(base: BytesAt) {
    this.#base = base;
    this.byteLength = base.byteLength;
  }

  read(into: Uint8Array, from: number): number {
    const count = Math.max(0, Math.min(into.byteLength, this.byteLength - from));
    for (let done = 0; done < count; ) {
      const [page, at] = [Math.floor((from + done) / PAGE), (from + done) % PAGE];
      const part = into.subarray(done, Math.min(done + PAGE - at, count));
      const own = this.#pages.get(page);
      if (own) part.set(own.subarray(at, at + part.byteLength));
      else part.fill(0, this.#base.read(part, from + done));
      done += part.byteLength;
    }
    return count;
  }

  write(bytes: Uint8Array, to: number): void {
    this.byteLength = Math.max(this.byteLength, to + bytes.byteLength);
    for (let done = 0; done < bytes.byteLength; ) {
      const [page, at] = [Math.floor((to + done) / PAGE), (to + done) % PAGE];
      let own = this.#pages.get(page);
      if (!own) {
        own = new Uint8Array(PAGE);
        this.#base.read(own, page * PAGE);
        this.#pages.set(page, own);
      }
      const part = bytes.subarray(done, done + PAGE - at);
      own.set(part, at);
      done += part.byteLength;
    }
  }

  resize(byteLength: number): void {
    this.byteLength = byteLength;
  }

  close(): void {}
}

async function annotate(name: string, bytes: BytesAt, { types, probabilities }: CellAnswers): Promise<void> {
  const file = await openHdf5(name, bytes, new Budget().of(name));
  try {
    const obs = file.at("obs");
    if (obs?.type !== "Group") {
      const cure = () => "read it with anndata 0.8 or later and write it again";
      throw new RanksimError("unsupported", {
        file: name,
        expected: "a table of cells with a part for each column",
        found: "another",
        cure,
      });
    }
    const group = obs as Group;
    const known = [TYPE_COLUMN, PROBABILITY_COLUMN].find((column) => group.keys().includes(column));
    if (known !== undefined) {
      const cure = () => "give the file as it was before, or rename the column";
      throw new RanksimError("unsupported", {
        file: name,
        expected: `a table of cells without ${known}`,
        found: "one with it",
        cure,
      });
    }
    const key = file.attribute("obs", "_index");
    const index = typeof key === "string" ? key : "_index";
    const [cells] = file.array(`obs/${index}`).shape;
    if (cells !== types.length) throw badFile(name, "obs", `expected ${types.length} cells, found ${cells}`);
    const order = file.attribute("obs", "column-order");
    const others = group.keys().filter((column) => column !== index && column !== "__categories");
    const columns = Array.isArray(order) ? order.map(String) : others;
    const added: [name: string, encoding: string, data: string[] | Float64Array][] = [
      [TYPE_COLUMN, "string-array", [...types]],
      ...(probabilities ? [[PROBABILITY_COLUMN, "array", probabilities] as [string, string, Float64Array]] : []),
    ];
    for (const [column, encoding, data] of added) {
      const own = group.create_dataset({ name: column, data });
      own.create_attribute("encoding-type", encoding);
      own.create_attribute("encoding-version", "0.2.0");
    }
    if (order !== undefined) group.delete_attribute("column-order");
    group.create_attribute("column-order", [...columns, ...added.map(([column]) => column)]);
  } finally {
    file.close();
  }
}
