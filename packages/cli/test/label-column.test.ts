/** The column of labels: guessed where nobody names it, and empty in some rows. */

import { readFileSync, writeFileSync } from "node:fs";
import { tableFromArrays, tableToIPC } from "apache-arrow";
import { parquetWriteBuffer } from "hyparquet-writer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { train } from "../src/node.ts";
import { makeWorld, type World } from "./world.ts";

let world: World;
const path = (name: string) => world.path(name);

const NAMES = ["pclass", "sex", "age", "fare", "weight", "survived"] as const;
type Cell = string | number | null;

/** Passengers; `isKnown` says of which it is known whether they survived. */
function passengers(rows: number, isKnown: (row: number) => boolean): Cell[][] {
  return Array.from({ length: rows }, (_, r) => {
    const isWoman = (r * 7) % 5 < 2;
    const age = r % 9 === 4 ? null : 1 + ((r * 31) % 70);
    const survived = isWoman === r % 8 > 0 ? "yes" : "no";
    const cells = [1 + (r % 3), isWoman ? "female" : "male", age, ((r * 53) % 97) / 4, 1 + (r % 4)];
    return [...cells, isKnown(r) ? survived : null];
  });
}

const csv = (rows: readonly (readonly Cell[])[], names: readonly string[] = NAMES) =>
  `${[names, ...rows].map((row) => row.join(",")).join("\n")}\n`;

const isKnown = (row: number) => row % 50 !== 0;

beforeAll(() => {
  world = makeWorld();
  const all = passengers(600, isKnown);
  writeFileSync(path("titanic.csv"), csv(all));
  writeFileSync(path("known.csv"), csv(all.filter((_, r) => isKnown(r))));
  const record = (row: readonly Cell[]) => Object.fromEntries(NAMES.map((name, c) => [name, row[c]]));
  const lines = all.map((row, r) => {
    const { survived, ...rest } = record(row);
    // Both ways of saying that there is none, but in the first row, which names the columns.
    return JSON.stringify(r === 0 || survived !== null ? { ...rest, survived } : rest);
  });
  writeFileSync(path("titanic.jsonl"), `${lines.join("\n")}\n`);
  const columns = NAMES.map((name, c) => ({ name, data: all.map((row) => row[c]) }));
  writeFileSync(path("titanic.parquet"), new Uint8Array(parquetWriteBuffer({ columnData: columns })));
  const arrays = Object.fromEntries(columns.map(({ name, data }) => [name, data]));
  writeFileSync(
    path("titanic.arrow"),
    tableToIPC(tableFromArrays(arrays as Parameters<typeof tableFromArrays>[0]), "file"),
  );
});

afterAll(() => world.remove());

describe("a label column that nobody named", () => {
  test("is guessed by its name, and said", async () => {
    const found = await world.ranksim("train titanic.csv --estimator classifier --filters 8 -m guessed.ranksim");
    expect(found).toMatchObject({ code: 0, stderr: expect.stringMatching(/^note: label: survived \(guessed\)$/m) });
    const named = await world.ranksim(
      "train titanic.csv --label survived --estimator classifier --filters 8 -m named.ranksim",
    );
    expect(named.stderr).not.toMatch(/guessed/);
    expect(readFileSync(path("guessed.ranksim")).equals(readFileSync(path("named.ranksim")))).toBe(true);
  });

  test.each([
    ["class", "survived"],
    ["label", "target"],
  ])("is refused where %s and %s are as likely", async (one, other) => {
    const names = [one, ...NAMES.slice(1, -1), other];
    writeFileSync(
      path("two.csv"),
      csv(
        passengers(60, () => true),
        names,
      ),
    );
    const refused = await world.ranksim("train two.csv -m no.ranksim");
    const told = new RegExp(
      `two\\.csv: expected one column .*found "${one}" and "${other}"; say which by --label NAME`,
    );
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(told) });
    await expect(train(path("two.csv"))).rejects.toThrow(`found "${one}" and "${other}"`);
    const named = await world.ranksim(`train two.csv --label ${other} --dry-run`);
    expect(named).toMatchObject({ code: 0 });
  });

  test("is guessed by the library as well", async () => {
    const { model } = await train(path("titanic.csv"), { preset: "fast" });
    expect(model.classes).toEqual(["no", "yes"]);
  });
});

describe("rows without a label", () => {
  const flags =
    "--label survived --estimator classifier --filters 8 --columns weight:weight,pclass:group --test-share 0.3";

  test.each(["titanic.csv", "titanic.jsonl", "titanic.parquet", "titanic.arrow"])(
    "of %s are left out and counted, whole and in blocks",
    async (file) => {
      expect(await world.ranksim(`train known.csv ${flags} -m known.ranksim`)).toMatchObject({ code: 0 });
      const known = readFileSync(path("known.ranksim"));
      for (const memory of ["", "--memory 40KB"]) {
        const found = await world.ranksim(`train ${file} ${flags} -m all.ranksim ${memory}`);
        expect(found).toMatchObject({ code: 0 });
        expect(found.stderr.match(/.*without a label.*/g)).toEqual([
          `note: ${file}: 12 rows without a label were left out`,
        ]);
        expect(readFileSync(path("all.ranksim")).equals(known), memory).toBe(true);
      }
    },
  );

  test("are answered all the same", async () => {
    await world.ranksim(`train titanic.csv ${flags} -m all.ranksim`);
    const { code, stdout } = await world.ranksim("predict all.ranksim titanic.csv");
    expect(code).toBe(0);
    expect(stdout.trimEnd().split("\n")).toHaveLength(600);
    const judged = await world.ranksim("evaluate all.ranksim titanic.csv");
    expect(judged).toMatchObject({ code: 0, stderr: expect.stringMatching(/12 rows without a label were left out/) });
  });

  test.each(["titanic.csv", "titanic.jsonl", "titanic.parquet"])(
    "of %s are transformed, their labels empty",
    async (file) => {
      const given = "--label survived --estimator transform --filters 4";
      expect(await world.ranksim(`train known.csv ${given} -m t.ranksim`)).toMatchObject({ code: 0 });
      for (const memory of ["", "--memory 40KB"]) {
        expect(await world.ranksim(`transform t.ranksim ${file} -o out.csv ${memory}`)).toMatchObject({ code: 0 });
        const lines = readFileSync(path("out.csv"), "utf8").trimEnd().split("\n").slice(1);
        const labels = lines.map((line) => /,(\w*|"")$/.exec(line)?.[1].replace('""', ""));
        expect(labels).toEqual(passengers(600, isKnown).map((row) => row[5] ?? ""));
      }
    },
  );

  test("are not all that a file may have", async () => {
    writeFileSync(path("none.csv"), csv(passengers(30, () => false)));
    expect(await world.ranksim("train none.csv -m no.ranksim")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/none\.csv: expected at least one row with a label, found 30 without/),
    });
  });
});
