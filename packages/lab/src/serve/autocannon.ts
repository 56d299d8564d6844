/**
 * The same load by autocannon, a client that others wrote. It is not a dependency: it is found through NODE_PATH, as in
 * `NODE_PATH=/somewhere/node_modules npm run load`, and what it would have measured is left out where it is not.
 */

import { createRequire } from "node:module";

/** What of autocannon is used here. */
type Autocannon = (options: {
  readonly url: string;
  readonly connections: number;
  readonly duration: number;
  readonly method: "POST";
  readonly headers: { readonly [name: string]: string };
  readonly requests: readonly { readonly body: Buffer }[];
}) => Promise<{
  readonly requests: { readonly average: number; readonly total: number };
  readonly latency: { readonly p50: number; readonly p99: number };
  readonly non2xx: number;
  readonly errors: number;
}>;

/** Rate and waits as autocannon sees them. */
export interface Fired {
  readonly rate: number;
  readonly answered: number;
  /** Milliseconds. */
  readonly median: number;
  readonly p99: number;
  readonly refused: number;
  readonly errors: number;
}

/** autocannon, where it is installed. */
export function findAutocannon(): Autocannon | undefined {
  try {
    return createRequire(import.meta.url)("autocannon") as Autocannon;
  } catch {
    return undefined;
  }
}

/** Sends requests for the given number of seconds. */
export async function fire(
  autocannon: Autocannon,
  port: number,
  bodies: readonly Buffer[],
  connections: number,
  seconds: number,
): Promise<Fired> {
  const { requests, latency, non2xx, errors } = await autocannon({
    url: `http://127.0.0.1:${port}/predict`,
    connections,
    duration: seconds,
    method: "POST",
    headers: { "content-type": "application/json" },
    requests: bodies.map((body) => ({ body })),
  });
  return {
    rate: requests.average,
    answered: requests.total,
    median: latency.p50,
    p99: latency.p99,
    refused: non2xx,
    errors,
  };
}
