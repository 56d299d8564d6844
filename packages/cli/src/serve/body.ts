/** The body of a request, whole, within a limit. */

import type { IncomingMessage } from "node:http";
import { HttpError } from "./http-error.ts";

/** The client has disconnected: there is no one to answer. */
export class Gone extends Error {}

/** Reads the body; refuses a larger one as soon as that is known. */
export function readBody(request: IncomingMessage, most: number): Promise<Buffer> {
  const stated = request.headers["content-length"];
  if (stated !== undefined && Number(stated) > most) return Promise.reject(tooLarge(most));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > most) reject(tooLarge(most));
      else chunks.push(chunk);
    });
    request.on("end", () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    request.on("close", () => {
      if (!request.complete) reject(new Gone("the client went away"));
    });
  });
}

/** The rest of the body is not read, so the connection cannot be used again. */
const tooLarge = (most: number): HttpError =>
  new HttpError(413, `expected a body of at most ${most} bytes; send fewer rows at a time`, { Connection: "close" });
