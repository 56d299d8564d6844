import { expect, test } from "vitest";
import { bytesSource, openData } from "../../src/node.ts";
import { describeData } from "../../src/schema.ts";
import { expectRefusal, read, readMatrix, rowsOf } from "../rows.ts";

test("rows as arrays, with the label beside them or not", async () => {
  expect(rowsOf(await readMatrix("a.jsonl", "[1,2]\n\n[3,4.5]\n"))).toEqual([
    [1, 2],
    [3, 4.5],
  ]);
  const data = await readMatrix("a.jsonl", '{"x":[1,2],"y":"cat"}\n{"x":[3,true],"y":"dog"}');
  expect(rowsOf(data)).toEqual([
    [1, 2],
    [3, 1],
  ]);
  expect(data.y).toEqual(["cat", "dog"]);
});

test("sparse rows are objects from feature to value", async () => {
  const data = await readMatrix("a.jsonl", '{"x":{"5":2,"0":1},"features":9,"y":[1,2]}\n{"x":{},"y":[]}\n');
  expect([data.x.form, data.x.rows, data.x.features]).toEqual(["csr", 2, 9]);
  expect(rowsOf(data)[0]).toEqual([1, 0, 0, 0, 0, 2, 0, 0, 0]);
  expect(data.y).toEqual([[1, 2], []]);
});

test("tables have a key for each column", async () => {
  const data = await readMatrix("a.jsonl", '{"a":1,"class":"x","b":2}\n{"b":4,"a":3,"class":"y"}\n');
  expect(data.featureNames).toEqual(["a", "b"]);
  expect(data.y).toEqual(["x", "y"]);
  expect(rowsOf(data)).toEqual([
    [1, 2],
    [3, 4],
  ]);
});

test("text rows", async () => {
  expect(await read("a.jsonl", '{"text":"hi","label":1}\n{"text":"ho","label":0}')).toMatchObject({
    form: "text",
    text: ["hi", "ho"],
    y: [1, 0],
  });
  expect(await read("a.jsonl", '{"body":"hi","id":3}', { textColumn: "body" })).toEqual({
    form: "text",
    text: ["hi"],
    found: { text: "body" },
  });
});

test("labels are found by the names that labels have, by the name given, or as the model remembers", async () => {
  const rows = '{"text":"hi","topic":"b","labels":["a"]}\n{"text":"ho","topic":"c","labels":[]}';
  expect(await read("a.jsonl", rows)).toMatchObject({ y: [["a"], []], found: { label: "labels", text: "text" } });
  const named = await read("a.jsonl", rows, { labelColumn: "topic" });
  expect(named).toMatchObject({ y: ["b", "c"], found: { label: "topic" } });
  const schema = describeData(named);
  expect((await read("a.jsonl", rows, { schema })).y).toEqual(["b", "c"]);
  expect((await read("a.csv", "label,text,topic\n1,hi,b\n2,ho,c\n", { schema })).y).toEqual(["b", "c"]);
  expect((await read("a.jsonl", '{"text":"hi"}', { schema })).y).toBeUndefined();
  expect((await read("a.jsonl", rows, { schema, labelColumn: null })).y).toBeUndefined();
  expect((await read("a.jsonl", '{"x":[1,2],"kind":"a"}', { labelColumn: "kind" })).found).toEqual({ label: "kind" });
  expect((await read("a.jsonl", '{"x":{"1":2},"y":"a"}')).found).toEqual({ label: "y" });
  await expectRefusal(read("a.jsonl", rows, { labelColumn: "topics" }), "bad-params", "labels", "mean topic?");
});

test("labels that only some rows have are refused with their key and what was found", async () => {
  const rows = '{"x":[1,2],"label":null}\n{"x":[1,3],"label":7}';
  const words = 'line 2: expected no label under "label" as in the first row, found "7"';
  await expectRefusal(read("a.jsonl", rows), "bad-file", words);
});

test("errors name the line", async () => {
  await expectRefusal(read("a.jsonl", "[1,2]\n[3"), "bad-file", "a.jsonl, line 2", "one JSON value");
  await expectRefusal(read("a.jsonl", "[1,2]\n\n[3]"), "bad-file", "line 3", "2 numbers", "found 1");
  await expectRefusal(read("a.jsonl", '[1,"2"]'), "bad-file", "line 1, column 1");
  await expectRefusal(read("a.jsonl", "[1,null]"), "bad-file", "line 1, column 1", "missing");
  await expectRefusal(read("a.jsonl", "7"), "bad-file", "line 1", "an object or an array");
  await expectRefusal(read("a.jsonl", '{"x":[1],"y":1}\n{"x":[1]}'), "bad-file", "line 2", "a label");
  await expectRefusal(read("a.jsonl", '{"x":{"-1":2}}'), "bad-file", "line 1", "a feature number");
  const later = '"b" as well; give the first row all keys, with null';
  await expectRefusal(read("a.jsonl", '{"a":1}\n{"b":1}'), "bad-file", "line 2", later);
  const told = await read("a.jsonl", '{"a":1,"b":null}\n{"b":2}\n{"a":3,"b":4}', { table: true });
  expect(told.form === "table" && [0, 1, 2].map((row) => [0, 1].map((c) => told.table.cell(c, row)))).toEqual([
    [1, undefined],
    [undefined, 2],
    [3, 4],
  ]);
  const text = read("a.jsonl", '{"body":"hi","id":3}', { textColumn: "text" });
  await expectRefusal(text, "bad-file", "line 1", 'under "text", found nothing; there is "body", "id"', "textColumn");
  await expectRefusal(read("a.json", '[{"a":1},{"a":2}]'), "bad-file", "line 1", "a list of 2", "a line of its own");
  await expectRefusal(read("a.json", '[\n{"a":1},\n{"a":2}\n]'), "bad-file", "line 1", "a line of its own");
});

test("strings of several labels are split on request, lists stay as they are", async () => {
  const text = '{"x":[1],"y":"b,d"}\n{"x":[2],"y":["a,b","c"]}\n{"x":[3],"y":7}\n{"x":[4],"y":""}';
  expect((await readMatrix("a.jsonl", text, { multilabel: true })).y).toEqual([["b", "d"], ["a,b", "c"], ["7"], []]);
});

test("labels keep the types that the file gives them", async () => {
  const y = async (...labels: string[]) =>
    (await readMatrix("a.jsonl", labels.map((label, r) => `{"x":[${r},1],"y":${label}}`).join("\n"))).y;
  expect(await y('"01"', '"1"')).toEqual(["01", "1"]);
  expect(await y('"1"', '"2"')).toEqual(["1", "2"]);
  expect(await y("1", "2.50")).toEqual([1, 2.5]);
  expect(await y("true", "false")).toEqual([1, 0]);
  expect(await y("3", '"none"')).toEqual(["3", "none"]);
  expect(await y('["1","01"]', "[]")).toEqual([["1", "01"], []]);
  await expectRefusal(y("1", '"b"', '"1"'), "bad-file", "row 2", 'the text "1"', "row 0 has the number 1");
  await expectRefusal(y('["a",1]', '["b","1"]'), "bad-file", "row 1", "row 0 has the number 1");
  await expectRefusal(y("1", "true"), "bad-file", "line 2", "a string or a number as label", "true");
  await expectRefusal(y("true", "true", '"true"'), "bad-file", "line 3", "true or false as label");
});

test("labels of two types in blocks far apart are refused as in one", async () => {
  const lines = Array.from(
    { length: 90_000 },
    (_, r) => `{"x":[${r % 7},${r % 5}],"y":${r === 89_999 ? '"1"' : r % 3}}`,
  );
  const source = bytesSource(Buffer.from(lines.join("\n")), "a.jsonl");
  await expectRefusal(openData([source], { room: 1e6 }), "bad-file", "row 89999", "row 1 has");
});

test("whole numbers that may have been others are no labels; strings of them are", async () => {
  const text = (label: string) => `{"x":[1],"y":${label}}\n{"x":[2],"y":9}`;
  for (const label of ["9007199254740993", "[1,9007199254740993]", "-9007199254740992"])
    await expectRefusal(read("a.jsonl", text(label)), "bad-file", "line 1", "up to 2^53", "as strings");
  expect((await readMatrix("a.jsonl", text('"9007199254740993"'))).y).toEqual(["9007199254740993", "9"]);
  expect((await readMatrix("a.jsonl", text("9007199254740991"))).y).toEqual([9007199254740991, 9]);
});
