/** The limits of a server, in one place. */

export interface Limits {
  /** Bytes of a body; more are refused with 413. */
  readonly bodyBytes: number;
  /** Requests that are read, wait or are worked on at a time; more are refused with 503. */
  readonly requests: number;
  /** Rows of one search; larger requests are cut, smaller ones are joined. */
  readonly batchRows: number;
  /** Milliseconds that a row may wait for others to be searched with; 0 joins what arrives together. */
  readonly batchMs: number;
  /** Numbers of one answer: rows times classes, where probabilities are asked for; more are refused with 413. */
  readonly answerNumbers: number;
  /** Bytes that bodies, rows and answers of all requests may take together; requests beyond are refused with 503. */
  readonly roomBytes: number;
  /** Milliseconds from the first byte of a request to its answer, and again until that has been taken. */
  readonly timeoutMs: number;
  /** Milliseconds between "not ready" and the end of listening. */
  readonly graceMs: number;
}

/**
 * With 64 busy connections a request waits for at most 63 others; 256 leave room for bursts and keep the wait near 25 ms at
 * 10,000 requests a second.
 */
export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 16 * 2 ** 20,
  requests: 256,
  batchRows: 1024,
  batchMs: 0,
  answerNumbers: 2 ** 20,
  roomBytes: 512 * 2 ** 20,
  timeoutMs: 10_000,
  graceMs: 5_000,
};
