/** Requests to `ranksim serve` with something changed, to models of all kinds: each is answered or refused, and a good one after it as before. */

import { expect, test } from "vitest";
import { attack, mutate } from "../../data/test/damaged.ts";
import { digits, open, post, rows } from "./served-world.ts";

/** A request that is right. */
interface Good {
  readonly path: string;
  readonly type: string;
  readonly body: Uint8Array;
  readonly headers?: Record<string, string>;
}

const JSON_TYPE = "application/json";
const plants = [1, 2].map((k) => Object.fromEntries(rows[k].slice(20, 30).map((value, i) => [`measure ${i}`, value])));
const few = rows.slice(0, 2);
const tensor = (name: string, datatype: string, shape: number[], data: unknown) => ({
  inputs: [{ name, datatype, shape, data }],
});

function asked(path: string, content: unknown, type = JSON_TYPE): Good {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return { path, type, body: new TextEncoder().encode(text) };
}

/** Numbers as bytes behind their description. */
function packed(): Good {
  const numbers = Uint8Array.from(few.flat());
  const parameters = { binary_data_size: numbers.length };
  const input = { name: "rows", datatype: "UINT8", shape: [2, 64], parameters };
  const head = Buffer.from(JSON.stringify({ inputs: [input], outputs: [{ name: "label" }] }));
  const headers = { "Inference-Header-Content-Length": String(head.length) };
  return {
    path: "/v2/models/digits/infer",
    type: "application/octet-stream",
    body: Buffer.concat([head, numbers]),
    headers,
  };
}

const goods: readonly Good[] = [
  asked("/predict?model=digits", { rows: few, probabilities: true, top: 3 }),
  asked("/predict?model=digits", few.map((row) => JSON.stringify(row)).join("\n"), "application/x-ndjson"),
  asked("/predict?model=digits&top=2", few.map((row) => row.join(",")).join("\n"), "text/csv"),
  asked("/explain?model=digits", { rows: few.slice(0, 1) }),
  asked("/predict?model=plants", { rows: plants }),
  asked("/predict?model=reviews", { texts: ["a lovely film", "dull"] }),
  asked("/predict?model=reviews", "a lovely film\nété\n", "text/plain"),
  asked("/explain?model=reviews", { texts: ["a lovely film"] }),
  asked("/v2/models/digits/infer", tensor("rows", "FP64", [2, 64], few)),
  asked("/v2/models/features/infer", tensor("rows", "UINT8", [2, 64], few.flat())),
  asked("/v2/models/reviews/infer", tensor("text", "BYTES", [1], ["a lovely film"])),
  packed(),
];

/** What a server may answer to a request that is not its own fault. */
const STATUSES: ReadonlySet<number> = new Set([200, 400, 404, 405, 413, 415]);

test("changed requests are answered or refused, and no number of an answer is none", async () => {
  const refused: unknown[] = [];
  const address = await open(["digits.ranksim", "plants.ranksim", "reviews.ranksim", "features.ranksim"], {
    log: (event) => void refused.push(event),
  });
  const expected = await digits.predict(few);
  for (const { path, type, body, headers } of goods) {
    expect(await post(address + path, body, { "Content-Type": type, ...headers }), path).toMatchObject({ status: 200 });
  }
  await attack(async (draw) => {
    const { path, type, body, headers = {} } = draw.pick(goods);
    const other = draw.chance(0.1) ? draw.pick(goods).type : type;
    const length = draw.chance(0.1) ? { "Inference-Header-Content-Length": String(draw.below(400)) } : headers;
    const wrong: string[] = [];
    const found = await post(address + path, mutate(body, draw), { "Content-Type": other, ...length });
    if (!STATUSES.has(found.status)) wrong.push(`${path}: status ${found.status}: ${found.text.slice(0, 300)}`);
    if (found.status === 200 && /\bNaN\b|Infinity/.test(found.text)) wrong.push(`${path}: a number that is none`);
    if (found.status !== 200 && typeof found.json?.error !== "string") wrong.push(`${path}: no reason`);
    if (draw.chance(0.1)) {
      const { json } = await post(`${address}/predict?model=digits`, { rows: few });
      if (JSON.stringify(json.labels) !== JSON.stringify(expected)) wrong.push("another answer to a good request");
    }
    return wrong;
  });
  expect(refused).toEqual([]);
});
