/**
 * What a program needs that only asks models, those of text and of tables too: it loads them, and has them predict and explain.
 *
 * @packageDocumentation
 */

export type * from "@ranksim/core";
export { Csr, Dense, openBackend, RanksimError, schemaOf } from "@ranksim/core/predict";
export type * from "@ranksim/data";
export { imageRows, Table } from "@ranksim/data";
export { type FileBytes, loadModel, loadTransform } from "./load-model.ts";
