/** `ranksim serve`: answers that equal those of single calls, refusals that say what and where, limits, swaps, the end. */

import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { type ClassifierModel, type Dense, loadModel, type Model } from "@ranksim/core";
import { loadDigits, textReaders } from "@ranksim/data";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { hostsFor } from "../src/serve/access.ts";
import type { Limits } from "../src/serve/limits.ts";
import { Metrics } from "../src/serve/metrics.ts";
import type { ServedModel } from "../src/serve/served-model.ts";
import { type LogEvent, ModelServer, type ServeOptions } from "../src/serve/server.ts";
import { EXAMPLE_CONTENTS, makeWorld, type World } from "./world.ts";

let world: World;
let digits: ClassifierModel;
const { x } = await loadDigits();
const rows = Array.from({ length: 60 }, (_, r) => Array.from((x as Dense).row(r)));

beforeAll(async () => {
  world = makeWorld();
  for (const [name, content] of Object.entries(EXAMPLE_CONTENTS)) writeFileSync(world.path(name), content);
  await world.ranksim("train digits:train --estimator classifier --filters 60 --model digits.ranksim");
  await world.ranksim("train digits:train --estimator classifier --filters 30 --seed 5 --model other.model");
  await world.ranksim("train plants.csv --label-column species --filters 9 --model plants.ranksim");
  await world.ranksim("train reviews.csv --text --text-column review --label-column stars --model reviews.ranksim");
  await world.ranksim("train digits:train --estimator transform --filters 20 --model features.ranksim");
  digits = modelAt("digits.ranksim") as ClassifierModel;
});
afterAll(() => world.remove());

const modelAt = (name: string): Model => loadModel(readFileSync(world.path(name)), { readers: textReaders });

let server: ModelServer | undefined;
afterEach(async () => {
  await server?.end(0);
  server = undefined;
});

async function open(models: readonly string[], options: Partial<ServeOptions> & { limits?: Partial<Limits> } = {}) {
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

async function post(url: string, body: unknown, headers: Record<string, string> = {}) {
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

describe("/predict", () => {
  test("gives many requests at once what single calls give", async () => {
    const address = await open(["digits.ranksim"]);
    const expected = await digits.predict(rows);
    const found = await Promise.all(rows.map((row) => post(`${address}/predict`, { rows: [row] })));
    expect(found.map(({ json }) => json.labels[0])).toEqual(expected);
    const shares = (await digits.predictProbabilities(rows)).values;
    const mixed = await Promise.all(
      rows.map((row, r) => post(`${address}/predict`, { rows: [row], probabilities: r % 2 === 0 })),
    );
    for (const [r, { json }] of mixed.entries()) {
      expect(json.labels).toEqual([expected[r]]);
      if (r % 2 === 0) expect(json.probabilities[0]).toEqual(Array.from(shares.subarray(r * 10, r * 10 + 10)));
      else expect(json).not.toHaveProperty("probabilities");
    }
    const metrics = await (await fetch(`${address}/metrics`)).text();
    const searches = Number(/ranksim_searches_total\{model="digits"\} (\d+)/.exec(metrics)?.[1]);
    // One to warm up, at most one for each request; with many at once they share.
    expect(searches).toBeLessThan(1 + 2 * rows.length);
  });

  test("cuts a request of many rows and joins numbers of other kinds", async () => {
    const address = await open(["digits.ranksim"], { limits: { batchRows: 7 } });
    const halves = rows.map((row) => row.map((value) => value + 0.5));
    const [whole, half] = await Promise.all([
      post(`${address}/predict`, { rows, probabilities: true }),
      post(`${address}/predict`, { rows: halves }),
    ]);
    expect(whole.json.labels).toEqual(await digits.predict(rows));
    const shares = (await digits.predictProbabilities(rows)).values;
    expect(whole.json.probabilities.flat()).toEqual(Array.from(shares));
    expect(half.json.labels).toEqual(await digits.predict(halves));
  });

  test("takes one row, a list, NDJSON and CSV, and answers in kind", async () => {
    const address = await open(["digits.ranksim"]);
    const expected = await digits.predict(rows.slice(0, 3));
    expect((await post(`${address}/predict`, rows[0])).json.labels).toEqual([expected[0]]);
    expect((await post(`${address}/predict`, rows.slice(0, 3))).json.labels).toEqual(expected);
    const lines = rows.slice(0, 3).map((row) => JSON.stringify(row));
    const ndjson = await post(`${address}/predict`, lines.join("\n"), { "Content-Type": "application/x-ndjson" });
    expect(ndjson.text).toBe(expected.map((label) => `{"label":${label}}\n`).join(""));
    const csv = await post(`${address}/predict`, rows.slice(0, 3).join("\n"), { "Content-Type": "text/csv" });
    expect(csv.text).toBe(`label\n${expected.join("\n")}\n`);
    const top = await post(`${address}/predict?top=2`, rows[0]);
    expect(top.json.top[0]).toHaveLength(2);
    expect(top.json.top[0][0].probability).toBeGreaterThanOrEqual(top.json.top[0][1].probability);
  });

  test("finds columns by the names the model was trained with", async () => {
    const address = await open(["plants.ranksim"]);
    const [head, ...lines] = EXAMPLE_CONTENTS["plants.csv"].trim().split("\n");
    const names = head.split(",").slice(0, 10);
    const numbers = lines.map((line) => line.split(",").slice(0, 10).map(Number));
    const expected = await (modelAt("plants.ranksim") as ClassifierModel).predict(numbers);
    const turned = numbers.map((row) =>
      Object.fromEntries(
        names
          .map((name, i) => [name, row[i]] as const)
          .toReversed()
          .concat([["note", 1]]),
      ),
    );
    expect((await post(`${address}/predict`, { rows: turned })).json.labels).toEqual(expected);
    const csv = [names.toReversed().join(","), ...numbers.map((row) => row.toReversed().join(","))].join("\n");
    const answered = await post(`${address}/predict`, csv, { "Content-Type": "text/csv" });
    expect(answered.text.trim().split("\n").slice(1)).toEqual(expected);
    const { "measure 3": _, ...lacking } = turned[0];
    const refused = await post(`${address}/predict`, { rows: [lacking] });
    expect([refused.status, refused.json.error]).toEqual([400, expect.stringContaining('"measure 3"')]);
    const tensors = names.map((name, i) => ({
      name,
      datatype: "FP64",
      shape: [numbers.length],
      data: numbers.map((row) => row[i]),
    }));
    const inferred = await post(`${address}/v2/models/plants/infer`, { inputs: tensors.toReversed() });
    expect(inferred.json.outputs[0].data).toEqual(expected);
  });

  test("takes texts, as JSON and as lines", async () => {
    const address = await open(["reviews.ranksim"]);
    const texts = ["a lovely film", "a dull plot"];
    const found = await post(`${address}/predict`, { texts });
    expect(found.json.labels).toEqual([5, 1]);
    const lines = await post(`${address}/predict`, `${texts.join("\n")}\n`, { "Content-Type": "text/plain" });
    expect(lines.text).toBe("5\n1\n");
    const inputs = [{ name: "text", datatype: "BYTES", shape: [2], data: texts }];
    expect((await post(`${address}/v2/models/reviews/infer`, { inputs })).json.outputs[0].data).toEqual([5, 1]);
    const why = await post(`${address}/explain`, { texts: [texts[0]] });
    expect(why.json.label).toBe(5);
    expect(why.json.contributions.map(({ name }: { name: string }) => name)).toContain("lovely");
  });

  test.each([
    ["{", 400, /the body is not JSON/],
    ["7", 400, /expected a list of rows or an object, found 7/],
    ['{"cells": []}', 400, /expected "rows" or "texts", found "cells"/],
    ['{"rows": 3}', 400, /rows: expected a list, found 3/],
    ["[[1, 2]]", 400, /row 0: the model has 64 features, the row has 2/],
    [JSON.stringify([rows[0], rows[0].with(3, "x" as never)]), 400, /row 1, column 3: expected a number, found "x"/],
    [JSON.stringify([rows[0].with(3, null as never)]), 400, /row 0, column 3: expected a number, found null/],
    ['{"rows": [[1e999]]}', 400, /row 0: the model has 64 features/],
    ['{"texts": ["a"]}', 400, /model digits: expected rows of numbers, found texts/],
    ['{"rows": [], "model": "none"}', 404, /no model is called "none"; there is digits/],
    ['{"rows": [], "top": 0}', 400, /top: expected a whole number from 1 on, found 0/],
  ])("refuses %s", async (body, status, message) => {
    const address = await open(["digits.ranksim"]);
    const found = await post(`${address}/predict`, body);
    expect([found.status, found.json.error]).toEqual([status, expect.stringMatching(message)]);
  });

  test("refuses other types, paths and methods, and a model that does not predict", async () => {
    const address = await open(["digits.ranksim", "features.ranksim"]);
    const image = await post(`${address}/predict?model=digits`, "x", { "Content-Type": "image/png" });
    expect([image.status, image.json.error]).toEqual([415, expect.stringContaining("found image/png")]);
    expect((await fetch(`${address}/nowhere`)).status).toBe(404);
    const get = await fetch(`${address}/predict`);
    expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"]);
    expect((await post(`${address}/predict`, rows[0])).json.error).toMatch(/several models .* digits, features/);
    expect((await post(`${address}/predict?model=features`, rows[0])).json.error).toMatch(/does not predict/);
  });
});

describe("the Open Inference Protocol", () => {
  test("tells of server and models", async () => {
    const address = await open(["digits.ranksim", "features.ranksim"]);
    const get = async (path: string) => {
      const response = await fetch(address + path);
      return { status: response.status, json: await response.json() };
    };
    expect((await get("/v2")).json.extensions).toEqual(["binary_tensor_data"]);
    expect((await get("/v2/health/live")).status).toBe(200);
    expect((await get("/v2/health/ready")).status).toBe(200);
    const { json } = await get("/v2/models/digits");
    expect(json.inputs).toEqual([{ name: "rows", datatype: "FP64", shape: [-1, 64] }]);
    expect(json.outputs.map(({ name }: { name: string }) => name)).toEqual(["label", "probabilities"]);
    expect((await get(`/v2/models/digits/versions/${json.versions[0]}/ready`)).status).toBe(200);
    expect((await get("/v2/models/digits/versions/7")).json.error).toMatch(/its version is \w{16}, not "7"/);
    expect((await get("/v2/models/nobody")).status).toBe(404);
    expect((await get("/v2/models/features")).json.outputs).toEqual([
      { name: "similarities", datatype: "FP64", shape: [-1, 20] },
    ]);
  });

  test("takes tensors in JSON, flat or nested, and gives the outputs asked for", async () => {
    const address = await open(["digits.ranksim"]);
    const url = `${address}/v2/models/digits/infer`;
    const few = rows.slice(0, 4);
    const nested = await post(url, {
      id: "a",
      inputs: [{ name: "rows", datatype: "FP32", shape: [4, 64], data: few }],
    });
    expect(nested.json).toMatchObject({ model_name: "digits", id: "a" });
    const [label, shares] = nested.json.outputs;
    expect(label).toEqual({ name: "label", datatype: "INT64", shape: [4], data: await digits.predict(few) });
    expect(shares.data).toEqual(Array.from((await digits.predictProbabilities(few)).values));
    const flat = await post(url, {
      inputs: [{ name: "rows", datatype: "UINT8", shape: [4, 64], data: few.flat() }],
      outputs: [{ name: "label" }],
    });
    expect(flat.json.outputs).toEqual([label]);
  });

  test("takes and gives bytes", async () => {
    const address = await open(["digits.ranksim"]);
    const few = rows.slice(0, 5);
    for (const [datatype, bytes] of [
      ["UINT8", Buffer.from(few.flat())],
      ["FP64", Buffer.from(Float64Array.from(few.flat()).buffer)],
      ["INT64", Buffer.from(BigInt64Array.from(few.flat().map(BigInt)).buffer)],
    ] as const) {
      const head = Buffer.from(
        JSON.stringify({
          inputs: [{ name: "rows", datatype, shape: [5, 64], parameters: { binary_data_size: bytes.length } }],
          outputs: [{ name: "probabilities", parameters: { binary_data: true } }, { name: "label" }],
        }),
      );
      const { content, headers, status } = await post(
        `${address}/v2/models/digits/infer`,
        Buffer.concat([head, bytes]),
        { "Content-Type": "application/octet-stream", "Inference-Header-Content-Length": String(head.length) },
      );
      expect(status).toBe(200);
      const length = Number(headers.get("inference-header-content-length"));
      const { outputs } = JSON.parse(content.subarray(0, length).toString());
      expect(outputs[0].parameters.binary_data_size).toBe(8 * 50);
      expect(outputs[1].data).toEqual(await digits.predict(few));
      const shares = content.buffer.slice(content.byteOffset + length, content.byteOffset + content.length);
      expect(new Float64Array(shares as ArrayBuffer)).toEqual((await digits.predictProbabilities(few)).values);
    }
  });

  test.each([
    [{}, /expected an object with a list "inputs"/],
    [
      { inputs: [{ name: "rows", datatype: "FP16", shape: [1, 64], data: [] }] },
      /datatype: expected one of .* found "FP16"/,
    ],
    [{ inputs: [{ name: "rows", datatype: "FP32", shape: [1, 64], data: [1] }] }, /has 64 elements, the data has 1/],
    [
      { inputs: [{ name: "rows", datatype: "FP32", shape: [1, 2], data: [1, 2] }] },
      /expected \[rows, 64\], found \[1, 2\]/,
    ],
    [
      { inputs: [{ name: "rows", datatype: "FP32", shape: [-1], data: [] }] },
      /shape: expected a list of whole numbers/,
    ],
    [
      { inputs: [{ name: "rows", datatype: "UINT8", shape: [1, 64], parameters: { binary_data_size: 64 } }] },
      /binary_data_size: expected at most 0/,
    ],
    [{ inputs: [{ name: "rows", datatype: "BYTES", shape: [1], data: ["a"] }] }, /expected numbers, found BYTES/],
    [
      { inputs: [{ name: "rows", datatype: "UINT8", shape: [1, 64], data: rows[0].with(3, 256) }] },
      /data\[3\]: expected a whole number from 0 to 255, as UINT8 has, found 256/,
    ],
    [
      { inputs: [{ name: "rows", datatype: "INT64", shape: [1, 64], data: rows[0].with(5, 0.5) }] },
      /data\[5\]: expected a whole number .* found 0.5/,
    ],
    [
      { inputs: [{ name: "rows", datatype: "FP64", shape: [1, 64], data: [true, ...rows[0].slice(1)] }] },
      /data\[0\]: expected a number, found true/,
    ],
    [
      { inputs: [{ name: "rows", datatype: "UINT8", shape: [1, 64], data: rows[0] }], outputs: [{ name: "class" }] },
      /has label and probabilities, not "class"/,
    ],
  ])("refuses %j", async (body, message) => {
    const address = await open(["digits.ranksim"]);
    const found = await post(`${address}/v2/models/digits/infer`, body);
    expect([found.status, found.json.error]).toEqual([400, expect.stringMatching(message)]);
  });
});

describe("/metrics", () => {
  const figures = async (address: string) => {
    const text = await (await fetch(`${address}/metrics`)).text();
    return (line: string) =>
      Number(
        text
          .split("\n")
          .find((one) => one.startsWith(`${line} `))
          ?.split(" ")[1],
      );
  };

  test("has the share of each class beside that of the training rows, and of rows that are unsure", async () => {
    const address = await open(["digits.ranksim"]);
    const labels = (await digits.predict(rows)) as number[];
    const shares = (await digits.predictProbabilities(rows)).values;
    const isUnsure = rows.map((_, r) => Math.max(...shares.subarray(r * 10, r * 10 + 10)) < 0.5);
    await post(`${address}/predict`, { rows, probabilities: true });
    const of = await figures(address);
    expect(of('ranksim_rows_total{model="digits"}')).toBe(60);
    for (const label of new Set(labels)) {
      const times = labels.filter((one) => one === label).length;
      expect(of(`ranksim_labels_total{model="digits",label="${label}"}`)).toBe(times);
      expect(of(`ranksim_label_share{model="digits",label="${label}"}`)).toBe(times / 60);
      const trained = digits.report.trainings.find((training) => training.label === label)?.rows as number;
      expect(of(`ranksim_training_label_share{model="digits",label="${label}"}`)).toBe(trained / digits.report.rows);
    }
    const unsure = isUnsure.filter(Boolean).length;
    expect(unsure).toBeGreaterThan(0);
    expect(of('ranksim_weighed_rows_total{model="digits"}')).toBe(60);
    expect(of('ranksim_unsure_rows_total{model="digits"}')).toBe(unsure);
    expect(of('ranksim_unsure_share{model="digits"}')).toBe(unsure / 60);
  });

  test("weighs some rows of requests that do not ask for probabilities, and answers these as before", async () => {
    const address = await open(["digits.ranksim"]);
    const found = await post(`${address}/predict`, { rows });
    expect(found.json).toEqual({ model: "digits", version: expect.any(String), labels: await digits.predict(rows) });
    const shares = (await digits.predictProbabilities(rows.slice(0, 16))).values;
    const largest = Array.from({ length: 16 }, (_, r) => Math.max(...shares.subarray(r * 10, r * 10 + 10)));
    const of = await figures(address);
    expect(of('ranksim_rows_total{model="digits"}')).toBe(60);
    expect(of('ranksim_weighed_rows_total{model="digits"}')).toBe(16);
    expect(of('ranksim_unsure_rows_total{model="digits"}')).toBe(largest.filter((share) => share < 0.5).length);
    // A second request within the same moment is not weighed; one after it is.
    const counts = new Metrics();
    const model = server?.shelf.only as ServedModel;
    expect([0, 25, 95, 100, 195, 205].map((now) => counts.samples(model, now))).toEqual([
      true,
      false,
      false,
      true,
      false,
      true,
    ]);
  });
});

describe("limits", () => {
  test("refuse a body that is too large, said or not", async () => {
    const address = await open(["digits.ranksim"], { limits: { bodyBytes: 1000 } });
    const large = await post(`${address}/predict`, { rows: rows.slice(0, 20) });
    expect([large.status, large.json.error]).toEqual([413, expect.stringContaining("at most 1000 bytes")]);
    const stream = new ReadableStream({
      start(controller) {
        for (let j = 0; j < 20; j++) controller.enqueue(new TextEncoder().encode(`${" ".repeat(100)}`));
        controller.close();
      },
    });
    const chunked = await fetch(`${address}/predict`, { method: "POST", body: stream, duplex: "half" } as RequestInit);
    expect(chunked.status).toBe(413);
  });

  test("tell those beyond the number at a time to come back, and answer all others", async () => {
    const address = await open(["digits.ranksim"], { limits: { requests: 3, batchMs: 50 } });
    const found = await Promise.all(rows.slice(0, 12).map((row) => post(`${address}/predict`, { rows: [row] })));
    const served = found.filter(({ status }) => status === 200);
    const refused = found.filter(({ status }) => status === 503);
    expect(served.length).toBeGreaterThanOrEqual(3);
    expect(refused.length).toBeGreaterThan(0);
    expect(served.length + refused.length).toBe(12);
    expect(refused[0].headers.get("retry-after")).toBe("1");
    expect((await post(`${address}/predict`, rows[0])).status).toBe(200);
  });

  test("cut off a request that takes too long, and a client that sends nothing more", async () => {
    const address = await open(["digits.ranksim"], { limits: { timeoutMs: 200, batchMs: 600 } });
    const late = await post(`${address}/predict`, rows[0]);
    expect([late.status, late.json.error]).toEqual([503, expect.stringContaining("no answer within 200 ms")]);
    const told = await new Promise<string>((resolve) => {
      let text = "";
      const socket = connect(Number(new URL(address).port), "127.0.0.1", () => {
        socket.write("POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{");
      });
      socket.on("data", (chunk) => {
        text += chunk;
      });
      socket.on("close", () => resolve(text));
    });
    expect(told).toMatch(/^HTTP\/1\.1 408 /);
    expect(told).toContain("the body did not arrive within 200 ms");
    expect(told.split("HTTP/1.1")).toHaveLength(2);
  });
});

describe("access", () => {
  test("wants the token, but of probes", async () => {
    const address = await open(["digits.ranksim"], {
      access: { token: "s3cret-token", hosts: undefined, cors: undefined },
    });
    expect((await post(`${address}/predict`, rows[0])).status).toBe(401);
    expect((await post(`${address}/predict`, rows[0], { Authorization: "Bearer wrong" })).status).toBe(401);
    expect((await post(`${address}/predict`, rows[0], { Authorization: "Bearer s3cret-token" })).status).toBe(200);
    expect((await fetch(`${address}/metrics`)).status).toBe(401);
    expect((await fetch(`${address}/v2/health/ready`)).status).toBe(200);
  });

  test("answers to its own names alone, and to pages of other origins only where allowed", async () => {
    const address = await open(["digits.ranksim"]);
    const { port } = new URL(address);
    const raw = (host: string) =>
      new Promise<string>((resolve) => {
        const socket = connect(Number(port), "127.0.0.1", () =>
          socket.write(`GET /v2/health/live HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
        );
        let text = "";
        socket.on("data", (chunk) => {
          text += chunk;
        });
        socket.on("close", () => resolve(text.slice(9, 12)));
      });
    expect(await raw(`localhost:${port}`)).toBe("200");
    expect(await raw("evil.example")).toBe("421");
    const other = await post(`${address}/predict`, rows[0], { Origin: "http://evil.example" });
    expect(other.status).toBe(403);
    expect(other.headers.get("access-control-allow-origin")).toBeNull();
    expect((await post(`${address}/predict`, rows[0], { Origin: address })).status).toBe(200);
    await server?.end(0);
    const open2 = await open(["digits.ranksim"], {
      access: { token: undefined, hosts: undefined, cors: "http://page.example" },
    });
    const allowed = await post(`${open2}/predict`, rows[0], { Origin: "http://page.example" });
    expect(allowed.headers.get("access-control-allow-origin")).toBe("http://page.example");
  });
});

describe("a changed file", () => {
  test("takes the place of the old one without a lost or wrong answer; a broken one is refused", async () => {
    copyFileSync(world.path("digits.ranksim"), world.path("live.ranksim"));
    const events: LogEvent[] = [];
    const address = await open(["live.ranksim"], { log: (event) => void events.push(event) });
    const [before, after] = [
      await digits.predict(rows),
      await (modelAt("other.model") as ClassifierModel).predict(rows),
    ];
    expect(after).not.toEqual(before);
    const versionOf = async () => (await (await fetch(`${address}/v2/models/live`)).json()).versions[0];
    const first = await versionOf();
    let isDone = false;
    const wrong: unknown[] = [];
    const asking = Array.from({ length: 4 }, async (_, j) => {
      for (let r = j; !isDone; r = (r + 1) % rows.length) {
        const { status, json } = await post(`${address}/predict`, rows[r]);
        const expected = json?.version === first ? before[r] : after[r];
        if (status !== 200 || json.labels[0] !== expected) wrong.push({ status, json });
      }
    });
    const place = (name: string) => {
      copyFileSync(world.path(name), world.path("fresh.tmp"));
      renameSync(world.path("fresh.tmp"), world.path("live.ranksim"));
    };
    place("other.model");
    await server?.shelf.reload();
    const second = await versionOf();
    expect(second).not.toBe(first);
    writeFileSync(world.path("fresh.tmp"), "no model");
    renameSync(world.path("fresh.tmp"), world.path("live.ranksim"));
    await server?.shelf.reload();
    expect(await versionOf()).toBe(second);
    place("digits.ranksim");
    await server?.shelf.reload();
    expect(await versionOf()).toBe(first);
    isDone = true;
    await Promise.all(asking);
    expect(wrong).toEqual([]);
    expect(events.map(({ event }) => event)).toEqual(["swapped", "refused", "swapped"]);
    const metrics = await (await fetch(`${address}/metrics`)).text();
    expect(metrics).toContain('ranksim_model_swaps_total{model="live"} 2');
    expect(metrics).toContain('ranksim_model_refusals_total{model="live"} 1');
  });

  test("is noticed by --watch", async () => {
    copyFileSync(world.path("digits.ranksim"), world.path("watched.ranksim"));
    const address = await open(["watched.ranksim"], { watch: true });
    const versionOf = async () => (await (await fetch(`${address}/v2/models/watched`)).json()).versions[0];
    const first = await versionOf();
    copyFileSync(world.path("other.model"), world.path("watched.ranksim"));
    await expect.poll(versionOf, { timeout: 20_000 }).not.toBe(first);
  });

  test("that is gone is told of once, and taken when it is back", async () => {
    copyFileSync(world.path("digits.ranksim"), world.path("fleeting.ranksim"));
    const events: LogEvent[] = [];
    const address = await open(["fleeting.ranksim"], { log: (event) => events.push(event) });
    const shelf = (server as ModelServer).shelf;
    rmSync(world.path("fleeting.ranksim"));
    for (let times = 0; times < 3; times++) await shelf.reload(true);
    expect(events.map(({ event }) => event)).toEqual(["refused"]);
    expect((await post(`${address}/predict`, { rows })).json.labels).toEqual(await digits.predict(rows));
    copyFileSync(world.path("other.model"), world.path("fleeting.ranksim"));
    await shelf.reload(true);
    expect(events.map(({ event }) => event)).toEqual(["refused", "swapped"]);
  });
});

test("the page's lines for a terminal name the address it was asked for by", async () => {
  const address = await open(["digits.ranksim"]);
  expect(await (await fetch(address)).text()).toContain(`curl &#39;${address}/predict?model=digits&#39;`);
});

describe("the end", () => {
  test("is told first, then nothing new is accepted, and what was accepted is answered", async () => {
    const address = await open(["digits.ranksim"], { limits: { batchMs: 400 } });
    const asked = post(`${address}/predict`, rows[0]);
    await new Promise((soon) => setTimeout(soon, 100));
    const ending = (server as ModelServer).end(150);
    server = undefined;
    expect((await fetch(`${address}/v2/health/ready`)).status).toBe(503);
    expect((await fetch(`${address}/v2/health/live`)).status).toBe(200);
    expect((await asked).json.labels).toEqual([(await digits.predict([rows[0]]))[0]]);
    await ending;
    await expect(fetch(`${address}/v2/health/live`)).rejects.toThrow();
  });
});

test("two files of one name, a name that no path can hold, and a file that is none are refused", async () => {
  copyFileSync(world.path("digits.ranksim"), world.path("digits.model"));
  await expect(open(["digits.ranksim", "digits.model"])).rejects.toThrow(
    /a model of the name digits is served already/,
  );
  copyFileSync(world.path("digits.ranksim"), world.path("a b.model"));
  await expect(open(["a b.model"])).rejects.toThrow(/expected letters, digits/);
  await expect(open(["plants.csv"])).rejects.toThrow(/plants.csv: /);
});

test("describes itself: every path of openapi.json is there", async () => {
  const address = await open(["digits.ranksim"]);
  const { paths } = await (await fetch(`${address}/openapi.json`)).json();
  for (const [path, methods] of Object.entries<object>(paths)) {
    const method = "post" in methods ? "POST" : "GET";
    const response = await fetch(address + path.replace("{model}", "digits"), { method });
    expect([path, response.status]).toEqual([path, method === "GET" ? 200 : 400]);
  }
  const page = await fetch(address);
  expect(page.headers.get("content-security-policy")).toMatch(/default-src 'none'; script-src 'sha256-/);
  expect(await page.text()).toContain("curl");
});
