import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytesSource, type MatrixData, openData, readData, readLabels } from "../../src/node.ts";
import { expectRefusal, read, readMatrix, rowsOf } from "../rows.ts";

describe("header", () => {
  test("is told by words above numbers", async () => {
    const data = await readMatrix("a.csv", "width,height\n1,2\n3,4\n");
    expect(data.featureNames).toEqual(["width", "height"]);
    expect(rowsOf(data)).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  test("is told by words above dates and decimal commas, but not by these alone", async () => {
    for (const cell of ["2024-05-17", "17.05.2024", '"8,85"']) {
      const named = await read("a.csv", `kind,when\nred,${cell}\nblue,${cell}\n`, { table: true });
      expect(named.form === "table" && named.table.columns.map(({ name }) => name)).toEqual(["kind", "when"]);
      const plain = await read("a.csv", `red,${cell}\nblue,${cell}\n`, { table: true });
      expect(plain.form === "table" && plain.table.rows).toBe(2);
    }
  });

  test("is told by a column that is called as labels are, where all cells are words", async () => {
    const named = await read("a.csv", "text,Label\nwhere is it,ask\nthank you,praise\n", { table: true });
    expect(named.y).toEqual(["ask", "praise"]);
    expect(named.form === "table" && named.table.columns.map(({ name }) => name)).toEqual(["text"]);
    for (const plain of ["red,label\nblue,label\n", "red,class a\nblue,class b\n", "7,label\n8,other\n"]) {
      const data = await read("a.csv", plain, { table: true });
      expect(data.form === "table" && [data.table.rows, data.y]).toEqual([2, undefined]);
    }
  });

  test("is absent where the first line has numbers like the second", async () => {
    const data = await readMatrix("a.csv", "1,2,cat\n3,4,dog\n", { labelColumn: -1 });
    expect(data.featureNames).toBeUndefined();
    expect(data.y).toEqual(["cat", "dog"]);
    expect(rowsOf(data)).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  test("is taken or not when the caller says so", async () => {
    expect((await readMatrix("a.csv", "0,1\n5,6\n", { header: true })).featureNames).toEqual(["0", "1"]);
    await expectRefusal(read("a.csv", "a,b\n5,6\n", { header: false }), "bad-file", "line 1, column 0", '"a"');
  });

  test("alone is no data", async () => {
    await expectRefusal(read("a.csv", "a,b\n", { header: true }), "bad-file", "at least one row");
  });
});

describe("labels", () => {
  test("come from the column that is named or numbered", async () => {
    const csv = "kind,a,b\nx,1,2\ny,3,4\n";
    for (const labelColumn of ["kind", 0, -3]) {
      const data = await readMatrix("a.csv", csv, { labelColumn });
      expect(data.y).toEqual(["x", "y"]);
      expect(data.featureNames).toEqual(["a", "b"]);
    }
  });

  test("come from a column called label, labels, class or target unless that is refused", async () => {
    expect((await readMatrix("a.csv", "a,Target\n1,0\n2,1\n")).y).toEqual([0, 1]);
    expect((await read("a.csv", 'a,labels\n1,"b,c"\n', { multilabel: true })).y).toEqual([["b", "c"]]);
    const all = await readMatrix("a.csv", "a,target\n1,0\n2,1\n", { labelColumn: null });
    expect(all.y).toBeUndefined();
    expect(all.x.features).toBe(2);
    expect((await readMatrix("a.csv", "x,y\n1,0\n2,1\n")).featureNames).toEqual(["x", "y"]);
  });

  test.each([
    ["1 -2 0.5 1e-7", [1, -2, 0.5, 1e-7]],
    ["1 b", ["1", "b"]],
    ["01 02 1 2 007", ["01", "02", "1", "2", "007"]],
    ["1.1 1.10 2", ["1.1", "1.10", "2"]],
    ["1e2 100", ["1e2", "100"]],
    ["9007199254740993 9007199254740992 1", ["9007199254740993", "9007199254740992", "1"]],
    ["-0 0", ["-0", "0"]],
    ["+1 -1", ["+1", "-1"]],
    ["Infinity 1", ["Infinity", "1"]],
  ])("are numbers only if each is written as a number writes itself: %s", async (written, expected) => {
    const labels = written.split(" ");
    const csv = labels.map((label, r) => `${r},${label}\n`).join("");
    expect((await readMatrix("a.csv", csv, { labelColumn: 1, header: false })).y).toEqual(expected);
    expect(await readLabels(bytesSource(Buffer.from(labels.join("\n")), "y.txt"))).toEqual(expected);
    const sets = await read("a.csv", csv, { labelColumn: 1, header: false, multilabel: true });
    expect(sets.y).toEqual(expected.map((label) => [label]));
    // Another type of the whole file in its last block changes those of the first.
    const source = bytesSource(Buffer.from(csv.repeat(20_000)), "a.csv");
    const reading = { labelColumn: 1, header: false, room: 1e6 };
    expect(((await openData([source], reading)).y ?? []).slice(-labels.length)).toEqual(expected);
  });

  test("of a file read in blocks are paid for, although its rows do not stay", async () => {
    const block = Buffer.from("1,k\n".repeat(2 ** 18));
    const stream = async function* () {
      for (let i = 0; i < 100; i++) yield block;
    };
    const source = { name: "long.csv", byteLength: 100 * block.length, stream };
    const reading = { labelColumn: 1, header: false, room: 1e6 };
    await expectRefusal(openData([source], reading), "bad-file", "long.csv", "67.1 MB of memory", "--memory");
  });

  test("must be there", async () => {
    await expectRefusal(
      read("a.csv", "a,label\n1,x\n2,\n"),
      "bad-file",
      'a.csv, line 3, column 1 ("label")',
      "a label",
    );
  });

  test("must name a column that exists", async () => {
    await expectRefusal(read("a.csv", "a,b\n1,2\n", { labelColumn: "c" }), "bad-params", "a, b", '"c"');
    await expectRefusal(read("a.csv", "1,2\n3,4\n", { labelColumn: 2 }), "bad-params", "a column from 0 to 1");
  });
});

describe("grammar", () => {
  test("quotes, doubled quotes, delimiters and line ends inside quotes, byte order mark, blank lines, CRLF", async () => {
    const csv = '\ufefftext,label\r\n\r\n"a ""big"", round\r\nthing",x\r\n plain , y \r\n';
    const data = await read("a.csv", csv, { textColumn: "text" });
    expect(data).toMatchObject({ form: "text", text: ['a "big", round\r\nthing', "plain"], y: ["x", "y"] });
  });

  test.each([
    ["1,5;2,5;x", [1.5, 2.5], "x"],
    ["1,5;2,5;3,5;x", [1.5, 2.5, 3.5], "x"],
    ["1,5;2;x", [1.5, 2], "x"],
    ["1,5|-0,25|x", [1.5, -0.25], "x"],
    ["1,5,x;y", [1, 5], "x;y"],
    ['1,5,"x;1,5"', [1, 5], "x;1,5"],
  ])("commas within numbers delimit nothing where another character does: %s", async (line, row, label) => {
    const options = { header: false, labelColumn: -1, table: true };
    const data = await read("a.csv", `${line}\n${line}\n`, options);
    const rows = data.form === "table" ? data.table.columns.map((c) => c.form === "numbers" && c.values[0]) : [];
    expect(data.form === "matrix" ? rowsOf(data)[0] : rows).toEqual(row);
    expect(data.y).toEqual([label, label]);
  });

  test("delimiters are told by the first line", async () => {
    for (const delimiter of [",", ";", "\t", "|", " "]) {
      const data = await readMatrix("a.txt", ["1 2 3", "4 5 6"].join("\n").replaceAll(" ", delimiter));
      expect(rowsOf(data)).toEqual([
        [1, 2, 3],
        [4, 5, 6],
      ]);
    }
  });

  test("a TSV keeps commas as text", async () => {
    const data = await read("a.tsv", "text\tlabel\na,b,c\tx\n", { textColumn: "text" });
    expect(data).toMatchObject({ form: "text", text: ["a,b,c"], y: ["x"] });
  });

  test("a last line without an end is a row, and so is one ended by a lone carriage return", async () => {
    expect(rowsOf(await readMatrix("a.csv", "1,2\r3,4"))).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  test("errors name file, line and column", async () => {
    await expectRefusal(read("a.csv", "1,2\n3\n"), "bad-file", "a.csv, line 2", "2 fields as in line 1", "found 1");
    await expectRefusal(read("a.csv", '1,"2\n3,4\n'), "bad-file", "a.csv, line 1", "closing quote");
    await expectRefusal(read("a.csv", '1,2\n"3"x,4\n'), "bad-file", "line 2, column 0", "delimiter after");
    await expectRefusal(read("a.csv", '"a\n\nb",1\n2,x\n', { header: true }), "bad-file", "line 4, column 1");
    await expectRefusal(read("a.csv", "1,2\n3,1e999\n"), "bad-file", "row 1, column 1");
    await expectRefusal(read("a.csv", ""), "bad-file", "empty file");
    await expectRefusal(read("a.csv", new Uint8Array([0xff, 0xfe, 0x3d, 0xd8, 10, 0])), "bad-file", "UTF-16");
  });

  test("agrees with csv-parse on any fields", async () => {
    const field = fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", "\r", " ", "é", "1"), maxLength: 6 });
    const table = fc
      .integer({ min: 2, max: 4 })
      .chain((width) =>
        fc.array(fc.array(field, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 5 }),
      );
    await fc.assert(
      fc.asyncProperty(table, fc.constantFrom("\n", "\r\n"), async (rows, end) => {
        const csv = rows.map((row) => row.map((f) => `"${f.replaceAll('"', '""')}"`).join(",") + end).join("");
        const expected = parse(csv, { relax_column_count: true }) as string[][];
        const data = await read("a.csv", csv, { textColumn: 1, labelColumn: null, header: false });
        expect(data.form === "text" && data.text).toEqual(expected.map((row) => row[1]));
      }),
    );
  });

  test("does not depend on where the stream is cut", async () => {
    const csv = 'a,"b ""c""",label\r\n1,2.5,"x\n,y"\r\n-3,4e-2,é\r\n';
    const bytes = new TextEncoder().encode(csv);
    const whole = await readMatrix("a.csv", csv);
    for (let size = 1; size < bytes.length; size++) {
      const stream = (async function* () {
        for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
      })();
      expect(await readData({ name: "a.csv", stream: () => stream })).toEqual(whole);
    }
  });

  test("numbers are what JavaScript reads, however they are written, separated and cut", async () => {
    const digits = fc.string({ unit: fc.constantFrom(..."0123456789"), maxLength: 21 });
    const spelled = fc
      .tuple(fc.constantFrom("", "-", "+"), digits, fc.constantFrom("", ".", ".000", "e-7", "E3"), digits)
      .map((parts) => parts.join(""))
      .filter((text) => /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?$/.test(text));
    const cell = fc.oneof(
      spelled,
      spelled.map((text) => `"${text}"`),
      fc.integer({ min: -300, max: 300 }).map(String),
    );
    const table = fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        table,
        fc.constantFrom(",", ";", " ", "\t", "|", "7", "-", "."),
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.integer({ min: 1, max: 40 }),
        async (written, delimiter, end, size) => {
          const rows = written.map((row) =>
            row.map((text) => text.replaceAll(/[7.-]/g, (c) => (c === delimiter ? "1" : c))),
          );
          const text = rows.map((row) => row.join(delimiter)).join(end);
          const bytes = new TextEncoder().encode(text);
          const stream = (async function* () {
            for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
          })();
          const given = { delimiter, header: false, labelColumn: null };
          const data = await readData({ name: "a.csv", stream: () => stream }, given);
          const numbers = rows.map((row) => row.map((cell) => Number(cell.replaceAll('"', "")) + 0));
          expect(rowsOf(data as MatrixData)).toEqual(numbers);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("reads files longer than any window", async () => {
    const lines = Array.from({ length: 60000 }, (_, r) => `${r},${r % 7},"w ${r % 3}"`);
    const data = await readMatrix("a.csv", lines.join("\n"), { labelColumn: 2 });
    expect([data.x.rows, data.x.features, data.x.values.constructor.name]).toEqual([60000, 2, "Uint16Array"]);
    expect(rowsOf(data)[59999]).toEqual([59999, 59999 % 7]);
    expect(data.y?.[59999]).toBe("w 2");
  });
});

describe("missing values", () => {
  const csv = "a,b\n1,2\n,NA\n3,?\n";

  test("are refused by place", async () => {
    await expectRefusal(read("a.csv", csv), "bad-file", 'a.csv, line 3, column 0 ("a")', "missing value");
  });

  test("are filled by a number or by the mean of the column", async () => {
    expect(rowsOf(await readMatrix("a.csv", csv, { missing: -1 }))).toEqual([
      [1, 2],
      [-1, -1],
      [3, -1],
    ]);
    expect(rowsOf(await readMatrix("a.csv", csv, { missing: "mean" }))).toEqual([
      [1, 2],
      [2, 2],
      [3, 2],
    ]);
    await expectRefusal(
      read("a.csv", "a,b\n1,\n2,\n", { missing: "mean" }),
      "bad-file",
      "column 1",
      "at least one value",
    );
  });
});

test("columns can be left out", async () => {
  const data = await readMatrix("a.csv", "id,a,b\nr1,1,2\nr2,3,4\n", { ignoreColumns: ["id"] });
  expect(data.featureNames).toEqual(["a", "b"]);
});

test("labels beyond the whole numbers that are all their own stay text, all of them", async () => {
  const labels = async (text: string) => (await readMatrix("a.csv", `a,label\n${text}\n`)).y;
  expect(await labels("1,9007199254740992\n2,9007199254740993\n3,07")).toEqual([
    "9007199254740992",
    "9007199254740993",
    "07",
  ]);
  expect(await labels("1,-9007199254740993\n2,1")).toEqual(["-9007199254740993", "1"]);
  expect(await labels("1,9007199254740991\n2,-9007199254740991")).toEqual([9007199254740991, -9007199254740991]);
});

test("cells of several labels are split at commas on request", async () => {
  const text = 'a,label\n1,"b, d"\n2,\n3,d\n4,"d,b,d,"\n';
  const y = [["b", "d"], [], ["d"], ["d", "b"]];
  expect((await readMatrix("a.csv", text, { multilabel: true })).y).toEqual(y);
  expect((await readMatrix("a.tsv", "a\tlabel\n1\tb, d\n2\t\n3\td\n4\td,b\n", { multilabel: true })).y).toEqual(y);
  expect((await readMatrix("a.csv", 'a,label\n1,"1,2"\n2,3\n', { multilabel: true })).y).toEqual([[1, 2], [3]]);
  expect((await readMatrix("a.csv", 'a,label\n1,"b,d"\n2,d\n')).y).toEqual(["b,d", "d"]);
});
