/**
 * A client that asks as fast as it is answered, over several kept connections, each with one request at a time, on plain sockets,
 * so that little of the machine goes into asking.
 */

import { connect, type Socket } from "node:net";

/** What is sent, and what may come back. */
export interface Target {
  readonly port: number;
  readonly path: string;
  /** Bodies in turns. */
  readonly bodies: readonly Buffer[];
  readonly connections: number;
  readonly seconds: number;
  /** Whether an answer to a body is right; told the number of the body. */
  readonly isRight?: (body: number, status: number, answer: string) => boolean;
  /** The share of requests whose connection is cut off before the answer. */
  readonly abortShare?: number;
}

/** What came back. */
export interface Load {
  readonly answered: number;
  readonly rate: number;
  readonly byStatus: { readonly [status: string]: number };
  readonly wrong: number;
  /** Requests whose connection the server ended without an answer. */
  readonly lost: number;
  readonly aborted: number;
  /** Milliseconds. */
  readonly median: number;
  readonly p99: number;
  readonly slowest: number;
}

/** Sends requests for the given number of seconds. */
export async function load(target: Target): Promise<Load> {
  const heads = target.bodies.map((body) =>
    Buffer.concat([
      Buffer.from(
        `POST ${target.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
      ),
      body,
    ]),
  );
  const times: number[] = [];
  const byStatus: { [status: string]: number } = {};
  const counts = { wrong: 0, lost: 0, aborted: 0 };
  const began = performance.now();
  const end = began + 1000 * target.seconds;
  let next = 0;
  await Promise.all(
    Array.from({ length: target.connections }, async () => {
      let connection = await Connection.open(target.port);
      while (performance.now() < end) {
        const body = next++ % heads.length;
        if (target.abortShare && Math.random() < target.abortShare) {
          connection.abort(heads[body]);
          counts.aborted++;
          connection = await Connection.open(target.port);
          continue;
        }
        const sent = performance.now();
        const answer = await connection.ask(heads[body]);
        if (answer === undefined) {
          counts.lost++;
          connection = await Connection.open(target.port);
          continue;
        }
        times.push(performance.now() - sent);
        byStatus[answer.status] = (byStatus[answer.status] ?? 0) + 1;
        if (target.isRight && !target.isRight(body, answer.status, answer.body)) counts.wrong++;
      }
      connection.close();
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? Number.NaN;
  return {
    answered: times.length,
    rate: times.length / seconds,
    byStatus,
    ...counts,
    median: at(0.5),
    p99: at(0.99),
    slowest: at(1),
  };
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** One kept connection. */
class Connection {
  readonly #socket: Socket;
  #settle: ((answer: Answer | undefined) => void) | undefined;
  #received: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk) => this.#take(chunk));
    socket.on("close", () => this.#finish(undefined));
    socket.on("error", () => undefined);
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => resolve(new Connection(socket)));
      socket.once("error", reject);
    });
  }

  /** The answer, or undefined where the connection ended before it. */
  ask(request: Buffer): Promise<Answer | undefined> {
    return new Promise((settle) => {
      this.#settle = settle;
      if (this.#socket.destroyed) this.#finish(undefined);
      else this.#socket.write(request);
    });
  }

  /** Sends a part of a request and goes. */
  abort(request: Buffer): void {
    this.#socket.write(request.subarray(0, Math.floor(Math.random() * request.length)), () => this.#socket.destroy());
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const head = this.#received.indexOf("\r\n\r\n");
    if (head < 0) return;
    const text = this.#received.toString("latin1", 0, head);
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
    if (this.#received.length < head + 4 + length) return;
    const body = this.#received.toString("utf8", head + 4, head + 4 + length);
    this.#received = Buffer.alloc(0);
    this.#finish({ status: Number(text.slice(9, 12)), body });
  }

  #finish(answer: Answer | undefined): void {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(answer);
  }
}
