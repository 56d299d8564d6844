/** @packageDocumentation Everything, with access to files, folders and downloads; and the command line as a function. */

export * from "@ranksim/core";
export * from "@ranksim/data/node";
export * from "@ranksim/export";
export * from "@ranksim/export/nir";
export { type Io, type Output, type Processes, processIo } from "./io.ts";
export { loadModel } from "./load-model.ts";
export { run } from "./run.ts";
