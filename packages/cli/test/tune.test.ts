/** `ranksim tune` and `ranksim update`: what they choose, write and refuse. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import {
  type ClassifierModel,
  type Dense,
  loadModel,
  RankSimilarityClassifier,
  saveModel,
  withSchema,
} from "@ranksim/core";
import { type DataSet, describeData, joinSchemas, loadDigits, textReaders } from "@ranksim/data";
import { tune } from "@ranksim/learn";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tradeOffChart } from "../src/report/trade-off.ts";
import type { CandidateView, TuningView } from "../src/report/tuning-content.ts";
import { tuningPage } from "../src/report/tuning-page.ts";
import { EXAMPLE_CONTENTS, makeWorld, type World } from "./world.ts";

let world: World;
beforeAll(() => {
  world = makeWorld();
  for (const [name, content] of Object.entries(EXAMPLE_CONTENTS)) writeFileSync(world.path(name), content);
});
afterAll(() => world.remove());

/** The digits as the catalogue parts them: the first two thirds, and the rest. */
async function digits() {
  const { x, y } = await loadDigits();
  return { train: { x: x.slice(0, 1198), y: y.slice(0, 1198) }, test: { x: x.slice(1198, 1797), y: y.slice(1198) } };
}

/** Digits as the command reads them. */
const asData = (part: { x: Dense; y: readonly number[] }): DataSet => ({
  form: "matrix",
  ...part,
  imageSize: { width: 8, height: 8 },
});

describe("tune", () => {
  test("shows simple methods beside the candidates, in the folds of groups or of times", async () => {
    // Two patients of three tell nothing of the third: his rows are the other way round.
    const rows = Array.from({ length: 90 }, (_, r) => {
      const [ill, patient] = [r % 2, r % 3];
      const high = (patient === 2 ? 1 - ill : ill) === 1;
      return `${high ? 90 + (r % 7) : 20 + (r % 5)},${r % 11},${(r * 13) % 8},p${patient},${r},${ill ? "ill" : "well"}`;
    });
    writeFileSync(world.path("patients.csv"), `fever,a,b,patient,day,state\n${rows.join("\n")}\n`);
    const flags = "--label state --try filters=6,12 --folds 3 --baselines --json";
    const ask = async (more: string) => {
      const { code, stdout, stderr } = await world.ranksim(`tune patients.csv ${flags} ${more}`);
      expect(code, stderr).toBe(0);
      return JSON.parse(stdout) as TuningView;
    };
    const byChance = await ask("--columns patient:ignore,day:ignore");
    const byGroup = await ask("--columns patient:group --columns day:ignore");
    const byTime = await ask("--columns day:time --columns patient:ignore");
    const best = ({ candidates }: TuningView) => candidates[0].judged?.score as number;
    expect(byChance.baselines?.map(({ name }) => name)).toEqual([
      "most frequent class",
      "5 nearest neighbours",
      "linear classifier",
    ]);
    // Every row is judged once, and half of them are of the most frequent class.
    expect(byChance.baselines?.[0]).toMatchObject({ accuracy: 0.5, rows: [60, 90] });
    // With groups apart, the third patient is always wrong, and he makes the others so: neighbours as well as filters.
    expect(best(byGroup)).toBeLessThan(best(byChance));
    expect(byGroup.baselines?.[1].accuracy).toBeLessThan(byChance.baselines?.[1].accuracy as number);
    // Of four parts by time, the last three are judged.
    expect(byTime.baselines?.[0].rows[1]).toBe(68);
    const page = tuningPage(byTime);
    expect(page).toContain("5 nearest neighbours");
  });

  test("chooses what the library would, trains it and writes page and plot", async () => {
    const { train } = await digits();
    const line = "tune digits:train --try filters=10,40 --try voters=1,3 --folds 3 --seed 2 --json";
    const outcome = await world.ranksim(`${line} -o tune.html --plot tune.svg -m best.ranksim`);
    expect(outcome).toMatchObject({ code: 0 });
    const view = JSON.parse(outcome.stdout) as TuningView;
    const candidates = [10, 40].flatMap((filters) =>
      [1, 3].map((voters) => new RankSimilarityClassifier({ filters, voters, seed: 2 })),
    );
    const expected = await tune(candidates, train.x, train.y, { folds: 3, seed: 2 });
    expect(view.candidates.map(({ params, judged }) => [params, judged?.score])).toEqual(
      expected.results.map(({ params, rounds }) => [params, rounds.at(-1)?.mean]),
    );
    expect(view).toMatchObject({ data: "digits:train", scoring: "accuracy", folds: 3, complete: true });
    const model = withSchema(await expected.best.estimator.fit(train.x, train.y), describeData(asData(train)));
    expect(Buffer.from(saveModel(model)).equals(readFileSync(world.path("best.ranksim")))).toBe(true);
    const page = readFileSync(world.path("tune.html"), "utf8");
    expect(page).toContain("<title>Tuning on digits:train</title>");
    expect(page).toContain((view.candidates[0].judged?.score ?? 0).toFixed(4));
    expect(readFileSync(world.path("tune.svg"), "utf8")).toMatch(/^<svg xmlns.*<\/svg>$/s);
  });

  test("tries what the data suggests, holds what is given and says how to train the choice", async () => {
    const { code, stdout } = await world.ranksim("tune plants.csv --label species --set distribution=rank --folds 3");
    expect(code).toBe(0);
    const [head] = stdout.split("\n");
    expect(head).toContain("filters");
    expect(head).not.toContain("distribution");
    expect(stdout).toMatch(
      /train it with: ranksim train DATA --model FILE --estimator classifier --label species --set distribution=rank --filters \S+/,
    );
  });

  test.each([
    [
      "plants.csv",
      "--label species --estimator classifier --seed 5 --set iterations=2 --set nBest=2 --try filters=3,6 --folds 2",
    ],
    ["days.csv", "--label kind --columns day:time --columns 'a b:ignore' --seed 3 --try filters=4,8 --folds 2"],
    ["days.csv", "--label kind --columns day:group --try voters=1,2 --filters 6 --folds 2"],
    ["reviews.csv", "--text --label stars --columns review:text --set minDf=2 --try filters=2,4 --folds 2"],
    ["reviews.csv", "--label stars --columns review:text --try filters=2,4 --folds 2"],
    [
      "digits:train",
      "--preset fast --seed 7 --set committee=2 --set patches.filters=16 --set patches.bytes=true --seconds 0.001 --folds 2",
    ],
  ])("the line for %s with %s trains what --model writes", async (data, flags) => {
    const days = Array.from(
      { length: 60 },
      (_, r) => `${r % 2 ? 40 + (r % 3) : r % 7},${r % 5},${r % 11},${r % 2 ? "x" : "y"}`,
    );
    writeFileSync(world.path("days.csv"), `p,day,a b,kind\n${days.join("\n")}\n`);
    const written = await world.ranksim(`tune ${data} ${flags} -m tuned.ranksim`);
    expect(written.code, written.stderr).toBe(0);
    const { stdout } = await world.ranksim(`tune ${data} ${flags}`);
    const line = /train it with: ranksim (train .*)/.exec(stdout)?.[1] ?? "";
    const trained = await world.ranksim(line.replace("DATA", data).replace("FILE", "trained.ranksim"));
    expect(trained.code, `${line}\n${trained.stderr}`).toBe(0);
    // Training stores words about the preset beside the model.
    const isPreset = line.includes("--preset");
    const stored = async (name: string) =>
      isPreset
        ? (await world.ranksim(`predict ${name} digits:test --top 3`)).stdout
        : readFileSync(world.path(name)).toString("base64");
    expect((await stored("trained.ranksim")) === (await stored("tuned.ranksim")), line).toBe(true);
  });

  test("says which columns hold texts and labels", async () => {
    const columns = "--label stars --columns review:text";
    const { stdout } = await world.ranksim(`tune reviews.csv --text ${columns} --folds 2 --try filters=2,4`);
    expect(stdout).toContain(`--text --set vectorizer=tfidf ${columns} --filters `);
    const preset = await world.ranksim(
      `tune reviews.csv --text ${columns} --folds 2 --filters 2 --set distribution=savage --set voters=1 --set logTf=true --set idfPower=2 --seconds 0.001`,
    );
    expect(preset.stdout).toContain(`--preset balanced --text ${columns}`);
  });

  test("tries weights of words for text", async () => {
    const flags = "--text --columns review:text --label stars --folds 2 --filters 2 --json";
    const { code, stdout } = await world.ranksim(`tune reviews.csv ${flags} -m words.ranksim`);
    expect(code).toBe(0);
    const { candidates } = JSON.parse(stdout) as TuningView;
    expect(new Set(candidates.map(({ params }) => params.idfPower))).toEqual(new Set([1, 2]));
    const model = loadModel(readFileSync(world.path("words.ranksim")), { readers: textReaders });
    expect(model.kind).toBe("pipeline");
  });

  test("starts from the recipe of the preset, with fewer and more filters", async () => {
    const line = "tune digits:train --set distribution=rank --set voters=1 --folds 2 --seconds 6";
    const { code, stdout, stderr } = await world.ranksim(`${line} --preset fast --json`);
    expect(code, stderr).toBe(0);
    const { candidates } = JSON.parse(stdout) as TuningView;
    const recipes = candidates.filter(({ params }) => params.preset === "fast");
    expect(recipes.map(({ params }) => params.filters).sort()).toEqual([100, 300, 33]);
    expect(recipes.map(({ title }) => title)).toContain("100 filters, preset fast");
    const names = Object.keys(candidates[0].params);
    expect(names).toContain("refine");
    for (const { params } of candidates) expect(Object.keys(params)).toEqual(names);
    const byHand = await world.ranksim(`${line} --filters 20 --estimator classifier --json`);
    expect((JSON.parse(byHand.stdout) as TuningView).candidates.some(({ params }) => "preset" in params)).toBe(false);
  });

  test("trains the preset's recipe where it is the best, and says how", async () => {
    const line =
      "tune digits:train --preset fast --filters 30 --set distribution=rank --set voters=1 --set refine=true --folds 2";
    const { code, stdout, stderr } = await world.ranksim(`${line} -m preset.ranksim`);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^1 +fast .*\n2 +– /m);
    expect(stdout).toContain("best: preset fast, 2 candidates");
    expect(loadModel(readFileSync(world.path("preset.ranksim"))).kind).toBe("pipeline");
    const shown = (await world.ranksim(line)).stdout;
    expect(shown).toContain(
      "train it with: ranksim train DATA --model FILE --preset fast --filters 30 --set distribution=rank --set voters=1 --set refine=true\n",
    );
  });

  test("says what the time was too short for", async () => {
    const { code, stdout } = await world.ranksim("tune digits:train --seconds 0.01 --folds 2");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^best: .*, 1 of \d+ candidates judged in /m);
    expect(stdout).toMatch(/the time was up: \d+ candidates did not see all rows/);
  });

  test("refuses what it cannot try", async () => {
    expect(await world.ranksim("tune digits --try filters")).toMatchObject({ code: 2 });
    expect(await world.ranksim("tune digits --try filterz=3")).toMatchObject({ code: 2 });
    expect(await world.ranksim("tune digits --try filters=none")).toMatchObject({ code: 2 });
    expect(await world.ranksim("tune digits --seconds 0")).toMatchObject({ code: 2 });
    expect(await world.ranksim("tune digits --try keep-sums=maybe")).toMatchObject({ code: 2 });
    expect(await world.ranksim("tune digits --out nowhere/../plants.csv/page.html")).toMatchObject({ code: 1 });
    const failed = await world.ranksim("tune digits --try filters=3");
    expect(failed).toMatchObject({ code: 1 });
    expect(failed.stderr).toContain("every candidate failed");
  });
});

describe("the page of tuning", () => {
  const candidate = (place: number, changes: Partial<CandidateView>): CandidateView => ({
    place,
    title: `candidate ${place}`,
    params: { filters: place },
    outcome: "finished",
    onFront: false,
    judged: {
      rows: 100,
      score: 1 - place / 10,
      standardDeviation: 0.01,
      multiplyAdds: 10 ** (5 - place),
      bytes: 1000 * place,
      secondsPerThousand: 0.01,
      fitSeconds: 1,
    },
    ...changes,
  });
  const view: TuningView = {
    data: "<b>&",
    scoring: "accuracy",
    folds: 5,
    complete: false,
    seconds: 3,
    rounds: [{ rows: 100, candidates: 4, judged: 3 }],
    candidates: [
      candidate(1, { onFront: true }),
      candidate(2, { onFront: true }),
      candidate(3, { outcome: "dropped" }),
      { place: 4, title: "late", params: { filters: 4 }, outcome: "cut", onFront: false },
    ],
  };

  test("draws a dot for each candidate that was judged, and a ring around the best", () => {
    const { body } = tradeOffChart(view);
    expect(body.match(/<circle[^>]*aria-label/g)).toHaveLength(3);
    expect(body).toContain("candidate 2: 0.8000 ± 0.0100, 1k multiply-adds, 2.0 kB");
    // One on the best, one in the legend.
    expect(body.match(/class="ring"/g)).toHaveLength(2);
    expect(body).not.toMatch(/NaN|Infinity|undefined/);
    const alone = tradeOffChart({ ...view, candidates: [candidate(1, { onFront: true })] });
    expect(alone.body).not.toMatch(/NaN|Infinity|undefined/);
  });

  test("says that more time may help, and trusts no name", () => {
    const page = tuningPage(view);
    expect(page).toContain("Tuning on &lt;b&gt;&amp;");
    expect(page).toContain("The time was up before 1 candidate could be judged on more rows");
    expect(page).not.toMatch(/NaN|undefined/);
  });
});

describe("update", () => {
  test("adds rows to the model file as the library would, and leaves nothing else behind", async () => {
    const { train, test: more } = await digits();
    await world.ranksim("train --estimator classifier digits:train --filters 50 --keep-sums -m growing.ranksim");
    const before = readdirSync(world.folder).length;
    const { code, stdout } = await world.ranksim("update growing.ranksim digits:test --json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ kind: "classifier", rowsAdded: 599, newClasses: [] });
    const model = await new RankSimilarityClassifier({ filters: 50, keepSums: true }).fit(train.x, train.y);
    const grown = await model.partialFit(more.x, more.y);
    withSchema(grown, joinSchemas(describeData(asData(train)), describeData(asData(more))));
    expect(Buffer.from(saveModel(grown)).equals(readFileSync(world.path("growing.ranksim")))).toBe(true);
    expect(readdirSync(world.folder)).toHaveLength(before);
  });

  test("takes new classes, text and another name for the result", async () => {
    const flags = "--columns review:text --label stars";
    await world.ranksim(
      `train --estimator classifier reviews.csv --text ${flags} --filters 6 --keep-sums -m talk.ranksim`,
    );
    const file = readFileSync(world.path("talk.ranksim"));
    writeFileSync(world.path("more.csv"), 'review,stars\n"a middling plot",3\n"a lovely cast",5\n');
    const { code, stdout } = await world.ranksim(`update talk.ranksim more.csv ${flags} --out next.ranksim`);
    expect(code).toBe(0);
    expect(stdout).toContain("2 rows, now 42");
    expect(stdout).toMatch(/new classes\s+3/);
    expect(readFileSync(world.path("talk.ranksim")).equals(file)).toBe(true);
    const grown = loadModel(readFileSync(world.path("next.ranksim")), { readers: textReaders });
    expect((grown as unknown as ClassifierModel).classes).toEqual([1, 3, 5]);
  });

  test("says that probabilities are no longer fitted", async () => {
    await world.ranksim("train digits:train --preset fast --filters 50 --keep-sums -m sure.ranksim");
    const note = "probabilities are no longer fitted";
    expect((await world.ranksim("update sure.ranksim digits:test -o next.ranksim")).stderr).toContain(note);
    expect((await world.ranksim("update next.ranksim digits:test")).stderr).not.toContain(note);
  });

  test("refuses a model that kept nothing and leaves it as it is", async () => {
    await world.ranksim("train --estimator classifier digits:train --filters 20 -m still.ranksim");
    const file = readFileSync(world.path("still.ranksim"));
    const { code, stderr } = await world.ranksim("update still.ranksim digits:test");
    expect(code).toBe(1);
    expect(stderr).toContain("train it with --keep-sums");
    expect(readFileSync(world.path("still.ranksim")).equals(file)).toBe(true);
    expect(await world.ranksim("update digits.ranksim digits")).toMatchObject({ code: 1 });
    expect(existsSync(world.path("digits.ranksim"))).toBe(false);
  });
});
