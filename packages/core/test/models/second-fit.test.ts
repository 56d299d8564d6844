/** `calibrateOn` trains twice: both fits with all that a fit may be given, and what is told, kept and released where one of them ends. */

import {
  type Backend,
  type ClassifierModel,
  type ClassifierParams,
  Dense,
  type Progress,
  RankSimilarityClassifier,
  type Run,
  type Saved,
  saveModel,
  toCsr,
} from "@ranksim/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { backendOn } from "../../src/backends/wasm/backend.ts";
import { openEngine } from "../../src/backends/wasm/engine/engine.ts";
import { drawBelow, generatorOf } from "../../src/random.ts";
import { readRows } from "../backends/read-rows.ts";
import { platforms } from "../platforms.ts";

const ROWS = 240;
const FEATURES = 16;
const random = generatorOf(3);
const y = Array.from({ length: ROWS }, (_, r) => r % 3);
const x = Dense.of(
  Uint8Array.from({ length: ROWS * FEATURES }, (_, e) => {
    const kind = y[Math.floor(e / FEATURES)];
    return drawBelow(random, 4) === 0 ? 0 : drawBelow(random, 100) + (e % 3 === kind ? 25 : 0);
  }),
  ROWS,
  FEATURES,
);
const weights = y.map((_, r) => 1 + (r % 4));
/** The same rows, then each moved by a value: copies as a fit is given them. */
const copies = Dense.of(
  Uint8Array.from(
    { length: 2 * ROWS * FEATURES },
    (_, e) => x.values[e < ROWS * FEATURES ? e : e - ROWS * FEATURES + 1] ?? 0,
  ),
  2 * ROWS,
  FEATURES,
);
const rowsOfClasses = [0, 1, 2].map((kind) => [...y.keys()].filter((r) => y[r] === kind));
const initialRows = rowsOfClasses.map((rows) => [...rows.slice(0, 3), ...rows.slice(-3)]);

const isCalibration = (name: string) => name.startsWith("calibration");

function partsOf(model: ClassifierModel): { filters: Saved["arrays"]; calibration: Saved["arrays"] } {
  const all = Object.entries(model.save().arrays);
  return {
    filters: Object.fromEntries(all.filter(([name]) => !isCalibration(name))),
    calibration: Object.fromEntries(all.filter(([name]) => isCalibration(name))),
  };
}

/** Progress that never goes back and ends with all of the work. */
function progress(): { onProgress: (told: Progress) => void; check: () => void } {
  const shares: number[] = [];
  return {
    onProgress: ({ share }) => void shares.push(share),
    check: () => {
      expect(shares).toEqual(shares.toSorted((a, b) => a - b));
      expect(shares.at(-1)).toBe(1);
    },
  };
}

const refined = { refine: true, refineEpochs: 2, refineWindow: 0.1 };
type Given = Partial<ClassifierParams>;
type More = { readonly weights?: readonly number[]; readonly copies?: number };

const cases: [string, Given, More, Dense][] = [
  ["sums that are kept", { keepSums: true }, {}, x],
  ["weights", {}, { weights }, x],
  ["weights and refinement", refined, { weights }, x],
  ["copies", {}, { copies: 2 }, copies],
  ["copies, weights and refinement", refined, { copies: 2, weights }, copies],
  ["rows to start from", { filters: "auto", initialRows }, {}, x],
  ["votes", { voters: 5 }, {}, x],
  ["a committee", { committee: 3 }, {}, x],
  ["a distribution of each class", { distributionPerClass: true, distribution: "confusion" }, {}, x],
];

describe.each(platforms.slice(1))("$title: a second fit", ({ open }) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await open();
  });
  afterAll(() => backend.close());

  it.each(cases)("with %s: filters of all rows, probabilities of the rows left out", async (_, params, more, rows) => {
    const given = { filters: 18, seed: 4, ...params };
    const fit = (calibrated: Given, run: Run = {}) =>
      new RankSimilarityClassifier({ ...given, ...calibrated }).fit(rows, y, { ...more, ...run, backend });
    const all = await fit({});
    const leftOut = await fit({ calibrate: "temperature" });
    const { check, ...telling } = progress();
    const both = await fit({ calibrate: "temperature", calibrateOn: "drawn" }, telling);
    check();
    expect(partsOf(both).filters).toEqual(partsOf(all).filters);
    expect(both.report).toMatchObject({
      rows: ROWS,
      trainings: all.report.trainings.map(({ filters }) => ({ filters })),
    });
    // Without all rows refinement may choose otherwise.
    const { calibration } = partsOf(both);
    if (!params.refine) expect(calibration).toEqual(partsOf(leftOut).calibration);
    expect(Object.keys(calibration)).toEqual(Object.keys(partsOf(leftOut).calibration));
    expect(await both.predict(x, { backend })).toEqual(await all.predict(x, { backend }));
  });

  it.each([
    ["dense", x],
    ["sparse", toCsr(x)],
  ])("of %s rows in blocks is the file of rows in memory", async (_, rows) => {
    const estimator = new RankSimilarityClassifier({
      ...{ filters: 18, calibrate: "temperature", calibrateOn: "drawn", ...refined },
    });
    const { check, ...telling } = progress();
    const read = await estimator.fit(readRows(rows, 16 * 4 * FEATURES * 9), y, { backend, ...telling });
    check();
    expect(saveModel(read)).toEqual(saveModel(await estimator.fit(rows, y, { backend })));
  });
});

describe("a second fit", () => {
  const calibrated = { filters: 18, calibrate: "temperature", calibrateOn: "drawn" } as const;

  it("leaves sums to which rows can be added as without probabilities", async () => {
    const kept = { filters: 18, keepSums: true };
    const [first, rest] = [x.slice(0, 200), x.slice(200, ROWS)];
    const grow = async (params: Given) =>
      (await new RankSimilarityClassifier(params).fit(first, y.slice(0, 200))).partialFit(rest, y.slice(200));
    const [plain, grown] = [await grow(kept), await grow({ ...calibrated, ...kept })];
    expect(grown.save().arrays).toEqual(plain.save().arrays);
    expect(grown.params.calibrate).toBe("none");
  });

  it("knows classes of a single row, which is never left out", async () => {
    const labels = y.map((kind, r) => (r === 17 ? 3 : kind));
    const model = await new RankSimilarityClassifier(calibrated).fit(x, labels);
    expect(model.classes).toEqual([0, 1, 2, 3]);
    expect((await model.predict(x.slice(17, 18)))[0]).toBe(3);
    const probabilities = await model.predictProbabilities(x);
    for (let r = 0; r < ROWS; r++) {
      const row = probabilities.row(r) as Float64Array;
      expect(row.reduce((sum, share) => sum + share)).toBeCloseTo(1, 12);
    }
  });

  it.each([
    ["classes have two rows each", { filters: 120 }, y.map((_, r) => r % 120)],
    ["training starts from every row", { filters: "auto", initialRows: rowsOfClasses }, y],
  ] as const)("is refused before the first where %s", async (_, params, labels) => {
    let told = 0;
    const run = { onProgress: () => void told++ };
    await expect(new RankSimilarityClassifier({ ...calibrated, ...params }).fit(x, labels, run)).rejects.toThrow(
      /^calibrate: expected enough rows to hold out a share of 0.1, found 240 in/,
    );
    expect(told).toBe(0);
  });

  it("counts in the seconds of the report", async () => {
    let isFirst = true;
    const waits = {
      onProgress: async ({ share }: Progress) => {
        if (share <= 0.5 || !isFirst) return;
        isFirst = false;
        await new Promise((resume) => setTimeout(resume, 300));
      },
    };
    const { report } = await new RankSimilarityClassifier(calibrated).fit(x, y, waits);
    expect(report.seconds).toBeGreaterThan(0.29);
  });

  it.each([{}, refined])("leaves nothing behind where it is aborted (%o)", async (params) => {
    const engine = await openEngine();
    const backend = backendOn(engine, "wasm");
    const estimator = new RankSimilarityClassifier({ ...calibrated, ...params, seed: 2 });
    const expected = saveModel(await estimator.fit(x, y));
    for (const end of [0.1, 0.5, 0.51, 0.7, 0.99, 1]) {
      const controller = new AbortController();
      const onProgress = ({ share }: Progress) => void (share >= end && controller.abort(new Error("enough")));
      const aborted = estimator.fit(x, y, { backend, signal: controller.signal, onProgress });
      await expect(aborted).rejects.toThrow("enough");
      expect(engine.memory.used).toBe(0);
    }
    expect(saveModel(await estimator.fit(x, y, { backend }))).toEqual(expected);
  });
});
