/** Access control: a token where one is required, host names that the server answers to, pages of other origins only where allowed. */

import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { HttpError } from "./http-error.ts";

/** Rules of access. */
export interface Access {
  /** Sent as `Authorization: Bearer …`; undefined: no token is needed. */
  readonly token: string | undefined;
  /** Names that the Host header may have; undefined: any. */
  readonly hosts: readonly string[] | undefined;
  /** The origin whose pages may ask; "*" for all. */
  readonly cors: string | undefined;
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** The names a server answers to: a page elsewhere that points its own name here gets nothing. */
export function hostsFor(host: string, allowed: readonly string[]): readonly string[] | undefined {
  if (isLoopback(host)) return [...LOOPBACK, ...allowed];
  // Behind a wildcard only the caller can know the names.
  if (host === "0.0.0.0" || host === "::") return allowed.length === 0 ? undefined : [...LOOPBACK, ...allowed];
  return [...LOOPBACK, host, ...allowed];
}

export const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || /^127\./.test(host);

/** Refuses a request that may not be answered. `isOpen` leaves out the token. */
export function checkAccess(request: IncomingMessage, { token, hosts, cors }: Access, isOpen: boolean): void {
  const { host, origin, authorization } = request.headers;
  if (hosts !== undefined) {
    const name = (host ?? "").replace(/:\d+$/, "").toLowerCase();
    if (!hosts.includes(name)) {
      throw new HttpError(
        421,
        `Host: this server answers to ${hosts.join(", ")}, not ${JSON.stringify(name)}; --allow-host adds a name`,
      );
    }
  }
  if (origin !== undefined && cors !== "*" && origin !== cors && !isSameOrigin(origin, host)) {
    throw new HttpError(403, `Origin: pages of ${origin} may not ask; --cors allows one origin`);
  }
  if (token !== undefined && !isOpen && !isToken(authorization, token)) {
    throw new HttpError(401, "expected the header Authorization: Bearer TOKEN with the server's token", {
      "WWW-Authenticate": "Bearer",
    });
  }
}

const isSameOrigin = (origin: string, host: string | undefined): boolean =>
  origin === `http://${host}` || origin === `https://${host}`;

/** Digests are compared, in time that does not depend on where they differ. */
function isToken(authorization: string | undefined, token: string): boolean {
  const given = /^Bearer (.+)$/.exec(authorization ?? "")?.[1] ?? "";
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}
