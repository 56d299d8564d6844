/** The body of a request, whole, within its limits. */

import { Gone, HttpError } from "./http-error.ts";
import type { Running } from "./running.ts";

/** Reads the body; refuses one of more than `most` bytes as soon as that is known, and one that all requests leave no room for. */
export function readBody(running: Running, most: number): Promise<Buffer> {
  const { request, response } = running;
  const stated = request.headers["content-length"];
  if (stated !== undefined && Number(stated) > most) return Promise.reject(tooLarge(most));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const keep = (chunk: Buffer) => {
      size += chunk.length;
      try {
        if (size > most) throw tooLarge(most);
        running.take(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        // What follows is received and dropped.
        request.off("data", keep);
        reject(error);
      }
    };
    request.on("data", keep);
    request.on("end", () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    response.on("close", () => reject(new Gone()));
  });
}

/** The rest of the body is not read, so the connection cannot be used again. */
const tooLarge = (most: number): HttpError =>
  new HttpError(413, `expected a body of at most ${most} bytes; send fewer rows at a time`, { Connection: "close" });
