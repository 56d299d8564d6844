/** Text of bodies: UTF-8 or nothing, because replaced letters would give other answers. */

import { badRequest, HttpError } from "./http-error.ts";

/** Reads bytes as UTF-8; refuses others with the place of the text in the request. */
export function textOf(bytes: Uint8Array, where = "the body"): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw badRequest(`${where} is not UTF-8; send it encoded as UTF-8`);
  }
}

/** Refuses a content type that states another charset than UTF-8, or ASCII, which is part of it. */
export function refuseCharset(contentType: string | undefined): void {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType ?? "")?.[1].toLowerCase();
  if (charset === undefined || ["utf-8", "utf8", "us-ascii", "ascii"].includes(charset)) return;
  throw new HttpError(415, `Content-Type: expected charset utf-8, found ${charset}`);
}
