/** Tables as people have them: words, dates, decimal commas, gaps; recognised, shown, encoded and answered. */

import { readFileSync, statSync, writeFileSync } from "node:fs";
import { type ClassifierModel, PipelineModel, schemaOf } from "@ranksim/core";
import { type TableData, type TableLike, TableModel } from "@ranksim/data";
import { loadData } from "@ranksim/data/node";
import { train } from "@ranksim/learn";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readModelFile as loadModel } from "../src/load-model.ts";
import { EXAMPLE_CONTENTS, makeWorld, mixed, type World } from "./world.ts";

let world: World;

beforeAll(async () => {
  world = makeWorld();
  for (const [name, content] of Object.entries(EXAMPLE_CONTENTS)) writeFileSync(world.path(name), content);
  writeFileSync(world.path("mixed.csv"), mixed());
  expect(await world.ranksim("train mixed.csv --label quality -m mixed.ranksim")).toMatchObject({ code: 0 });
});

afterAll(() => world.remove());

const json = async (line: string) => {
  const { code, stdout, stderr } = await world.ranksim(`${line} --json --quiet`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
};

describe("a mixed table", () => {
  test("trains, and its held-out rows are told apart", async () => {
    const { accuracy } = await json("cross-validate mixed.csv --label quality --folds 5");
    expect(accuracy.mean).toBeGreaterThan(0.95);
  });

  test("may have a column without a name, which is shown by its quotes", async () => {
    const lines = mixed().trimEnd().split("\n");
    const indexed = lines.map((line, r) => `${r === 0 ? "" : r - 1};${line}`).join("\n");
    writeFileSync(world.path("indexed.csv"), `${indexed}\n`);
    const { stdout } = await world.ranksim("train indexed.csv --label quality --dry-run");
    expect(stdout).toMatch(/^left out .*"" \(it numbers the rows\)/m);
  });

  test("is stored with its types, so that nothing has to be said again", async () => {
    const model = loadModel(readFileSync(world.path("mixed.ranksim")));
    expect(model).toBeInstanceOf(PipelineModel);
    expect((model as PipelineModel).steps[0]).toBeInstanceOf(TableModel);
    expect(schemaOf(model)).toMatchObject({
      form: "table",
      columns: [
        { name: "colour", type: "category" },
        { name: "when", type: "date", order: "dmy" },
        { name: "size", type: "number", decimal: "," },
        { name: "flag", type: "boolean" },
      ],
      label: "quality",
      ignored: ["key"],
    });
    expect((await json("evaluate mixed.ranksim mixed.csv")).accuracy).toBeGreaterThan(0.95);
  });

  test("is answered row by row as all at once, columns in any order, without key and label", async () => {
    const all = (await world.ranksim("predict mixed.ranksim mixed.csv")).stdout.split("\n");
    const lines = mixed().split("\n");
    const turned = (line: string) => line.split(";").slice(1, 5).reverse().join(";");
    for (const row of [0, 5, 11, 13, 77]) {
      const stdin = `${turned(lines[0])}\n${turned(lines[row + 1])}\n`;
      expect(await world.ranksim("predict mixed.ranksim -", { stdin })).toMatchObject({
        stdout: `${all[row]}\n`,
        stderr: "",
      });
    }
  });

  test("of texts alone is trained on their words, without a word said of them", async () => {
    const sentence = (r: number) => `this is row number ${r} of a table of sentences that nobody would call a word`;
    const lines = Array.from({ length: 30 }, (_, r) => `${r},${sentence(r)},${r % 2 ? "odd" : "even"}`);
    writeFileSync(world.path("talk.csv"), `id,said,kind\n${lines.join("\n")}\n`);
    const train = "train talk.csv --label kind";
    expect(await world.ranksim(`${train} -m talk.ranksim`)).toMatchObject({ code: 0 });
    expect(await world.ranksim(`${train} --columns said:text -m told.ranksim`)).toMatchObject({ code: 0 });
    const answers = async (model: string) => (await world.ranksim(`predict ${model} talk.csv`)).stdout;
    expect(await answers("talk.ranksim")).toBe(await answers("told.ranksim"));
  });

  test("takes words never seen and gaps never known, and refuses what is no date, by its line", async () => {
    const rows = (...lines: string[]) => `colour;when;size;flag\n${lines.join("\n")}\n`;
    const odd = await world.ranksim("predict mixed.ranksim -", { stdin: rows("violet;;;", "red;12.11.2023;5,5;yes") });
    expect(odd.code).toBe(0);
    expect(odd.stdout.split("\n")[1]).toBe("good");
    const wrong = await world.ranksim("predict mixed.ranksim -", { stdin: rows("red;2023-11-12;5,5;yes") });
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toContain('line 2, column 1 ("when"): expected a date as at training, found "2023-11-12"');
    const word = await world.ranksim("predict mixed.ranksim -", { stdin: rows("red;12.11.2023;large;yes") });
    expect(word.stderr).toContain('expected a number with a decimal comma as at training, found "large"');
  });

  test("is explained by its columns, with what the row holds there", async () => {
    const { stdout } = await world.ranksim("explain mixed.ranksim mixed.csv --row 1");
    expect(stdout).toMatch(/^column +value +speaks/m);
    expect(stdout).not.toMatch(/feature \d/);
    expect(stdout).toMatch(/(when: month|size (up to|around|from)|flag =|colour =)/);
  });

  test("is reported by its columns, with date, version, command and digests", async () => {
    const env = { SOURCE_DATE_EPOCH: "1700000000" };
    expect(await world.ranksim("report mixed.ranksim mixed.csv -o mixed.html", { env })).toMatchObject({ code: 0 });
    const page = readFileSync(world.path("mixed.html"), "utf8");
    expect(page).toContain("2023-11-14 22:13 UTC");
    expect(page).toMatch(/ranksim \d+\.\d+\.\d+/);
    expect(page).toContain("ranksim report mixed.ranksim mixed.csv -o mixed.html");
    const { digest } = schemaOf(loadModel(readFileSync(world.path("mixed.ranksim"))))?.training ?? { digest: "none" };
    expect(page).toContain(digest.slice(0, 16));
    expect(page).not.toMatch(/feature \d/);
    expect(page).toContain("size");
  });

  test("is inspected by its columns", async () => {
    const { stdout } = await world.ranksim("inspect mixed.ranksim");
    for (const line of [
      /numbers +1 +size \(decimal comma\)/,
      /dates +1 +when \(day first\)/,
      /label +column quality/,
    ]) {
      expect(stdout).toMatch(line);
    }
  });

  test("grows", async () => {
    await world.ranksim("train mixed.csv --label quality --keep-sums -m growing.ranksim");
    expect(await world.ranksim("update growing.ranksim mixed.csv -o grown.ranksim")).toMatchObject({ code: 0 });
    expect((await json("evaluate grown.ranksim mixed.csv")).accuracy).toBeGreaterThan(0.9);
  });

  test("is tuned, and what was chosen is a table model", async () => {
    const line = "tune mixed.csv --label quality --try knots=auto,9 --try filters=10 --folds 3 -m tuned.ranksim";
    const { candidates } = await json(line);
    expect(candidates.map(({ params }: { params: object }) => Object.values(params)[0]).sort()).toEqual([9, "auto"]);
    expect((await json("evaluate tuned.ranksim mixed.csv")).accuracy).toBeGreaterThan(0.9);
  });

  test("of several files is one table", async () => {
    const [head, ...lines] = mixed().trimEnd().split("\n");
    writeFileSync(world.path("one.csv"), `${[head, ...lines.slice(0, 60)].join("\n")}\n`);
    writeFileSync(world.path("two.csv"), `${[head, ...lines.slice(60)].join("\n")}\n`);
    expect(await world.ranksim("train one.csv two.csv --label quality -m both.ranksim")).toMatchObject({
      code: 0,
    });
    expect((await json("evaluate both.ranksim mixed.csv")).accuracy).toBeGreaterThan(0.95);
  });
});

describe("what was found", () => {
  test("is shown by --dry-run, which trains and writes nothing", async () => {
    const { code, stdout } = await world.ranksim("train mixed.csv --label quality --dry-run -m never.ranksim");
    expect(code).toBe(0);
    expect(() => statSync(world.path("never.ranksim"))).toThrow();
    for (const line of [
      /data +a table, its columns encoded/,
      /rows +120/,
      /header +yes/,
      /numbers +1 +size \(decimal comma\)/,
      /categories +1 +colour/,
      /dates +1 +when \(day first\)/,
      /booleans +1 +flag/,
      /left out +key \(it names almost every row\); --columns key:text keeps it/,
      /label +column quality/,
      /classes +2 +good \(60\), bad \(60\)/,
      /recipe +table-encoder .*→ linear/,
    ]) {
      expect(stdout).toMatch(line);
    }
    expect(await json("train mixed.csv --label quality --dry-run")).toMatchObject({
      dryRun: true,
      form: "table",
      rows: 120,
    });
  });

  test("is said in the line of the recipe, as for other rows", async () => {
    const line = "train mixed.csv --label quality -m said.ranksim";
    const table = "for a table of 120 rows and 4 columns, 2 classes: columns encoded";
    expect((await world.ranksim(line)).stdout).toContain(`balanced, ${table}`);
    expect((await world.ranksim(`${line} --preset fast`)).stdout).toContain(`fast, ${table}, a linear classifier\n`);
    expect((await world.ranksim(`${line} --preset paper`)).stdout).toContain(`paper, ${table}, 9 filters that vote\n`);
    const { recipe } = await json(`${line} --test-share 0.25 --set voters=1`);
    expect(recipe).toMatchObject({
      preset: "balanced",
      about: expect.stringContaining("balanced, for a table of 90 rows and 4 columns, 2 classes: columns encoded"),
    });
  });

  test("is told of where one cell keeps a column from being numbers, read whole or in blocks", async () => {
    const lines = Array.from({ length: 200 }, (_, r) => {
      const long = r === 77 ? "1.O5" : (r * 7.31 + (r % 2)).toFixed(3);
      return `${long},${r === 120 ? "1l" : (r * 7) % 30},${"abc"[r % 3]},${"xy"[r % 2]}`;
    });
    writeFileSync(world.path("typo.csv"), `size,weight,kind,class\n${lines.join("\n")}\n`);
    for (const memory of ["", "--memory 1MB"]) {
      const { stderr } = await world.ranksim(`train typo.csv -m typo.ranksim ${memory}`);
      const notes = stderr.split("\n").filter((line) => line.startsWith("note: almost"));
      expect(notes).toEqual([
        'note: almost all cells of size are numbers, but "1.O5" is not, so it is left out; --columns size:number says where',
        'note: almost all cells of weight are numbers, but "1l" is not, so it is taken as categories; --columns weight:number says where',
      ]);
    }
    const { code, stderr } = await world.ranksim("train typo.csv -m typo.ranksim --columns size:number");
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/column "size", row 77: expected a number, found "1.O5"/),
    ]);
  });

  test("is trained as the library does, with probabilities, and the model remembers the recipe", async () => {
    writeFileSync(world.path("more.csv"), mixed(300));
    const line = "train more.csv --label quality";
    const { recipe } = await json(`${line} -m more.ranksim`);
    const { model: own } = await train(await loadData(world.path("more.csv"), { labelColumn: "quality" }));
    const model = loadModel(readFileSync(world.path("more.ranksim"))) as PipelineModel<TableLike, ClassifierModel>;
    expect(schemaOf(model)?.recipe).toEqual(recipe);
    expect((model.steps.at(-1) as ClassifierModel).params.calibrate).toBe("temperature");
    const { table } = (await loadData(world.path("more.csv"), { labelColumn: "quality" })) as TableData;
    const kept = table.select(["colour", "when", "size", "flag"]);
    expect(await model.predictProbabilities(kept)).toEqual(await (own as typeof model).predictProbabilities(table));
    await json(`${line} -m blocks.ranksim --memory 1MB`);
    expect(readFileSync(world.path("blocks.ranksim"))).toEqual(readFileSync(world.path("more.ranksim")));
  });

  test.each([
    ["--estimator classifier --set refine=true", 9],
    ["--estimator classifier --set voters=3", 3],
    ["--preset balanced --set committee=2", 1],
    ["--estimator classifier --set committee=2", 1],
  ])("lets filters vote with %s: %d", async (flags, voters) => {
    await json(`train mixed.csv --label quality ${flags} -m votes.ranksim`);
    const model = loadModel(readFileSync(world.path("votes.ranksim"))) as PipelineModel<TableLike, ClassifierModel>;
    expect((model.steps[1] as ClassifierModel).voters).toBe(voters);
  });

  test("stays as it is where columns have one unit", async () => {
    for (const [line, recipe] of [
      ["train plants.csv --label species --set table=false --dry-run", /recipe +classifier /],
      ["train digits --dry-run", /recipe +patches.* → classifier /],
    ] as const) {
      const { stdout } = await world.ranksim(line);
      expect(stdout).toMatch(/data +numbers, taken as they are/);
      expect(stdout).toMatch(recipe);
    }
  });

  test("is overridden by --columns, --set table=true and --set table=false", async () => {
    const { columns, label } = await json(
      "train mixed.csv --columns quality:label,size:category,flag:ignore --dry-run",
    );
    expect(label).toBe("quality");
    expect(columns).toContainEqual({ name: "size", type: "category" });
    expect(columns.map(({ name }: { name: string }) => name)).not.toContain("flag");
    expect((await json("train plants.csv --label species --set table=true --dry-run")).form).toBe("table");
    const plain = await world.ranksim("train mixed.csv --label quality --set table=false -m no.ranksim");
    expect(plain).toMatchObject({ code: 1, stdout: "" });
    expect(plain.stderr).toContain('mixed.csv, line 2, column 0 ("key"): expected a number, found "k-0"');
    const wrong = await world.ranksim("train mixed.csv --columns quality:colour --dry-run");
    expect(wrong).toMatchObject({ code: 2 });
    const unknown = await world.ranksim("train mixed.csv --label quality --columns sise:number --dry-run");
    expect(unknown.stderr).toContain("sise");
  });
});

describe("beside the model", () => {
  test("a card says what it was made of, how and when; the model itself does not", async () => {
    const line = "train mixed.csv --label quality -m carded.ranksim --card card.md";
    expect(await world.ranksim(line, { env: { SOURCE_DATE_EPOCH: "1700000000" } })).toMatchObject({ code: 0 });
    const card = readFileSync(world.path("card.md"), "utf8");
    for (const text of [
      "2023-11-14 22:13 UTC",
      `\`ranksim ${line}\``,
      "| when | date |  |",
      "left out: it names almost every row",
      "| good | 60 |",
      "maxIterations",
    ]) {
      expect(card).toContain(text);
    }
    expect(readFileSync(world.path("carded.ranksim"))).toEqual(readFileSync(world.path("mixed.ranksim")));
  });

  test("--no-rows leaves out the numbers of rows, and changes no answer", async () => {
    await world.ranksim("train mixed.csv --label quality -m bare.ranksim --no-rows --filters 10");
    await world.ranksim("train mixed.csv --label quality -m full.ranksim --filters 10");
    const [bare, full] = ["bare", "full"].map((name) => readFileSync(world.path(`${name}.ranksim`)));
    expect(bare.length).toBeLessThan(full.length - 4 * 120);
    expect(schemaOf(loadModel(bare))?.training).not.toHaveProperty("seen");
    expect((await world.ranksim("predict bare.ranksim mixed.csv --probabilities")).stdout).toBe(
      (await world.ranksim("predict full.ranksim mixed.csv --probabilities")).stdout,
    );
    expect(await world.ranksim("explain bare.ranksim mixed.csv --row 0")).toMatchObject({ code: 0 });
  });
});
