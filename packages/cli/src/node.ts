/** @packageDocumentation The same names as `ranksim`, with access to files, folders and downloads; and the command line as a function. */

export type * from "@ranksim/data/node";
export { fileSource, loadData, openCheckpoint, openRows, saveData, stdinSource } from "@ranksim/data/node";
export { exportNir } from "@ranksim/export/nir";
export * from "./index.ts";
export { type Io, type Output, type Processes, processIo } from "./io.ts";
export { run } from "./run.ts";
