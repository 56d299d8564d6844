/**
 * What a program needs that only asks models: it loads them, and has them predict and explain. How models answer is fetched by the first
 * question, trainers by the first call that trains, and a GPU by no one: a page that predicts stays small.
 *
 * @packageDocumentation
 */

export { openBackend } from "./backends/open.ts";
export { RanksimError } from "./errors.ts";
export type * from "./index.ts";
export { Csr } from "./matrix/csr.ts";
export { Dense } from "./matrix/dense.ts";
export { loadModel } from "./model-file/load.ts";
export { schemaOf } from "./models/schema.ts";
