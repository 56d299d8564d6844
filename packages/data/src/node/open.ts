/** Data that need not fit in memory: what does not goes to files of the folder for cache files. */

import type { AnyRows, DataSet } from "../data-set.ts";
import { type OpenOptions, openSources, type Source, storedData } from "../open.ts";
import { Scratch, scratchFolder } from "./scratch.ts";

/** How data is opened. */
export interface OpenDataOptions extends Omit<OpenOptions, "stores"> {
  /** The folder for cache files; else RANKSIM_SCRATCH, else that of temporary files. They have the size of the rows. */
  readonly scratch?: string;
}

const storesIn =
  (folder = scratchFolder()) =>
  () =>
    new Scratch(folder);

/** Opens files and folders as one, in the order given: in memory where they fit in `room`, else as rows that are read when they are needed. */
export const openData = (sources: readonly Source[], { scratch, ...options }: OpenDataOptions = {}): Promise<AnyRows> =>
  openSources(sources, { ...options, stores: storesIn(scratch) });

/** Data in memory as rows that are read when they are needed, where what is made of them takes the memory. */
export const storeData = (data: DataSet, room: number, scratch?: string): Promise<AnyRows> =>
  storedData(data, room, storesIn(scratch));
