/** `ranksim serve`: answers that equal those of single calls, and refusals that say what and where. */

import type { ClassifierModel } from "@ranksim/core";
import { describe, expect, test } from "vitest";
import { digits, modelAt, open, post, rows } from "./served-world.ts";
import { EXAMPLE_CONTENTS } from "./world.ts";

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
    const rows = await post(`${address}/predict`, { rows: [[1, 2]] });
    expect(rows).toMatchObject({
      status: 400,
      text: expect.stringContaining("model reviews: expected texts, found rows"),
    });
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

  test("refuses text that is not UTF-8, which would be answered as other words", async () => {
    const address = await open(["reviews.ranksim"]);
    const latin = Buffer.from("été café crème", "latin1");
    const quoted = Buffer.concat([Buffer.from('{"texts": ["'), latin, Buffer.from('"]}')]);
    const tensor = Buffer.from(
      JSON.stringify({
        inputs: [{ name: "text", datatype: "BYTES", shape: [1], parameters: { binary_data_size: 18 } }],
      }),
    );
    const packed = Buffer.concat([tensor, Buffer.from([latin.length, 0, 0, 0]), latin]);
    const infer = `${address}/v2/models/reviews/infer`;
    const length = { "Inference-Header-Content-Length": String(tensor.length) };
    for (const found of [
      await post(`${address}/predict`, latin, { "Content-Type": "text/plain" }),
      await post(`${address}/predict`, quoted),
      await post(`${address}/explain`, quoted),
      await post(infer, Buffer.concat([Buffer.from('{"id": "'), latin, Buffer.from('"}')])),
      await post(infer, packed, length),
    ]) {
      expect([found.status, found.json.error]).toEqual([
        400,
        expect.stringContaining("is not UTF-8; send it encoded as"),
      ]);
    }
    for (const path of ["/predict", "/explain", "/v2/models/reviews/infer"]) {
      const type = { "Content-Type": "application/json; charset=iso-8859-1" };
      const { status, json } = await post(address + path, { texts: ["a lovely film"] }, type);
      expect([status, json.error]).toEqual([415, "Content-Type: expected charset utf-8, found iso-8859-1"]);
    }
    const stated = { "Content-Type": 'application/json; charset="UTF-8"' };
    expect((await post(`${address}/predict`, { texts: ["été lovely"] }, stated)).status).toBe(200);
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
      {
        inputs: [
          { name: "rows", datatype: "UINT8", shape: [1, 64], data: rows[0] },
          { name: "rows", datatype: "UINT8", shape: [1, 64], data: rows[1] },
        ],
      },
      /inputs: expected each name once, found "rows" twice/,
    ],
    [
      {
        inputs: [{ name: "rows", datatype: "UINT8", shape: [1, 64], data: rows[0] }],
        outputs: [{ name: "label", parameters: { binary_data: true } }, { name: "label" }],
      },
      /outputs: expected each name once, found "label" twice/,
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

  test.each([
    ["INT64", BigInt64Array.of(2n ** 53n + 1n, ...new Array<bigint>(63).fill(0n)), "9007199254740993"],
    ["INT64", BigInt64Array.of(-(2n ** 62n), ...new Array<bigint>(63).fill(0n)), "-4611686018427387904"],
    ["BOOL", Uint8Array.of(7, ...new Array<number>(63).fill(0)), "7"],
  ])("refuses bytes that are no %s, or would be rounded: %s", async (datatype, { buffer }, found) => {
    const address = await open(["digits.ranksim"]);
    const parameters = { binary_data_size: buffer.byteLength };
    const head = Buffer.from(JSON.stringify({ inputs: [{ name: "rows", datatype, shape: [1, 64], parameters }] }));
    const body = Buffer.concat([head, Buffer.from(buffer)]);
    const length = { "Inference-Header-Content-Length": String(head.length) };
    const { status, json } = await post(`${address}/v2/models/digits/infer`, body, length);
    expect([status, json.error]).toEqual([400, expect.stringContaining(`inputs[0] rows: data[0]: expected a whole`)]);
    expect(json.error).toContain(`found ${found}`);
  });
});
