/**
 * Everything in one package: the method, its estimators and model file, readers, text vectorisers, data sets and exports. Runs in
 * Node and browsers; what needs a file system is in `ranksim/node`.
 *
 * @packageDocumentation
 */

export * from "@ranksim/core";
export * from "@ranksim/data";
export * from "@ranksim/export";
export { loadModel } from "./load-model.ts";
