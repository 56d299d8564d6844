/**
 * The one error class of the library. Errors are thrown only at the gates (matrix constructors, parameter checks, `fit`,
 * `predict`, `loadModel`, `openBackend`, readers); a caller acts on `code`, a person reads `message`, which says what was
 * found, what was expected and where.
 */

/** Why a call was refused. */
export type ErrorCode =
  /** Malformed matrix: shape, index out of order, NaN or infinity. */
  | "bad-matrix"
  /** Malformed labels: missing values, wrong count, mixed forms. */
  | "bad-labels"
  /** A parameter of the wrong type or range, or one that does not fit the data. */
  | "bad-params"
  /** The data has other features than the model: another number, or other names. */
  | "wrong-width"
  /** No rows, or no features. */
  | "empty-input"
  /** A file that is not what it claims to be, or is damaged. */
  | "bad-file"
  /** The back end asked for cannot run here. */
  | "no-backend"
  /** The model has no such ability (for example a transform asked to predict). */
  | "unsupported";

/** Thrown by every gate of the library. */
export class RanksimError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "RanksimError";
    this.code = code;
  }
}
