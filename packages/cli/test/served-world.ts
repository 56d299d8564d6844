/** A folder with trained models, and servers of them that end with their test. */

import { readFileSync, writeFileSync } from "node:fs";
import { type ClassifierModel, type Dense, loadModel, type Model } from "@ranksim/core";
import { loadDigits, textReaders } from "@ranksim/data";
import { afterAll, afterEach, beforeAll } from "vitest";
import { hostsFor } from "../src/serve/access.ts";
import type { Limits } from "../src/serve/limits.ts";
import { ModelServer, type ServeOptions } from "../src/serve/server.ts";
import { EXAMPLE_CONTENTS, makeWorld, type World } from "./world.ts";

export let world: World;
export let digits: ClassifierModel;
const { x } = await loadDigits();
export const rows = Array.from({ length: 60 }, (_, r) => Array.from((x as Dense).row(r)));

beforeAll(async () => {
  world = makeWorld();
  for (const [name, content] of Object.entries(EXAMPLE_CONTENTS)) writeFileSync(world.path(name), content);
  await world.ranksim("train digits:train --estimator classifier --filters 60 --model digits.ranksim");
  await world.ranksim("train digits:train --estimator classifier --filters 30 --seed 5 --model other.model");
  await world.ranksim(
    "train plants.csv --label species --estimator classifier --set table=false --filters 9 --model plants.ranksim",
  );
  await world.ranksim("train reviews.csv --text --columns review:text --label stars --model reviews.ranksim");
  await world.ranksim("train digits:train --estimator transform --filters 20 --model features.ranksim");
  digits = modelAt("digits.ranksim") as ClassifierModel;
});
afterAll(() => world.remove());

export const modelAt = (name: string): Model => loadModel(readFileSync(world.path(name)), { readers: textReaders });

export let server: ModelServer | undefined;
afterEach(async () => {
  await server?.end(0);
  server = undefined;
});

export async function open(
  models: readonly string[],
  options: Partial<ServeOptions> & { limits?: Partial<Limits> } = {},
) {
  server = await ModelServer.open({
    models: models.map(world.path),
    host: "127.0.0.1",
    port: 0,
    access: { token: undefined, hosts: hostsFor("127.0.0.1", []), cors: undefined },
    watch: false,
    version: "0",
    ...options,
  });
  return server.address;
}

/** The server that is open, for a test that ends it itself. */
export function takeServer(): ModelServer {
  const taken = server as ModelServer;
  server = undefined;
  return taken;
}

export async function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
  const type = { "Content-Type": "application/json", ...headers };
  const response = await fetch(url, { method: "POST", body: text as BodyInit, headers: type });
  const content = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get("content-type") === "application/json";
  return {
    status: response.status,
    headers: response.headers,
    content,
    text: content.toString(),
    json: isJson ? JSON.parse(content.toString()) : undefined,
  };
}
