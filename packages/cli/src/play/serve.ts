/**
 * Serves the built page on this machine only, with the two headers that let its worker use threads, and with a model beside
 * it if there is one. It answers GET and HEAD for files of one folder and nothing else.
 */

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { extname, join, resolve, sep } from "node:path";
import { gzipSync } from "node:zlib";

/** A file beside the page. */
export interface ServedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** What is served. */
export interface ServeOptions {
  /** Folder of the built page. */
  readonly folder: string;
  /** A model to open the page with, and rows to look at with it; each is served under its name. */
  readonly model?: ServedFile;
  readonly data?: ServedFile;
  /** 0, the default, takes any free port. */
  readonly port?: number;
}

/** A page that is being served. */
export interface Served {
  /** Address to open, with the model in it if there is one. */
  readonly address: string;
  close(): Promise<void>;
}

const TYPES: { readonly [ending: string]: string } = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".json": "application/json",
  ".png": "image/png",
};

/** The page loads nothing from elsewhere; its worker compiles WebAssembly, pictures are drawn into blobs and data addresses. */
const policyFor = (inline: string): string =>
  [
    "default-src 'self'",
    `script-src 'self' 'wasm-unsafe-eval' blob:${inline}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' blob: data:",
    "connect-src 'self' blob: data:",
    "worker-src 'self' blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/** The scripts that a page of ours has within itself, by their digests: no other may run. */
function inlineScripts(page: Uint8Array): string {
  const scripts = new TextDecoder().decode(page).matchAll(/<script>([\s\S]*?)<\/script>/g);
  return Array.from(scripts, ([, text]) => ` 'sha256-${createHash("sha256").update(text).digest("base64")}'`).join("");
}

const HEADERS = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-cache",
};

/** Starts to serve; resolves when the address can be opened. */
export async function servePage({ folder, model, data, port = 0 }: ServeOptions): Promise<Served> {
  const root = resolve(folder);
  // The page takes names of this form only, and a name must not hide a file of the page.
  const beside = Object.entries({ model, data }).flatMap(([role, file]) =>
    file ? [{ role, name: `${role}-${file.name.replace(/[^\w.-]+/g, "-")}`, bytes: file.bytes }] : [],
  );
  const server = createServer(async (request, response) => {
    // Other names could be another site's that were made to lead here.
    if (!isLoopback(request.headers.host)) return answer(response, 403);
    if (request.method !== "GET" && request.method !== "HEAD") return answer(response, 405);
    const path = pathOf(request.url ?? "/");
    if (path === undefined) return answer(response, 400);
    const asked = beside.find(({ name }) => path === `/${name}`);
    if (asked) return answer(response, 200, asked.bytes, "application/octet-stream");
    const file = join(root, path.endsWith("/") ? `${path}index.html` : path);
    if (!file.startsWith(root + sep)) return answer(response, 404);
    try {
      answer(response, 200, await readFile(file), TYPES[extname(file)] ?? "application/octet-stream");
    } catch {
      answer(response, 404);
    }
  });
  await new Promise<void>((listening, failed) => {
    server.once("error", failed);
    server.listen(port, "127.0.0.1", () => listening());
  });
  const { port: taken } = server.address() as { port: number };
  const view = new URLSearchParams(Object.fromEntries(beside.map(({ role, name }) => [role, name]))).toString();
  return {
    address: `http://127.0.0.1:${taken}/${view ? `#${view}` : ""}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

/** Whether a Host header names this machine by a name that no other site can have. */
function isLoopback(host: string | undefined): boolean {
  return /^(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d{1,5})?$/i.test(host ?? "");
}

/** The decoded path of a request, or undefined for one that cannot be decoded. */
function pathOf(url: string): string | undefined {
  try {
    const path = decodeURIComponent(new URL(url, "http://page").pathname);
    return path.includes("\0") ? undefined : path;
  } catch {
    return undefined;
  }
}

/** Types that become much smaller. */
const COMPRESSIBLE = /^(text\/|application\/(json|wasm)|image\/svg)/;

function answer(
  response: ServerResponse,
  status: number,
  body: Uint8Array = new Uint8Array(0),
  type = "text/plain",
): void {
  const { method, headers } = response.req;
  const policy = { "Content-Security-Policy": policyFor(type.startsWith("text/html") ? inlineScripts(body) : "") };
  const tag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  if (
    status === 200 &&
    (headers["if-none-match"] ?? "").split(",").some((known) => known.trim().replace(/^W\//, "") === tag)
  ) {
    response.writeHead(304, { ...HEADERS, ...policy, ETag: tag });
    response.end();
    return;
  }
  const accepted = (headers["accept-encoding"] ?? "").split(",").map((word) => word.trim().split(";")[0]);
  const isSmaller = status === 200 && COMPRESSIBLE.test(type) && accepted.includes("gzip");
  const sent = isSmaller ? gzipSync(body) : body;
  response.writeHead(status, {
    ...HEADERS,
    ...policy,
    ...(status === 200 ? { ETag: tag, Vary: "Accept-Encoding" } : {}),
    ...(isSmaller ? { "Content-Encoding": "gzip" } : {}),
    "Content-Type": type,
    "Content-Length": sent.byteLength,
  });
  response.end(method === "HEAD" ? undefined : sent);
}
