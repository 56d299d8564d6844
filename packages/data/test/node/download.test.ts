import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { CatalogueFile } from "../../src/index.ts";
import { type DownloadProgress, download } from "../../src/node/download.ts";
import { scratch } from "../python.ts";
import { expectRefusal } from "../rows.ts";

const content = Uint8Array.from({ length: 300_000 }, (_, i) => (i * 31 + (i >> 8)) & 255);
const sha256 = createHash("sha256").update(content).digest("hex");

interface Served {
  /** Bytes after which the connection is cut, for each request in turn; none: never. */
  readonly cuts?: number[];
  readonly status?: number;
  readonly bytes?: Uint8Array;
  /** Entity tag, for each request in turn, the last for all after. */
  readonly tags?: string[];
}

/** A server on this machine; `requests` keeps the range that each request asked for. */
async function serve({ cuts = [], status, bytes = content, tags = ['"v1"'] }: Served) {
  const requests: (string | undefined)[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const number = requests.push(request.headers.range) - 1;
    if (status !== undefined) {
      response.writeHead(status).end();
      return;
    }
    const tag = tags[Math.min(number, tags.length - 1)];
    const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? "");
    const from = range !== null && request.headers["if-range"] === tag ? Number(range[1]) : 0;
    const part = bytes.subarray(from);
    const headers = { etag: tag, "content-length": part.length };
    if (from > 0) {
      response.writeHead(206, { ...headers, "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` });
    } else response.writeHead(200, headers);
    const cut = cuts[number];
    if (cut === undefined) response.end(part);
    else response.write(part.subarray(0, cut), () => setTimeout(() => response.destroy(), 30));
  });
  await new Promise<void>((done) => {
    server.listen(0, "127.0.0.1", done);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/data.bin`;
  return { address, requests };
}

const fileAt = (...addresses: string[]): CatalogueFile => ({
  name: "data.bin",
  addresses,
  byteLength: content.length,
  sha256,
});

test("a file arrives whole, with progress", async () => {
  const { address } = await serve({});
  const path = join(scratch(), "deep", "data.bin");
  const progress: DownloadProgress[] = [];
  await download(fileAt(address), path, { onProgress: (step) => progress.push(step) });
  expect(readFileSync(path)).toEqual(Buffer.from(content));
  expect(progress.at(-1)).toEqual({ file: "data.bin", received: content.length, total: content.length });
  expect(progress.map((step) => step.received)).toEqual(progress.map((step) => step.received).sort((a, b) => a - b));
  expect(readdirSync(join(path, ".."))).toEqual(["data.bin"]);
});

test("a broken connection is mended within one call, going on where it stopped", async () => {
  const { address, requests } = await serve({ cuts: [100_000, 50_000] });
  const path = join(scratch(), "data.bin");
  await download(fileAt(address), path);
  expect(readFileSync(path)).toEqual(Buffer.from(content));
  expect(requests).toEqual([undefined, "bytes=100000-", "bytes=150000-"]);
});

test("an interrupted download leaves a part, and the next call goes on from there", async () => {
  const folder = scratch();
  const path = join(folder, "data.bin");
  const { address, requests } = await serve({ cuts: [120_000] });
  const stop = new AbortController();
  const stopped = download(fileAt(address), path, {
    signal: stop.signal,
    onProgress: ({ received }) => {
      if (received >= 120_000) stop.abort(new Error("stopped by hand"));
    },
  });
  await expect(stopped).rejects.toThrow("stopped by hand");
  expect(existsSync(path)).toBe(false);
  const kept = statSync(`${path}.part`).size;
  expect(kept).toBe(120_000);
  await download(fileAt(address), path);
  expect(requests.at(-1)).toBe("bytes=120000-");
  expect(readFileSync(path)).toEqual(Buffer.from(content));
  expect(readdirSync(folder)).toEqual(["data.bin"]);
});

test("a file that changed on the server is not glued to the old part", async () => {
  const { address, requests } = await serve({ cuts: [100_000], tags: ['"old"', '"new"'] });
  const path = join(scratch(), "data.bin");
  await download(fileAt(address), path);
  expect(requests).toEqual([undefined, "bytes=100000-"]);
  expect(readFileSync(path)).toEqual(Buffer.from(content));
});

test("a part that nobody vouches for is not used", async () => {
  const { address, requests } = await serve({});
  const path = join(scratch(), "data.bin");
  writeFileSync(`${path}.part`, "someone else's bytes");
  await download(fileAt(address), path);
  expect(requests).toEqual([undefined]);
  expect(readFileSync(path)).toEqual(Buffer.from(content));
});

describe("refusals leave nothing behind and name the reason", () => {
  test("another content", async () => {
    const folder = scratch();
    const { address } = await serve({ bytes: content.map((byte) => byte ^ 1) });
    await expectRefusal(download(fileAt(address), join(folder, "data.bin")), "bad-file", "data.bin", sha256, "found");
    expect(readdirSync(folder)).toEqual([]);
  });

  test("a file that is too long is not received to its end", async () => {
    const folder = scratch();
    const { address } = await serve({ bytes: new Uint8Array(5_000_000) });
    await expectRefusal(download(fileAt(address), join(folder, "data.bin")), "bad-file", "300000 bytes", "more");
    expect(readdirSync(folder)).toEqual([]);
  });

  test("no such file; the next address is tried", async () => {
    const missing = await serve({ status: 404 });
    const path = join(scratch(), "data.bin");
    await expectRefusal(download(fileAt(missing.address), path), "bad-file", missing.address, "404");
    const good = await serve({});
    await download(fileAt(missing.address, good.address), path);
    expect(readFileSync(path)).toEqual(Buffer.from(content));
  });

  test("no server at all, no address at all", async () => {
    const path = join(scratch(), "data.bin");
    await expectRefusal(download(fileAt("http://127.0.0.1:1/x"), path), "bad-file", "could not be downloaded");
    await expectRefusal(download(fileAt(), path), "bad-file", "address");
  });

  test("an MD5 is checked where there is no SHA-256", async () => {
    const { address } = await serve({});
    const file = { name: "data.bin", addresses: [address], md5: createHash("md5").update(content).digest("hex") };
    const path = join(scratch(), "data.bin");
    await download(file, path);
    expect(statSync(path).size).toBe(content.length);
    await expectRefusal(download({ ...file, md5: "0".repeat(32) }, `${path}2`), "bad-file", "md5");
  });
});
