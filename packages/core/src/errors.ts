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

/** What a caller passed in place of what was expected, for messages; most often a promise that was to be awaited. */
export function describeGiven(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof (value as PromiseLike<unknown>).then === "function") return "a promise; did you forget await?";
  if (typeof value === "bigint") return `the bigint ${value}n; convert it with Number(...) or String(...)`;
  if (typeof value !== "object")
    return typeof value === "function" ? "a function" : `the ${typeof value} ${String(value).slice(0, 40)}`;
  const name = value.constructor?.name;
  return name === undefined || name === "Object" ? "an object" : `${/^[AEIOU]/.test(name) ? "an" : "a"} ${name}`;
}

/** Thrown by every gate of the library. */
export class RanksimError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "RanksimError";
    this.code = code;
  }
}
