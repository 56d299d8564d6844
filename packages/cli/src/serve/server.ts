/**
 * The server: sockets, limits and the end. Routes answer; here requests are counted, refused where there are too many, cut off
 * where they take too long, and finished when the server is to end. node:http is enough for a dozen routes; a framework would
 * cost more of each request than all that is done here.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Access, checkAccess } from "./access.ts";
import { Gone, readBody } from "./body.ts";
import { asHttpError, HttpError, tooBusy } from "./http-error.ts";
import { DEFAULT_LIMITS, type Limits } from "./limits.ts";
import { Metrics } from "./metrics.ts";
import { type Answer, isProbe, routeOf, type Service } from "./routes.ts";
import { Running, RunningList } from "./running.ts";
import { Shelf } from "./shelf.ts";

/** Something worth a line in the log. */
export interface LogEvent {
  readonly event: string;
  readonly level: "info" | "error";
  readonly [field: string]: unknown;
}

/** What is served, and how. */
export interface ServeOptions {
  /** Model files. */
  readonly models: readonly string[];
  readonly host: string;
  readonly port: number;
  readonly access: Access;
  readonly watch: boolean;
  readonly version: string;
  readonly limits?: Partial<Limits>;
  readonly log?: (event: LogEvent) => void;
}

const HEADERS = { "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store" };

/** Milliseconds that a kept connection may lie idle, and between two looks for connections that are overdue. */
const IDLE_MS = 5_000;
const CHECK_MS = 500;
const MOST_CONNECTIONS = 4096;
/** Connections that may wait to be accepted: with fewer, a burst of clients waits for seconds. */
const BACKLOG = 1024;
const NO_QUERY = new URLSearchParams();

/** Models behind a port. */
export class ModelServer {
  readonly #server: Server;
  readonly #service: Service;
  readonly #limits: Limits;
  readonly #access: Access;
  readonly #log: (event: LogEvent) => void;
  readonly shelf: Shelf;
  readonly #running = new RunningList();
  readonly #overseer: NodeJS.Timeout;
  #isReady = true;
  #isEnding = false;

  private constructor(options: ServeOptions, limits: Limits) {
    const metrics = new Metrics();
    this.#log = options.log ?? (() => undefined);
    this.#limits = limits;
    this.#access = options.access;
    this.shelf = new Shelf(limits, {
      swapped: ({ name, version }, before) => {
        metrics.swapped(name);
        this.#log({ event: "swapped", level: "info", model: name, version, before: before.version });
      },
      refused: (name, error) => {
        metrics.refused(name);
        this.#log({ event: "refused", level: "error", model: name, message: messageOf(error) });
      },
    });
    this.#service = {
      shelf: this.shelf,
      metrics,
      version: options.version,
      isReady: () => this.#isReady,
      inFlight: () => this.#running.size,
    };
    this.#overseer = setInterval(() => this.#cutLate(), Math.min(CHECK_MS, limits.timeoutMs / 4)).unref();
    this.#server = createServer(
      {
        headersTimeout: Math.min(5_000, limits.timeoutMs),
        // Later than the overseer, who says why.
        requestTimeout: limits.timeoutMs + 4 * CHECK_MS,
        keepAliveTimeout: IDLE_MS,
        connectionsCheckingInterval: CHECK_MS,
      },
      (request, response) => void this.#handle(request, response),
    );
    this.#server.maxConnections = MOST_CONNECTIONS;
    // A client that takes nothing of its answer for this long is cut off; later than a request that takes too long is refused.
    this.#server.setTimeout(limits.timeoutMs + 4 * CHECK_MS);
  }

  /** Loads the models and listens; the models are ready when it resolves. */
  static async open(options: ServeOptions): Promise<ModelServer> {
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    const server = new ModelServer(options, limits);
    try {
      for (const path of options.models) await server.shelf.add(path);
      await new Promise<void>((listening, failed) => {
        server.#server.once("error", failed);
        server.#server.listen({ port: options.port, host: options.host, backlog: BACKLOG }, () => listening());
      });
    } catch (error) {
      clearInterval(server.#overseer);
      await server.shelf.close();
      throw error;
    }
    if (options.watch) server.shelf.watch();
    return server;
  }

  /** Where it can be reached. */
  get address(): string {
    const { address, family, port } = this.#server.address() as AddressInfo;
    return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
  }

  /**
   * Ends: not ready at once, so that no new clients are sent here; after the grace period no more connections; resolves when
   * all that was accepted is answered.
   */
  async end(graceMs = this.#limits.graceMs): Promise<void> {
    this.#isReady = false;
    await new Promise((passed) => setTimeout(passed, graceMs));
    this.#isEnding = true;
    await new Promise<void>((closed) => {
      this.#server.close(() => closed());
      this.#server.closeIdleConnections();
    });
    clearInterval(this.#overseer);
    await this.shelf.close();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const began = performance.now();
    const { method = "GET", url = "/" } = request;
    let route = "other";
    let answer: Answer | undefined;
    let running: Running | undefined;
    try {
      const mark = url.indexOf("?");
      const path = mark < 0 ? url : url.slice(0, mark);
      checkAccess(request, this.#access, isProbe(path));
      if (method === "OPTIONS" && this.#access.cors !== undefined)
        answer = { status: 204, type: "text/plain", body: "" };
      else {
        const found = routeOf({ method, path });
        route = found.name;
        const { requests, timeoutMs, bodyBytes } = this.#limits;
        if (this.#running.size >= requests) {
          throw tooBusy(`${requests} requests are being answered; come back in a moment`);
        }
        running = new Running(began + timeoutMs, request, response);
        this.#running.add(running);
        const query = mark < 0 ? NO_QUERY : new URLSearchParams(url.slice(mark + 1));
        const body = () => readBody(request, bodyBytes);
        answer = await found.run({ method, path, query, headers: request.headers, body }, this.#service);
      }
    } catch (error) {
      if (!(error instanceof Gone)) answer = this.#refusal(error, method, url);
    }
    if (running) this.#running.remove(running);
    if (answer !== undefined) this.#send(request, response, answer);
    this.#service.metrics.request(route, answer?.status ?? 499, (performance.now() - began) / 1000);
  }

  /** Refuses requests that have taken too long; what they find later is not sent. One timer looks after all of them. */
  #cutLate(): void {
    const now = performance.now();
    const { timeoutMs } = this.#limits;
    for (let late = this.#running.first; late && late.deadline <= now; late = this.#running.first) {
      this.#running.remove(late);
      const { request, response } = late;
      // A body that is still on its way is the client's doing, and what comes of it later is no new request.
      const error = request.complete
        ? tooBusy(`no answer within ${timeoutMs} ms; send fewer rows at a time`)
        : new HttpError(408, `the body did not arrive within ${timeoutMs} ms`, { Connection: "close" });
      this.#send(request, response, this.#refusal(error, request.method ?? "", request.url ?? ""));
    }
  }

  #refusal(error: unknown, method: string, url: string): Answer {
    const { status, message, headers } = asHttpError(error);
    if (status === 500) {
      const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#log({ event: "failed", level: "error", method, url, message: detail });
    }
    return { status, type: "application/json", body: JSON.stringify({ error: message }), headers };
  }

  #send(request: IncomingMessage, response: ServerResponse, { status, type, body, headers }: Answer): void {
    if (response.headersSent || response.destroyed) return;
    const { cors } = this.#access;
    // The rest of a body that is not read is received and dropped, unless the connection ends with this answer.
    if (!request.readableEnded) request.resume();
    const all: { [name: string]: string | number } = {
      "Content-Type": type,
      "Content-Length": Buffer.byteLength(body),
    };
    // Answers to POST are neither kept nor shown by browsers.
    if (request.method !== "POST") Object.assign(all, HEADERS);
    if (this.#isEnding) all.Connection = "close";
    if (cors !== undefined) {
      Object.assign(all, { "Access-Control-Allow-Origin": cors, "Access-Control-Allow-Headers": "*", Vary: "Origin" });
    }
    response.writeHead(status, headers === undefined ? all : Object.assign(all, headers));
    response.end(request.method === "HEAD" ? undefined : body);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
