/** Requests a second of a server: kept connections, each of which asks again as soon as it is answered. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { execPath } from "node:process";
import type { Measured } from "../runner/results.ts";

const CONNECTIONS = 64;
const WARM_SECONDS = 2;
const SECONDS = 5;
/** Connections of an overload for one of an ordinary load, and how long single requests are timed before and after it at most. */
const OVERLOAD = 10;
/** An ordinary load before it, after which the server has the memory that it needs for one. */
const USUAL_SECONDS = 60;
const ALONE_SECONDS = 20;

/** A server that parses the same body and answers a constant: what Node's own HTTP leaves room for. */
export const BARE = [
  "-e",
  `require("node:http").createServer((asked, answer) => {
    let body = "";
    asked.on("data", (part) => { body += part; });
    asked.on("end", () => { JSON.parse(body); answer.end('{"labels":[0]}'); });
  }).listen(0, "127.0.0.1", function () { console.log("http://127.0.0.1:" + this.address().port); });`,
];

/** Starts the server and asks it about one row over and over; seconds of the processor are the server's. */
export function measureServer(args: readonly string[], features: number): Promise<Measured> {
  return withServer(args, features, async (server, asking) => {
    const before = processorSeconds(server.pid);
    const { answered } = await ask(asking, SECONDS, CONNECTIONS);
    const cpu = (processorSeconds(server.pid) - before) / answered;
    return { figures: { requests: answered / SECONDS, request: cpu } };
  });
}

/** What one connection waits for an answer, and the server's memory, before and after an overload. */
export function measureRecovery(args: readonly string[], features: number, seconds: number): Promise<Measured> {
  return withServer(args, features, async (server, asking) => {
    const alone = Math.min(seconds, ALONE_SECONDS);
    await ask(asking, Math.min(seconds, USUAL_SECONDS), CONNECTIONS);
    const calm = await timeAlone(asking, alone);
    const memory = residentBytes(server.pid);
    const { refused } = await ask(asking, seconds, OVERLOAD * CONNECTIONS);
    const later = await timeAlone(asking, alone);
    const memoryLater = residentBytes(server.pid);
    return { figures: { calm, later, memory, memoryLater, overload: seconds, refused } };
  });
}

/** Where a server is asked, and what. */
interface Asking {
  readonly port: number;
  readonly body: string;
}

async function withServer(
  args: readonly string[],
  features: number,
  measure: (server: ChildProcess, asking: Asking) => Promise<Measured>,
): Promise<Measured> {
  const server = spawn(execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(server, "exit");
  try {
    const port = await portOf(server);
    const body = JSON.stringify({ rows: [Array.from({ length: features }, (_, i) => (i * 37) % 256)] });
    await ask({ port, body }, WARM_SECONDS, CONNECTIONS);
    return await measure(server, { port, body });
  } finally {
    server.kill("SIGKILL");
    await ended;
  }
}

async function portOf(server: ChildProcess): Promise<number> {
  let printed = "";
  for await (const part of server.stdout ?? []) {
    printed += part;
    const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(printed);
    if (found) return Number(found[1]);
  }
  throw new Error("the server ended before it served");
}

/** How many requests were answered, and how many told to come back. */
async function ask(
  asking: Asking,
  seconds: number,
  connections: number,
): Promise<{ readonly answered: number; readonly refused: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const until = performance.now() + seconds * 1000;
  const counts = { answered: 0, refused: 0 };
  const client = async () => {
    while (performance.now() < until) counts[(await askOnce(agent, asking)) ? "answered" : "refused"]++;
  };
  await Promise.all(Array.from({ length: connections }, client));
  agent.destroy();
  return counts;
}

/** The 99th percentile of the seconds that one connection waits for an answer. */
async function timeAlone(asking: Asking, duration: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const until = performance.now() + duration * 1000;
  const seconds: number[] = [];
  while (performance.now() < until) {
    const began = performance.now();
    if (!(await askOnce(agent, asking))) throw new Error("expected an answer, found a refusal without any load");
    seconds.push((performance.now() - began) / 1000);
  }
  agent.destroy();
  return seconds.sort((a, b) => a - b)[Math.floor(0.99 * seconds.length)];
}

/** Whether it was answered and not told to come back. */
function askOnce(agent: Agent, { port, body }: Asking): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const asked = request({ agent, port, host: "127.0.0.1", path: "/predict", method: "POST", headers }, (answer) => {
      const { statusCode } = answer;
      if (statusCode !== 200 && statusCode !== 503) reject(new Error(`expected 200 or 503, found ${statusCode}`));
      answer.resume();
      answer.on("end", () => resolve(statusCode === 200));
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

function residentBytes(pid: number | undefined): number {
  return 1024 * Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

/** Time in user and system mode, all threads; the kernel counts in hundredths of a second. */
function processorSeconds(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
