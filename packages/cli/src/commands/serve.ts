/** `ranksim serve`: models behind HTTP, until interrupted. */

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { RanksimError } from "@ranksim/core";
import { type Command, Option } from "commander";
import { wholeNumber } from "../flags/values.ts";
import type { Io } from "../io.ts";
import { versionOf } from "../provenance.ts";
import type { LogEvent } from "../serve/server.ts";
import { addCommonOptions, type CommonOptions, Session } from "../session.ts";
import { printable } from "../terminal/style.ts";

interface Options extends CommonOptions {
  readonly port: number;
  readonly host: string;
  readonly watch?: boolean;
  readonly tokenFile?: string;
  readonly allowHost: readonly string[];
  readonly cors?: string;
  readonly grace: number;
  readonly timeout: number;
  readonly maxBody: number;
  readonly maxRequests: number;
  readonly batchRows: number;
  readonly batchMs: number;
}

/** Adds the command. */
export function addServe(program: Command, io: Io): void {
  const number = (least: number) => (text: string) => wholeNumber(text, least);
  const add = (command: Command, flags: string, about: string, least: number, standard: number) =>
    command.addOption(new Option(flags, about).argParser(number(least)).default(standard));
  const command = program
    .command("serve")
    .summary("answer over HTTP: predict, explain, the Open Inference Protocol")
    .description(
      "Serves models over HTTP until interrupted: /predict and /explain take rows or texts as JSON, NDJSON or CSV; /v2 speaks the Open Inference Protocol, version 2, as KServe and Triton clients do. A model's name is its file's name without the ending. SIGHUP loads the files again.",
    )
    .argument("<models...>", "model files")
    .addOption(
      new Option("--port <n>", "port; 0: any free port")
        .argParser((text: string) => wholeNumber(text, 0, 65_535))
        .default(8080),
    )
    .option(
      "--host <address>",
      "address to listen on; protect any but this machine's own with --token-file",
      "127.0.0.1",
    )
    .option("--watch", "load a model again when its file changes")
    .option("--token-file <file>", "file that holds a token; requests must send it")
    .option(
      "--allow-host <name>",
      "a host name that requests may use besides the address; may be repeated",
      (name: string, all: readonly string[]) => [...all, name],
      [],
    )
    .option("--cors <origin>", "origin whose pages may send requests, or *");
  add(
    command,
    "--grace <ms>",
    "milliseconds between SIGTERM, when it is no longer ready, and the end of listening",
    0,
    5000,
  );
  add(command, "--timeout <ms>", "milliseconds that a request may take until it is answered", 1, 10_000);
  add(command, "--max-body <bytes>", "largest body", 1, 16 * 2 ** 20);
  add(command, "--max-requests <n>", "concurrent requests; more are answered with 503", 1, 256);
  add(command, "--batch-rows <n>", "rows that are searched together at most", 1, 1024);
  add(command, "--batch-ms <ms>", "milliseconds that a row may wait for others; 0 joins what arrives together", 0, 0);
  addCommonOptions(command).action((models: string[], options: Options) => serve(models, options, io));
}

async function serve(models: readonly string[], options: Options, io: Io): Promise<void> {
  const session = new Session(io, options);
  const [{ ModelServer }, { hostsFor, isLoopback }] = await Promise.all([
    import("../serve/server.ts"),
    import("../serve/access.ts"),
  ]);
  const token = options.tokenFile === undefined ? undefined : await readToken(options.tokenFile, io);
  const server = await ModelServer.open({
    models: models.map((path) => resolve(io.cwd, path)),
    host: options.host,
    port: options.port,
    access: { token, hosts: hostsFor(options.host, options.allowHost), cors: options.cors },
    watch: options.watch === true,
    version: versionOf(),
    limits: {
      graceMs: options.grace,
      timeoutMs: options.timeout,
      bodyBytes: options.maxBody,
      requests: options.maxRequests,
      batchRows: options.batchRows,
      batchMs: options.batchMs,
    },
    log: (event) => void log(event, options, io),
  });
  // From here on this command handles its own end.
  io.endsByItself?.();
  io.onHangup?.(() => void server.registry.reload());
  if (!isLoopback(options.host) && token === undefined) {
    await session.note(`anyone who reaches ${options.host} may ask; --token-file lets only those who have a token`);
  }
  const names = server.registry.names;
  await session.print(
    "serve",
    { address: server.address, models: names },
    () => `${server.address}\n${names.map((name) => `  ${name}\n`).join("")}Ctrl-C ends it.\n`,
  );
  await new Promise<void>((ended) => {
    if (io.signal.aborted) ended();
    io.signal.addEventListener("abort", () => ended(), { once: true });
  });
  // A person at a terminal does not have to wait; clients are told before the end.
  const isPerson = (io.signal.reason as { exitCode?: number } | undefined)?.exitCode === 130;
  await log({ event: "ending", level: "info" }, options, io);
  await server.end(isPerson ? 0 : options.grace);
  await log({ event: "ended", level: "info" }, options, io);
}

/** One line for each event, on standard error: JSON for programs. */
async function log({ event, level, ...fields }: LogEvent, { json, quiet }: Options, io: Io): Promise<void> {
  if (quiet && level !== "error") return;
  const line = json
    ? JSON.stringify({ time: new Date().toISOString(), level, event, ...fields })
    : `${event}${Object.entries(fields)
        .map(([name, value]) => ` ${name}=${printable(String(value))}`)
        .join("")}`;
  // A log that cannot be written is no reason to stop answering.
  await io.stderr.write(`${line}\n`).catch(() => undefined);
}

async function readToken(path: string, io: Io): Promise<string> {
  const token = (await readFile(resolve(io.cwd, path), "utf8")).trim();
  if (token !== "" && !/\s/.test(token)) return token;
  throw new RanksimError(
    "bad-params",
    `--token-file: ${path}: expected one word, found ${token === "" ? "none" : "several"}`,
  );
}
