/** Why a request is refused: the status and one sentence that says what was found, what was expected and where. */

import { RanksimError } from "@ranksim/core";

/** Thrown anywhere in the handling of a request; becomes `{"error": message}`. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };

  constructor(status: number, message: string, headers: { readonly [name: string]: string } = {}) {
    super(message);
    this.name = "HttpError";
    this.status = status;
    this.headers = headers;
  }
}

/** There is no one to answer any more: the client disconnected, or was told that it took too long. Nothing is sent. */
export class Gone extends Error {}

/** Error in the request. */
export const badRequest = (message: string): HttpError => new HttpError(400, message);

/** The server has too much to do; the client should come back. */
export const tooBusy = (message: string): HttpError => new HttpError(503, message, { "Retry-After": "1" });

/** An error of the library about data is the request's fault; all else is ours. */
export function asHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof RanksimError) return badRequest(error.message);
  return new HttpError(500, "the server failed; its log says why");
}
