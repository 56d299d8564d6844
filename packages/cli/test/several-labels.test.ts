/** Labels of tables: several in a cell, and whole numbers too large to be numbers. */

import { readFileSync, writeFileSync } from "node:fs";
import { encodeNpy } from "@ranksim/data";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeWorld } from "./world.ts";

const world = makeWorld();
const { path } = world;
afterAll(() => world.remove());

async function done(line: string): Promise<string> {
  const { code, stdout, stderr } = await world.ranksim(line);
  expect(code, stderr).toBe(0);
  return stdout;
}

/** The scores of folds, without their times. */
async function folds(what: string): Promise<unknown> {
  const flags = "--estimator probabilistic --multilabel --filters 6 --folds 2 --json";
  const { accuracy, macroF1 } = JSON.parse(await done(`cross-validate ${what} ${flags}`));
  return { accuracy, macroF1 };
}

describe("several labels in a cell, with --multilabel", () => {
  const FILES = ["rows.csv", "rows.tsv", "rows.jsonl", "lists.jsonl"];
  const flags = "--estimator probabilistic --multilabel --filters 6 --label kinds";
  beforeAll(() => {
    const sets = [["b", "d"], ["c"], [], ["d"]];
    const rows = Array.from({ length: 600 }, (_, r) => ({
      a: (r % 4) * 10 + (r % 3),
      b: 40 - (r % 4) * 9,
      c: (r % 2) * 20 + (r % 5),
      kinds: sets[r % 4],
    }));
    const table = (mark: string, cell: (kinds: readonly string[]) => string) =>
      `${["a", "b", "c", "kinds"].join(mark)}\n${rows.map(({ a, b, c, kinds }) => [a, b, c, cell(kinds)].join(mark)).join("\n")}\n`;
    writeFileSync(
      path("rows.csv"),
      table(",", (kinds) => `"${kinds.join(",")}"`),
    );
    writeFileSync(
      path("rows.tsv"),
      table("\t", (kinds) => kinds.join(", ")),
    );
    writeFileSync(path("plain.csv"), `a,b,c\n${rows.map(({ a, b, c }) => [a, b, c].join(",")).join("\n")}\n`);
    writeFileSync(path("kinds.txt"), `${rows.map(({ kinds }) => kinds.join(",")).join("\n")}\n`);
    const asLine = (row: object) => JSON.stringify(row);
    writeFileSync(path("lists.jsonl"), rows.map(asLine).join("\n"));
    writeFileSync(path("rows.jsonl"), rows.map((row) => asLine({ ...row, kinds: row.kinds.join(",") })).join("\n"));
  });

  test("are remembered with the key they were under, in lines of text too", async () => {
    const words = [
      ["goal", "team"],
      ["soup", "oven"],
      ["chip", "code"],
    ];
    const lines = Array.from({ length: 60 }, (_, r) => {
      const kinds = r % 4 === 3 ? ["k0", "k1"] : [`k${r % 3}`];
      const text = kinds.flatMap((kind) => words[Number(kind[1])]).join(" ");
      return JSON.stringify({ text, kinds });
    });
    writeFileSync(path("texts.jsonl"), lines.join("\n"));
    const { code, stderr } = await world.ranksim("train texts.jsonl --label kinds -m texts.ranksim");
    expect(code, stderr).toBe(0);
    expect(stderr).not.toContain("not used");
    expect(await done("inspect texts.ranksim")).toMatch(/label +column kinds/);
    expect(JSON.parse(await done("evaluate texts.ranksim texts.jsonl --json")).rows).toBe(60);
  });

  test.each(["", "--memory 4kB"])(
    "cannot be compared with simple methods, which is said before any work %s",
    async (memory) => {
      for (const how of ["-m none.ranksim", "--dry-run"]) {
        const { code, stderr } = await world.ranksim(
          `train rows.csv ${flags} ${how} --test-share 0.2 --baselines ${memory}`,
        );
        expect(code).toBe(2);
        expect(stderr).toContain("--baselines: expected one label per row");
        expect(stderr).not.toMatch(/^training/m);
      }
      await done(`train rows.csv ${flags} -m several.ranksim`);
      const judged = await world.ranksim("evaluate several.ranksim rows.csv --baselines rows.csv");
      expect(judged.stderr).toContain("--baselines: expected one label per row");
      expect(judged.stderr).not.toMatch(/^evaluating/m);
    },
  );

  test.each(FILES)("of %s: the same model in memory and in blocks, judged as with --labels", async (file) => {
    await done(`train ${file} ${flags} -m here.ranksim`);
    await done(`train ${file} ${flags} -m large.ranksim --memory 4kB`);
    expect(readFileSync(path("large.ranksim")).equals(readFileSync(path("here.ranksim")))).toBe(true);
    const answers = (await done("predict here.ranksim plain.csv --out-format jsonl")).split("\n").slice(0, 4);
    expect(answers.map((line) => JSON.parse(line).label)).toEqual([["b", "d"], ["c"], [], ["d"]]);
    expect(JSON.parse(await done(`evaluate here.ranksim ${file} --json`))).toMatchObject({
      rows: 600,
      hammingLoss: 0,
    });
    const apart = await folds("plain.csv --labels kinds.txt --set table=true");
    expect(await folds(`${file} --label kinds`)).toEqual(apart);
  });

  test("is refused with --sets, and for labels that are no text", async () => {
    const sets = await world.ranksim(`train rows.csv ${flags} --sets -m x.ranksim`);
    expect(sets).toMatchObject({ code: 1, stderr: expect.stringContaining("expected one label for each row") });
    writeFileSync(
      path("rows.npy"),
      encodeNpy(
        Float64Array.from({ length: 40 }, (_, i) => i % 7),
        [20, 2],
      ),
    );
    writeFileSync(path("labels.npy"), encodeNpy(Array.from({ length: 20 }, (_, i) => i % 2)));
    for (const memory of ["", "--memory 4kB"]) {
      const single = await world.ranksim(`train rows.npy --labels labels.npy --multilabel ${memory} -m x.ranksim`);
      expect(single).toMatchObject({ code: 1, stderr: expect.stringContaining("rows.npy: --multilabel: expected") });
    }
  });
});

test("labels beyond 2^53 are classes of their own, in memory and in blocks", async () => {
  const [even, odd] = ["9007199254740992", "9007199254740993"];
  const rows = Array.from({ length: 600 }, (_, r) => `${r % 2 ? 30 + (r % 3) : r % 3},${r % 5},${r % 2 ? odd : even}`);
  writeFileSync(path("large.csv"), `a,b,label\n${rows.join("\n")}\n`);
  const flags = "--estimator classifier --filters 4";
  await done(`train large.csv ${flags} -m here.ranksim`);
  await done(`train large.csv ${flags} -m large.ranksim --memory 4kB`);
  expect(readFileSync(path("large.ranksim")).equals(readFileSync(path("here.ranksim")))).toBe(true);
  expect((await done("predict here.ranksim large.csv")).split("\n").slice(0, 2)).toEqual([even, odd]);
  expect(JSON.parse(await done("evaluate here.ranksim large.csv --json")).accuracy).toBe(1);
});
