/** @packageDocumentation The method, its back ends, estimators and model file. */

export type * from "./backends/backend.ts";
export { openBackend } from "./backends/open.ts";
export { type ErrorCode, RanksimError } from "./errors.ts";
export type { DenseBank, FilterBank, SparseBank } from "./kernels/shapes.ts";
export { Csr } from "./matrix/csr.ts";
export { Dense } from "./matrix/dense.ts";
export type { Label, LabelSets, Labels } from "./matrix/labels.ts";
export { asMatrix, type Matrix, type MatrixLike, toCsr, toDense } from "./matrix/matrix.ts";
export type { Values } from "./matrix/values.ts";
