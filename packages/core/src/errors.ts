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

/** How a caller's surroundings call an option or parameter, with a value: the command line says `--label a` for `labelColumn`. */
export type ParameterName = (name: string, value?: string) => string;

/** What an error is about. Its message is made of these, and can be said again with other names for parameters. */
export interface ErrorFacts {
  /** The option or parameter that was given wrongly. */
  readonly parameter?: string;
  readonly file?: string;
  /** Where in the file, as readers count: "line 3, column 2", "byte 10". */
  readonly where?: string;
  /** The row, from 0. */
  readonly row?: number;
  readonly column?: string | number;
  readonly expected: string;
  readonly found: string;
  /** What would help; it names options by `called`. */
  readonly cure?: (called: ParameterName) => string;
}

/** A name among words; many are words themselves. */
const quoted: ParameterName = (name, value) => `\`${name}\`${value === undefined ? "" : ` ${value}`}`;

/** The facts in one line: where, what was expected, what was found and what would help. */
function told(
  { parameter, file, where, row, column, expected, found, cure }: ErrorFacts,
  called: ParameterName,
  calledInText = called,
) {
  const place = [
    file,
    where,
    row === undefined ? undefined : `row ${row}`,
    column === undefined ? undefined : `column ${typeof column === "string" ? JSON.stringify(column) : column}`,
  ].filter((part) => part !== undefined);
  const subject = [
    ...(parameter === undefined ? [] : [called(parameter)]),
    ...(place.length ? [place.join(", ")] : []),
  ];
  const text = [...subject, `expected ${expected}, found ${found}`].join(": ");
  return cure ? `${text}; ${cure(calledInText)}` : text;
}

/** Thrown by every gate of the library. */
export class RanksimError extends Error {
  readonly code: ErrorCode;
  /** Absent where the message says all there is to say. */
  readonly facts: ErrorFacts | undefined;

  constructor(code: ErrorCode, about: string | ErrorFacts, options?: ErrorOptions) {
    super(typeof about === "string" ? about : told(about, String, quoted), options);
    this.name = "RanksimError";
    this.code = code;
    this.facts = typeof about === "string" ? undefined : about;
  }

  /** The message with other names for options and parameters. */
  messageWith(called: ParameterName): string {
    return this.facts ? told(this.facts, called) : this.message;
  }
}

/** What `JSON.stringify` of a model ends with: without it the model would be lost in silence. */
export function refuseJson(): never {
  throw new RanksimError("unsupported", "expected saveModel(model), not JSON");
}
