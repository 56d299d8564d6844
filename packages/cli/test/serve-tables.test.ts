/** Models of tables behind HTTP: rows by name or in order, one answer whoever asks beside; bad cells are refused to who sent them. */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseHTML } from "linkedom";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { hostsFor } from "../src/serve/access.ts";
import { ModelServer } from "../src/serve/server.ts";
import { makeWorld, mixed, type World } from "./world.ts";

let world: World;
let server: ModelServer | undefined;
let expected: readonly { label: string; good: number; bad: number }[];

/** The cells of the table without key and label, under the names that the model knows. */
const rows = mixed()
  .trim()
  .split("\n")
  .slice(1)
  .map((line) => {
    const [, colour, when, size, flag] = line.split(";");
    return { colour: colour || null, when, size: size === "NA" ? null : Number(size.replace(",", ".")), flag };
  });

beforeAll(async () => {
  world = makeWorld();
  writeFileSync(world.path("mixed.csv"), mixed());
  await world.ranksim("train mixed.csv --label quality -m mixed.ranksim");
  await world.ranksim("predict mixed.ranksim mixed.csv --probabilities --out answers.jsonl");
  expected = readFileSync(world.path("answers.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .map(({ label, probabilities }) => ({ label, ...probabilities }));
});
afterAll(() => world.remove());
afterEach(async () => {
  await server?.end(0);
  server = undefined;
});

async function open(model = "mixed.ranksim"): Promise<string> {
  const access = { token: undefined, hosts: hostsFor("127.0.0.1", []), cors: undefined };
  const models = [world.path(model)];
  server = await ModelServer.open({ models, host: "127.0.0.1", port: 0, access, watch: false, version: "0" });
  return server.address;
}

async function ask(path: string, body: unknown, type = "application/json") {
  const content = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(path, { method: "POST", body: content, headers: { "Content-Type": type } });
  return { status: response.status, text: await response.text() };
}

const labelsOf = ({ text }: { text: string }): string[] => JSON.parse(text).labels;

test("gives rows by name, rows in order, NDJSON and CSV what predict gives", async () => {
  const address = await open();
  const labels = expected.map(({ label }) => label);
  const all = await ask(`${address}/predict`, { rows, probabilities: true });
  expect(labelsOf(all)).toEqual(labels);
  const { classes, probabilities } = JSON.parse(all.text);
  const shares = (expected as readonly { readonly [name: string]: unknown }[]).map((row) =>
    classes.map((name: string) => row[name]),
  );
  expect(probabilities).toEqual(shares);
  const lists = rows.map(({ colour, when, size, flag }) => [colour, when, size, flag]);
  expect(labelsOf(await ask(`${address}/predict`, { rows: lists }))).toEqual(labels);
  const turned = rows.map(({ colour, when, size, flag }) => ({ flag, extra: 1, size, when, colour }));
  expect(labelsOf(await ask(`${address}/predict`, turned))).toEqual(labels);
  const lines = turned.map((row) => JSON.stringify(row)).join("\n");
  const ndjson = await ask(`${address}/predict`, lines, "application/x-ndjson");
  expect(
    ndjson.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).label),
  ).toEqual(labels);
  const csv = await ask(`${address}/predict`, mixed(), "text/csv");
  expect(csv.text.trim().split("\n").slice(1)).toEqual(labels);
  expect(labelsOf(await ask(`${address}/predict`, { rows: lists[0] }))).toEqual(labels.slice(0, 1));
  expect(labelsOf(await ask(`${address}/predict`, { rows: [] }))).toEqual([]);
});

test("gives requests that are searched together what each would be given alone, and refuses a bad cell to its sender", async () => {
  const address = await open();
  const asked = rows.map((row, r) => (r % 10 === 3 ? { ...row, when: "soon" } : row));
  const found = await Promise.all(asked.map((row) => ask(`${address}/predict`, { rows: [row] })));
  for (const [r, answer] of found.entries()) {
    if (r % 10 === 3) {
      expect(answer).toMatchObject({ status: 400, text: expect.stringContaining("soon") });
      expect(answer.text).toContain("when");
    } else expect(labelsOf(answer)).toEqual([expected[r].label]);
  }
});

test("names what a row lacks or holds too much of", async () => {
  const address = await open();
  const { colour: _, ...lacking } = rows[0];
  expect(await ask(`${address}/predict`, { rows: [rows[1], lacking] })).toMatchObject({
    status: 400,
    text: expect.stringMatching(/row 1: expected the columns .*colour/),
  });
  expect(await ask(`${address}/predict`, { rows: [[1, 2]] })).toMatchObject({
    status: 400,
    text: expect.stringMatching(/4 columns \(colour, when, size, flag\), the row has 2/),
  });
  expect(await ask(`${address}/predict`, { rows: [{ ...rows[0], size: [1] }] })).toMatchObject({
    status: 400,
    text: expect.stringMatching(/row 0, column .*size.*: expected a number or null, found a list/),
  });
});

test("answers by a model that was trained to give sets of classes as predict does", async () => {
  await world.ranksim("train mixed.csv --label quality --sets -m sets.ranksim");
  const { stdout } = await world.ranksim("predict sets.ranksim mixed.csv");
  const address = await open("sets.ranksim");
  expect(labelsOf(await ask(`${address}/predict`, { rows }))).toEqual(stdout.trim().split("\n"));
});

test.each(["--preset fast", "--preset fast --decide balanced", "--preset fast --sets", "--for update"])(
  "explains as predict answers, by the names of columns: train %s",
  async (flags) => {
    await world.ranksim(`train mixed.csv --label quality ${flags} -m own.ranksim`);
    const { stdout } = await world.ranksim("predict own.ranksim mixed.csv");
    const address = await open("own.ranksim");
    for (const [r, label] of stdout.trim().split("\n").slice(0, 5).entries()) {
      const why = JSON.parse((await ask(`${address}/explain`, { rows: [rows[r]] })).text);
      expect(why.label).toBe(label);
      expect(why.contributions.length).toBeGreaterThan(0);
      for (const { name } of why.contributions) expect(name).toMatch(/^(colour|when|size|flag)\b/);
    }
  },
);

test("takes a tensor for each column, as its metadata says", async () => {
  const address = await open();
  const metadata = await (await fetch(`${address}/v2/models/mixed`)).json();
  expect(metadata.inputs).toEqual([
    { name: "colour", datatype: "BYTES", shape: [-1] },
    { name: "when", datatype: "BYTES", shape: [-1] },
    { name: "size", datatype: "FP64", shape: [-1] },
    { name: "flag", datatype: "BYTES", shape: [-1] },
  ]);
  const some = rows.filter(({ colour, size }) => colour !== null && size !== null);
  const inputs = (metadata.inputs as { name: keyof (typeof rows)[0]; datatype: string }[]).map(
    ({ name, datatype }) => ({
      name,
      datatype,
      shape: [some.length],
      data: some.map((row) => row[name]),
    }),
  );
  const { text } = await ask(`${address}/v2/models/mixed/infer`, { inputs });
  const label = JSON.parse(text).outputs.find(({ name }: { name: string }) => name === "label");
  const wanted = rows.flatMap((row, r) => (some.includes(row) ? [expected[r].label] : []));
  expect(label.data).toEqual(wanted);
});

test("has lines for a terminal that say what they should, whatever columns are called", async () => {
  const column = "a'$(touch PWN)'";
  const lines = Array.from({ length: 30 }, (_, r) => `${r % 7},${r % 3 ? "red" : "blue"},${r % 2}`);
  writeFileSync(world.path("odd.csv"), [`"${column}",colour,label`, ...lines].join("\n"));
  expect(await world.ranksim("train odd.csv --label label --set table=true --model odd.ranksim")).toMatchObject({
    code: 0,
  });
  const page = await (await fetch(await open("odd.ranksim"))).text();
  const shown = parseHTML(page).document.querySelector("[data-model] pre")?.textContent ?? "";
  const script = `curl() { printf '%s\\0' "$@"; }\n${shown}`;
  const words = execFileSync("bash", ["-c", script], { cwd: world.path("."), encoding: "utf8" }).split("\0");
  expect(existsSync(world.path("PWN"))).toBe(false);
  const [rowsBody, , inferBody] = words.flatMap((word, i) => (/^(-d|--data-binary)$/.test(word) ? [words[i + 1]] : []));
  expect(Object.keys(JSON.parse(rowsBody).rows[0])).toEqual([column, "colour"]);
  expect(JSON.parse(inferBody).inputs[0].name).toBe(column);
});

test("has a page whose example is answered", async () => {
  const address = await open();
  const page = await (await fetch(address)).text();
  expect(page).toContain("4 columns");
  const example = (/data-example="([^"]*)"/.exec(page)?.[1] ?? "").replaceAll("&quot;", '"');
  expect(await ask(`${address}/predict`, example)).toMatchObject({ status: 200 });
});
