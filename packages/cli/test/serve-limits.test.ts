/** `ranksim serve`: what it counts, its limits, who may ask, swaps of a model, and the end. */

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { type ClassifierModel, Csr, RankSimilarityClassifier, saveModel } from "@ranksim/core";
import { describe, expect, test, vi } from "vitest";
import { Batcher } from "../src/serve/batcher.ts";
import type { Rows } from "../src/serve/input.ts";
import { DEFAULT_LIMITS } from "../src/serve/limits.ts";
import { Metrics } from "../src/serve/metrics.ts";
import { ServedModel } from "../src/serve/served-model.ts";
import type { LogEvent, ModelServer } from "../src/serve/server.ts";
import { digits, modelAt, open, post, rows, server, takeServer, world } from "./served-world.ts";

describe("what would take more than there is", () => {
  const deep = `${"[".repeat(1_000_000)}1${"]".repeat(1_000_000)}`;

  test.each([
    ["/predict", `{"rows": [{"a": ${deep}}]}`],
    ["/predict", `{"rows": ${deep}}`],
    ["/v2/models/digits/infer", `{"inputs": [{"name": "x", "datatype": "FP64", "shape": [1], "data": ${deep}}]}`],
    ["/v2/models/digits/infer", `{"inputs": [{"name": "x", "datatype": "FP64", "shape": ${deep}, "data": [1]}]}`],
  ])("JSON a million levels deep is refused: %s", async (path, body) => {
    const address = await open(["digits.ranksim"]);
    expect(await post(`${address}${path}`, body)).toMatchObject({ status: 400 });
  });

  test.skipIf(process.platform === "win32")(
    "what is no regular file, or larger than memory, is refused in a model's place, and the model stays",
    async () => {
      copyFileSync(world.path("digits.ranksim"), world.path("piped.ranksim"));
      const refused: unknown[] = [];
      const address = await open(["piped.ranksim"], { log: ({ message }) => void refused.push(message) });
      for (const replace of [
        () => execFileSync("mkfifo", [world.path("piped.ranksim")]),
        () => symlinkSync("/dev/zero", world.path("piped.ranksim")),
        () => symlinkSync(world.path("."), world.path("piped.ranksim")),
        () => {
          writeFileSync(world.path("piped.ranksim"), "");
          truncateSync(world.path("piped.ranksim"), 1e12);
        },
      ]) {
        rmSync(world.path("piped.ranksim"));
        replace();
        await server?.registry.reload();
        expect((await post(`${address}/predict`, { rows: rows.slice(0, 1) })).status).toBe(200);
      }
      const other = expect.stringContaining("expected a regular file, found a folder, a pipe or a device");
      expect(refused).toEqual([other, other, other, expect.stringContaining("1000 GB or more")]);
    },
  );

  test("a sparse model of 2^26 features is warmed with a row without entries", async () => {
    const x = Csr.of(Uint32Array.of(0, 2, 4), Uint32Array.of(3, 7, 5, 9), Uint8Array.of(1, 2, 3, 1), 2 ** 26);
    const model = await new RankSimilarityClassifier({ filters: 2 }).fit(x, ["a", "b"]);
    writeFileSync(world.path("wide.ranksim"), saveModel(model));
    const ask = vi.spyOn(ServedModel.prototype, "ask");
    await open(["wide.ranksim"]);
    expect(ask.mock.calls).toMatchObject([[{ form: "sparse", rows: 1, x: { entries: 0 } }, { labels: true }]]);
    ask.mockRestore();
    // Room for a thousand rows would be 64 GB.
    const empty = await post(`${server?.address}/predict`, { rows: Array(1000).fill([]) });
    expect([empty.status, empty.json.error]).toEqual([400, expect.stringContaining("the row has 0")]);
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

  test("tells the classes 1 and “1” apart, and has each series once", async () => {
    const x = rows.slice(0, 40).map((row) => Uint8Array.from(row));
    const y = x.map((_, r) => [1, "1", "two"][r % 3]);
    const model = await new RankSimilarityClassifier({ filters: 30 }).fit(x, y);
    writeFileSync(world.path("twice.ranksim"), saveModel(model));
    const address = await open(["twice.ranksim"]);
    const { json } = await post(`${address}/predict`, { rows: rows.slice(0, 40) });
    const text = await (await fetch(`${address}/metrics`)).text();
    const series = text.split("\n").flatMap((line) => /^(\w+\{.*\}) /.exec(line)?.[1] ?? []);
    expect(new Set(series).size).toBe(series.length);
    for (const [label, written] of [
      [1, "1"],
      ["1", String.raw`\"1\"`],
      ["two", "two"],
    ] as const) {
      const times = json.labels.filter((one: unknown) => one === label).length;
      expect(times).toBeGreaterThan(0);
      expect(text).toContain(`ranksim_labels_total{model="twice",label="${written}"} ${times}\n`);
      expect(text).toContain(`ranksim_training_label_share{model="twice",label="${written}"} `);
    }
  });

  test("adds up labels of different types in two versions of a model", () => {
    const metrics = new Metrics();
    const version = (label: string | number) =>
      ({
        ...{ name: "m", version: "v", classes: [label], trainingShares: [] },
        batcher: { waitingRows: 0, searches: 0, searchedRows: 0 },
        model: {},
      }) as unknown as ServedModel;
    const answers = (label: string | number) => ({
      labels: [label],
      probabilities: undefined,
      similarities: undefined,
    });
    metrics.answered(version(1), 1, answers(1));
    metrics.answered(version("1"), 1, answers("1"));
    expect(metrics.text(0, [version("1")]).match(/^ranksim_labels_total.*$/gm)).toEqual([
      'ranksim_labels_total{model="m",label="1"} 2',
    ]);
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
    const model = server?.registry.only as ServedModel;
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

describe("too much work", () => {
  const many = Array.from({ length: 10_000 }, (_, r) => rows[r % rows.length]);
  const batcher = () => ((server as ModelServer).registry.only as ServedModel).batcher;
  /** Rows that were searched when nothing more is. */
  const searchedInAll = async () => {
    for (let before = -1; before !== batcher().searchedRows; await new Promise((soon) => setTimeout(soon, 60))) {
      before = batcher().searchedRows;
    }
    return batcher().searchedRows;
  };

  test("ends with a request that took too long", async () => {
    const address = await open(["digits.ranksim"], { limits: { timeoutMs: 500, batchRows: 1 } });
    const model = ((server as ModelServer).registry.only as ServedModel).behind as ClassifierModel;
    let goOn = () => {};
    const told = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    // The first of nine searches does not end before its client was told that it took too long.
    const search = vi.spyOn(model, "predict").mockImplementationOnce(() => told.then(() => [0]));
    const late = await post(`${address}/predict`, { rows: rows.slice(0, 9) });
    expect([late.status, late.json.error]).toEqual([503, expect.stringContaining("no answer within 500 ms")]);
    goOn();
    let asked = 0;
    const again = async () => {
      asked++;
      return (await post(`${address}/predict`, rows[0])).status;
    };
    // Searches of two requests take turns: what were left of the late one would come between these.
    for (let times = 0; times < 10; times++) await expect.poll(again).toBe(200);
    expect(search.mock.calls.length).toBeLessThanOrEqual(1 + asked);
    expect(batcher().waitingRows).toBe(0);
    search.mockRestore();
  });

  test("ends with a client that disconnected, whose place is free then", async () => {
    const address = await open(["digits.ranksim"], { limits: { requests: 1, batchRows: 1 } });
    const leaving = new AbortController();
    const body = JSON.stringify({ rows: many });
    const headers = { "Content-Type": "application/json" };
    const left = fetch(`${address}/predict`, { method: "POST", headers, body, signal: leaving.signal });
    await expect.poll(() => batcher().searchedRows, { interval: 1 }).toBeGreaterThan(1);
    expect((await post(`${address}/predict`, rows[0])).status).toBe(503);
    leaving.abort();
    await expect(left).rejects.toThrow();
    await expect.poll(async () => (await post(`${address}/predict`, rows[0])).status).toBe(200);
    expect(await searchedInAll()).toBeLessThan(many.length);
    const metrics = await (await fetch(`${address}/metrics`)).text();
    expect(metrics).toContain('ranksim_requests_total{route="/predict",status="499"} 1');
  });

  test("keeps its place until it ends, though the client has been told", async () => {
    const address = await open(["digits.ranksim"], { limits: { requests: 1, timeoutMs: 100, batchMs: 1500 } });
    expect((await post(`${address}/predict`, rows[0])).status).toBe(503);
    expect((await post(`${address}/predict`, rows[0])).json.error).toMatch(/1 requests are being answered/);
    const again = async () => (await post(`${address}/predict`, rows[0])).json.error;
    await expect.poll(again).toMatch(/no answer within 100 ms/);
  });

  test("of one request is refused: rows times classes", async () => {
    const address = await open(["digits.ranksim"], { limits: { answerNumbers: 11 * 20 } });
    const ask = (count: number, probabilities: boolean) =>
      post(`${address}/predict`, { rows: rows.slice(0, count), probabilities });
    expect((await ask(20, true)).json.probabilities).toHaveLength(20);
    const refused = await ask(21, true);
    expect([refused.status, refused.json.error]).toEqual([
      413,
      "expected at most 20 rows at a time, as each is answered by 11 numbers, found 21",
    ]);
    expect((await ask(60, false)).status).toBe(200);
    const inputs = [{ name: "rows", shape: [21, 64], datatype: "UINT8", data: rows.slice(0, 21) }];
    expect((await post(`${address}/v2/models/digits/infer`, { inputs })).status).toBe(413);
  });

  test("of all requests together is refused, and what they held is free when they have ended", async () => {
    const body = JSON.stringify({ rows: rows.slice(0, 30), probabilities: true });
    const held = body.length + 30 * 64 + 30 * 11 * 32;
    const address = await open(["digits.ranksim"], { limits: { roomBytes: 1.5 * held, batchMs: 20 } });
    for (let times = 0; times < 20; times++) expect((await post(`${address}/predict`, body)).status).toBe(200);
    const together = await Promise.all([1, 2, 3].map(() => post(`${address}/predict`, body)));
    expect(together.map(({ status }) => status).sort()).toEqual([200, 503, 503]);
    // Bodies that do not end hold room as well, until their clients go.
    const { host, port } = new URL(address);
    const half = `POST /predict HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${2 * held}\r\n\r\n${" ".repeat(held)}`;
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(half));
    const metrics = async () => (await fetch(`${address}/metrics`)).text();
    await expect.poll(metrics).toContain("ranksim_requests_in_flight 2");
    expect((await post(`${address}/predict`, body)).status).toBe(503);
    socket.destroy();
    await expect.poll(async () => (await post(`${address}/predict`, body)).status).toBe(200);
  });

  test("lets large requests wait for one another, and small ones for none of them", async () => {
    const address = await open(["digits.ranksim"], { limits: { batchRows: 16 } });
    const order: string[] = [];
    const ask = async (name: string, count: number) => {
      await post(`${address}/predict`, { rows: many.slice(0, count) });
      order.push(name);
    };
    const first = ask("first", 3000);
    await expect.poll(() => batcher().searchedRows, { interval: 1 }).toBeGreaterThan(16);
    await Promise.all([first, ask("second", 1500), ask("small", 1)]);
    expect(order).toEqual(["small", "first", "second"]);
  });

  test("a slow model is asked about fewer rows at a time", async () => {
    const asked: number[] = [];
    const slow = new Batcher(DEFAULT_LIMITS, async ([{ rows: count }]) => {
      asked.push(count);
      await new Promise((passed) => setTimeout(passed, count / 4));
      return { labels: new Array(count).fill("a"), probabilities: undefined, similarities: undefined };
    });
    const all: Rows = { form: "text", rows: 2048, texts: new Array(2048).fill("") };
    const found = await slow.add(all, { labels: true, probabilities: false, similarities: false });
    expect(found.labels).toHaveLength(2048);
    expect(asked[0]).toBe(1024);
    expect(asked.at(-1)).toBeLessThanOrEqual(512);
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
    const page = await fetch(address);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('name="token"');
  });

  test("lets a browser ask for leave to send the token", async () => {
    const origin = "http://page.example";
    const address = await open(["digits.ranksim"], {
      access: { token: "s3cret-token", hosts: undefined, cors: origin },
    });
    const asksFor = { "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization" };
    const preflight = (from: string) =>
      fetch(`${address}/predict`, { method: "OPTIONS", headers: { Origin: from, ...asksFor } });
    const leave = await preflight(origin);
    expect(leave.status).toBe(204);
    expect(leave.headers.get("access-control-allow-origin")).toBe(origin);
    expect(leave.headers.get("access-control-allow-headers")?.toLowerCase().split(", ")).toContain("authorization");
    expect((await preflight("http://evil.example")).status).toBe(403);
    expect((await post(`${address}/predict`, rows[0], { Origin: origin })).status).toBe(401);
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
    await server?.registry.reload();
    const second = await versionOf();
    expect(second).not.toBe(first);
    writeFileSync(world.path("fresh.tmp"), "no model");
    renameSync(world.path("fresh.tmp"), world.path("live.ranksim"));
    await server?.registry.reload();
    expect(await versionOf()).toBe(second);
    place("digits.ranksim");
    await server?.registry.reload();
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
    await expect.poll(versionOf).not.toBe(first);
  });

  test("that is gone is told of once, and taken when it is back", async () => {
    copyFileSync(world.path("digits.ranksim"), world.path("fleeting.ranksim"));
    const events: LogEvent[] = [];
    const address = await open(["fleeting.ranksim"], { log: (event) => events.push(event) });
    const registry = (server as ModelServer).registry;
    rmSync(world.path("fleeting.ranksim"));
    for (let times = 0; times < 3; times++) await registry.reload(true);
    expect(events.map(({ event }) => event)).toEqual(["refused"]);
    expect((await post(`${address}/predict`, { rows })).json.labels).toEqual(await digits.predict(rows));
    copyFileSync(world.path("other.model"), world.path("fleeting.ranksim"));
    await registry.reload(true);
    expect(events.map(({ event }) => event)).toEqual(["refused", "swapped"]);
  });
});

test("the page's lines for a terminal name the address it was asked for by", async () => {
  const address = await open(["digits.ranksim"]);
  expect(await (await fetch(address)).text()).toContain(`curl &#39;${address}/predict?model=digits&#39; -H`);
});

describe("the end", () => {
  test("loses no request of clients that keep their connections, nor of one that has just connected", async () => {
    const address = await open(["digits.ranksim"]);
    const { port } = new URL(address);
    let answered = 0;
    /** Asks again and again, as long as it is not told to close its connection. */
    const client = async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let isKept = true; isKept; answered++) {
        isKept = await new Promise<boolean>((resolve, reject) => {
          const asked = httpRequest({ agent, port, path: "/predict", method: "POST" }, (answer) => {
            answer.resume().on("end", () => resolve(answer.headers.connection !== "close"));
          });
          asked.on("error", reject);
          asked.end(JSON.stringify(rows[0]));
        });
      }
      agent.destroy();
    };
    const clients = Array.from({ length: 16 }, client);
    await expect.poll(() => answered).toBeGreaterThan(100);
    const socket = connect(Number(port), "127.0.0.1");
    await once(socket, "connect");
    const ending = takeServer().end(300);
    const ready = await fetch(`${address}/v2/health/ready`);
    expect([ready.status, ready.headers.get("connection")]).toEqual([503, "close"]);
    await expect.poll(() => fetch(`${address}/v2/health/live`).then(Boolean, () => "refused")).toBe("refused");
    let told = "";
    socket.on("data", (chunk) => {
      told += chunk;
    });
    socket.write("GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(socket, "close");
    expect(told).toMatch(/^HTTP\/1.1 200 OK/);
    await ending;
    await Promise.all(clients);
  });

  test("is told first, then nothing new is accepted, and what was accepted is answered", async () => {
    const address = await open(["digits.ranksim"], { limits: { batchMs: 1000 } });
    const asked = post(`${address}/predict`, rows[0]);
    const inFlight = async () => (await fetch(`${address}/metrics`)).text();
    await expect.poll(inFlight).toContain("ranksim_requests_in_flight 2");
    const ending = takeServer().end(600);
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
