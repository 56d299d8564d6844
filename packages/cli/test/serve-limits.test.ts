/** `ranksim serve`: what it counts, its limits, who may ask, swaps of a model, and the end. */

import { copyFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import type { ClassifierModel } from "@ranksim/core";
import { describe, expect, test } from "vitest";
import { Metrics } from "../src/serve/metrics.ts";
import type { ServedModel } from "../src/serve/served-model.ts";
import type { LogEvent, ModelServer } from "../src/serve/server.ts";
import { digits, modelAt, open, post, rows, server, takeServer, world } from "./served-world.ts";

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
    const ending = takeServer().end(150);
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
