/** Types of cells written into an AnnData file, as columns of its table of cells. */

import { RanksimError } from "@ranksim/core";
import { asBadFile, badFile } from "../bad-file.ts";
import { Budget } from "../budget.ts";
import { type ByteSource, readAll } from "../source.ts";
import { type Hdf5, openHdf5 } from "./hdf5.ts";
import type { NewColumn } from "./hdf5-library.ts";

/** What is said of the cells, in the order of the file. */
export interface CellAnswers {
  readonly types: readonly string[];
  /** The probability of each type; absent where the model has none. */
  readonly probabilities?: Float64Array | undefined;
}

/** The columns that are written. */
export const TYPE_COLUMN = "ranksim_type";
export const PROBABILITY_COLUMN = "ranksim_probability";

/** Bytes that are handed on at a time. */
const PART = 1 << 16;

/** The bytes of an AnnData file with the answers in its table of cells. The file stays as it is. */
export async function* annotated(
  source: ByteSource,
  { types, probabilities }: CellAnswers,
  { signal }: { readonly signal?: AbortSignal } = {},
): AsyncGenerator<Uint8Array> {
  const { name } = source;
  const account = new Budget().of(name);
  const bytes = source.file?.() ?? (await readAll(source.stream(), account, source.byteLength));
  const file = await openHdf5(name, bytes, { account, isChanged: true, ...(signal ? { signal } : {}) });
  try {
    await annotate(file, { types, probabilities });
    yield* file.written(PART);
  } catch (error) {
    throw signal?.aborted ? error : asBadFile(name, "HDF5", error);
  } finally {
    await file.close();
  }
}

async function annotate(file: Hdf5, { types, probabilities }: CellAnswers): Promise<void> {
  const { name } = file;
  if (!(await file.isGroup("obs"))) {
    const cure = () => "read it with anndata 0.8 or later and write it again";
    throw new RanksimError("unsupported", {
      file: name,
      expected: "a table of cells with a part for each column",
      found: "another",
      cure,
    });
  }
  const keys = await file.keys("obs");
  const known = [TYPE_COLUMN, PROBABILITY_COLUMN].find((column) => keys.includes(column));
  if (known !== undefined) {
    const cure = () => "give the file as it was before, or rename the column";
    throw new RanksimError("unsupported", {
      file: name,
      expected: `a table of cells without ${known}`,
      found: "one with it",
      cure,
    });
  }
  const key = await file.attribute("obs", "_index");
  const index = typeof key === "string" ? key : "_index";
  const [cells] = (await file.array(`obs/${index}`)).shape;
  if (cells !== types.length) throw badFile(name, "obs", `expected ${types.length} cells, found ${cells}`);
  const order = await file.attribute("obs", "column-order");
  const others = keys.filter((column) => column !== index && column !== "__categories");
  const columns = Array.isArray(order) ? order.map(String) : others;
  const column = (name: string, encoding: string, data: NewColumn["data"]): NewColumn => {
    return { name, data, attributes: { "encoding-type": encoding, "encoding-version": "0.2.0" } };
  };
  const added = [
    column(TYPE_COLUMN, "string-array", [...types]),
    ...(probabilities ? [column(PROBABILITY_COLUMN, "array", probabilities)] : []),
  ];
  await file.addColumns("obs", added, [...columns, ...added.map(({ name }) => name)]);
}
