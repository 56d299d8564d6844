/** The server gives the page and the model, with the headers threads need, and nothing from outside its folder. */

import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Served, servePage } from "../src/play/serve.ts";

let folder: string;
let served: Served;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "ranksim-serve-"));
  await mkdir(join(folder, "page/assets"), { recursive: true });
  await writeFile(join(folder, "page/index.html"), "<p>page</p>");
  await writeFile(join(folder, "page/assets/a.js"), "1");
  await writeFile(join(folder, "page/inline.html"), "<script>alert(1)</script>");
  await writeFile(join(folder, "secret.txt"), "secret");
  served = await servePage({
    folder: join(folder, "page"),
    model: { name: "a b.model", bytes: Uint8Array.of(1, 2, 3) },
  });
});
afterAll(async () => {
  await served.close();
  await rm(folder, { recursive: true, force: true });
});

/** A request whose path reaches the server as it is written. */
function raw(
  path: string,
  method = "GET",
  headers: { [name: string]: string } = {},
): Promise<{ status: number; body: string }> {
  const { port } = new URL(served.address);
  return new Promise((done, failed) => {
    const call = request({ host: "127.0.0.1", port, path, method, headers }, (response) => {
      let body = "";
      response.on("data", (chunk) => {
        body += chunk;
      });
      response.on("end", () => done({ status: response.statusCode ?? 0, body }));
    });
    call.on("error", failed);
    call.end();
  });
}

it("serves the page isolated, so that threads work", async () => {
  const response = await fetch(served.address);
  expect(await response.text()).toBe("<p>page</p>");
  expect(response.headers.get("Cross-Origin-Opener-Policy")).toBe("same-origin");
  expect(response.headers.get("Cross-Origin-Embedder-Policy")).toBe("require-corp");
  expect(response.headers.get("Content-Type")).toBe("text/html; charset=utf-8");
});

it("serves the model under the name that its address says", async () => {
  const name = new URLSearchParams(new URL(served.address).hash.slice(1)).get("model");
  expect(name).toBe("model-a-b.model");
  const response = await fetch(new URL(`/${name}`, served.address));
  expect(new Uint8Array(await response.arrayBuffer())).toEqual(Uint8Array.of(1, 2, 3));
});

it.each([
  "/../secret.txt",
  "/..%2fsecret.txt",
  "/assets/..%2f..%2fsecret.txt",
  "/%2e%2e/secret.txt",
  "/none",
  "/assets",
])("does not give %s", async (path) => {
  const { status, body } = await raw(path);
  expect(status).toBe(404);
  expect(body).toBe("");
});

it("refuses what cannot be decoded and what is no reading", async () => {
  expect((await raw("/%ff")).status).toBe(400);
  expect((await raw("/a%00b")).status).toBe(400);
  expect((await raw("/", "POST")).status).toBe(405);
  expect(await raw("/assets/a.js", "HEAD")).toEqual({ status: 200, body: "" });
});

it("answers names of this machine only", async () => {
  const { port } = new URL(served.address);
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, "localhost", `[::1]:${port}`, `LOCALHOST:${port}`]) {
    expect((await raw("/", "GET", { host })).status, host).toBe(200);
  }
  for (const host of ["evil.example", `evil.example:${port}`, "localhost.evil.example", "127.0.0.1.evil.example"]) {
    expect(await raw("/", "GET", { host }), host).toEqual({ status: 403, body: "" });
  }
});

it("lets the page load nothing from elsewhere", async () => {
  const policy = (await fetch(served.address)).headers.get("Content-Security-Policy");
  expect(policy).toContain("default-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/https?:|\*|sha256/);
  // The digest of the script that the page has within itself, and no other.
  const digest = createHash("sha256").update("alert(1)").digest("base64");
  const inline = await fetch(new URL("/inline.html", served.address));
  expect(inline.headers.get("Content-Security-Policy")).toContain(` 'sha256-${digest}';`);
});

it("sends what a browser has already only once", async () => {
  const first = await fetch(new URL("/assets/a.js", served.address));
  const tag = first.headers.get("ETag") as string;
  expect(tag).toMatch(/^"[\w-]{22}"$/);
  const again = (known: string) => raw("/assets/a.js", "GET", { "if-none-match": known });
  expect(await again(tag)).toEqual({ status: 304, body: "" });
  expect(await again(`"other", W/${tag}`)).toEqual({ status: 304, body: "" });
  expect(await again('"other"')).toEqual({ status: 200, body: "1" });
});
