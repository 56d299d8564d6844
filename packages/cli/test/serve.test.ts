/** The server gives the page and the model, with the headers threads need, and nothing from outside its folder. */

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
function raw(path: string, method = "GET"): Promise<{ status: number; body: string }> {
  const { port } = new URL(served.address);
  return new Promise((done, failed) => {
    const call = request({ host: "127.0.0.1", port, path, method }, (response) => {
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
