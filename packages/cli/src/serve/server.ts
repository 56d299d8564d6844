/**
 * The server: sockets, limits and the end. Routes answer; here requests are counted, refused where there are too many, cut off
 * where they take too long, and finished when the server is to end. node:http is enough for a dozen routes; a framework would
 * cost more of each request than all that is done here.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Access, checkAccess } from "./access.ts";
import { readBody } from "./body.ts";
import { asHttpError, Gone, HttpError, tooBusy } from "./http-error.ts";
import { DEFAULT_LIMITS, type Limits } from "./limits.ts";
import { Metrics } from "./metrics.ts";
import { ModelRegistry } from "./registry.ts";
import { type Answer, isOpen, routeOf, type Service } from "./routes.ts";
import { type Running, RunningList } from "./running.ts";

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
/** Milliseconds without a new connection after which none is expected, and for which answers are kept back until then. */
const QUIET_MS = 10;
const MOST_QUIET_MS = 500;
const NO_QUERY = new URLSearchParams();

/** Models behind a port. */
export class ModelServer {
  readonly #server: Server;
  readonly #service: Service;
  readonly #limits: Limits;
  readonly #access: Access;
  readonly #log: (event: LogEvent) => void;
  readonly registry: ModelRegistry;
  readonly #running: RunningList;
  readonly #overseer: NodeJS.Timeout;
  #isReady = true;
  #accepted = 0;
  #closing: Promise<void> | undefined;

  private constructor(options: ServeOptions, limits: Limits) {
    const metrics = new Metrics();
    this.#log = options.log ?? (() => undefined);
    this.#limits = limits;
    this.#access = options.access;
    this.#running = new RunningList(limits);
    this.registry = new ModelRegistry(limits, {
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
      registry: this.registry,
      metrics,
      version: options.version,
      limits,
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
    this.#server.on("connection", () => this.#accepted++);
    this.#server.maxConnections = MOST_CONNECTIONS;
    // A client that takes nothing of its answer for this long is cut off; later than a request that takes too long is refused.
    this.#server.setTimeout(limits.timeoutMs + 4 * CHECK_MS);
  }

  /** Loads the models and listens; the models are ready when it resolves. */
  static async open(options: ServeOptions): Promise<ModelServer> {
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    const server = new ModelServer(options, limits);
    try {
      for (const path of options.models) await server.registry.add(path);
      await new Promise<void>((listening, failed) => {
        server.#server.once("error", failed);
        server.#server.listen({ port: options.port, host: options.host, backlog: BACKLOG }, () => listening());
      });
    } catch (error) {
      clearInterval(server.#overseer);
      await server.registry.close();
      throw error;
    }
    if (options.watch) server.registry.watch();
    return server;
  }

  /** Where it can be reached. */
  get address(): string {
    const { address, family, port } = this.#server.address() as AddressInfo;
    return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
  }

  /**
   * Ends: not ready at once, so that no new clients are sent here, and each connection ends with its next answer; after the
   * grace period no more connections; resolves when all that was accepted is answered.
   */
  async end(graceMs = this.#limits.graceMs): Promise<void> {
    this.#isReady = false;
    await new Promise((passed) => setTimeout(passed, graceMs));
    await new Promise<void>((closed) => {
      this.#closing = this.#stopListening(Math.min(graceMs, MOST_QUIET_MS), closed);
    });
    clearInterval(this.#overseer);
    await this.registry.close();
  }

  /**
   * Connections that wait to be accepted when listening ends are reset. Answers are kept back for this moment: clients that wait
   * for one do not connect again.
   */
  async #stopListening(mostMs: number, closed: () => void): Promise<void> {
    const until = performance.now() + mostMs;
    for (let before = -1; before < this.#accepted && performance.now() < until; ) {
      before = this.#accepted;
      await new Promise((passed) => setTimeout(passed, QUIET_MS));
    }
    // What is idle is closed with it, but not connections whose first request is on its way.
    this.#server.close(() => closed());
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
      // A browser asks for leave before it sends a token.
      const isPreflight = method === "OPTIONS" && this.#access.cors !== undefined;
      checkAccess(request, this.#access, isPreflight || isOpen(path));
      if (isPreflight) answer = { status: 204, type: "text/plain", body: "" };
      else {
        const found = routeOf({ method, path });
        route = found.name;
        const asker = this.#running.add(request, response, began);
        running = asker;
        const query = mark < 0 ? NO_QUERY : new URLSearchParams(url.slice(mark + 1));
        const body = () => readBody(asker, this.#limits.bodyBytes);
        answer = await found.run({ method, path, query, headers: request.headers, body, asker }, this.#service);
      }
    } catch (error) {
      if (!(error instanceof Gone)) answer = this.#refusal(error, method, url);
    }
    if (this.#closing) await this.#closing;
    if (answer !== undefined) this.#send(request, response, answer);
    if (running) this.#running.finish(running);
    const status = response.headersSent ? response.statusCode : 499;
    this.#service.metrics.request(route, status, (performance.now() - began) / 1000);
  }

  /** Refuses requests that have taken too long, and drops what is left of their work. One timer looks after all of them. */
  #cutLate(): void {
    const now = performance.now();
    const { timeoutMs } = this.#limits;
    for (let late = this.#running.first; late && late.deadline <= now; late = this.#running.first) {
      this.#running.leave(late);
      const { request, response } = late;
      if (response.headersSent) {
        // A client that takes its answer too slowly.
        response.destroy();
        continue;
      }
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
    if (!this.#isReady) all.Connection = "close";
    if (cors !== undefined) {
      // The star stands for all headers but Authorization.
      const allowed = "*, Authorization";
      Object.assign(all, {
        "Access-Control-Allow-Origin": cors,
        "Access-Control-Allow-Headers": allowed,
        Vary: "Origin",
      });
    }
    response.writeHead(status, headers === undefined ? all : Object.assign(all, headers));
    response.end(request.method === "HEAD" ? undefined : body);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
