/** What every estimator promises, after scikit-learn's check_estimator: one suite for all of them, on every back end. */

import {
  type Backend,
  Csr,
  Dense,
  type GrowingModel,
  type Handle,
  type HeldBank,
  type HeldRows,
  type Label,
  loadModel,
  type MatrixLike,
  type Progress,
  RanksimError,
  type Run,
  saveModel,
  toCsr,
  type Values,
} from "@ranksim/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gpuPlatforms, gpuRefusal, isSoftware } from "../../../gpu/test/gpu.ts";
import { drawBelow, generatorOf } from "../../src/random.ts";
import { type Platform, platforms } from "../platforms.ts";
import { subjects } from "./subjects.ts";

const FEATURES = 12;

/** Three kinds of rows, each with its own high features, and some noise: whole numbers from 0 to 40. */
function makeData(rows: number, seed = 5): { x: number[][]; y: string[] } {
  const generator = generatorOf(seed);
  const x: number[][] = [];
  const y: string[] = [];
  for (let r = 0; r < rows; r++) {
    const kind = r % 3;
    x.push(Array.from({ length: FEATURES }, (_, i) => (i % 3 === kind ? 25 : 0) + drawBelow(generator, 16)));
    y.push(["ant", "bee", "cow"][kind]);
  }
  return { x, y };
}

const { x, y } = makeData(60);
const flat = x.flat();
const fresh = makeData(20, 9).x;

/** A back end that counts the rows that are held, and the filters and prototypes made from them. */
function counted(backend: Backend): { backend: Backend; held: () => number } {
  const held = new Set<Handle>();
  const watch = <H extends Handle>(handle: H): H => {
    held.add(handle);
    const release = handle.release.bind(handle);
    handle.release = () => {
      held.delete(handle);
      release();
    };
    return handle;
  };
  const watchRows = (rows: HeldRows): HeldRows => {
    const { rank, refine } = rows;
    rows.rank = async (...args) => watchBank(await rank.apply(rows, args));
    rows.refine = async (...args) => {
      const refining = watch(await refine.apply(rows, args));
      const { bank } = refining;
      refining.bank = async () => watchBank(await bank.apply(refining));
      return refining;
    };
    return watch(rows);
  };
  const watchBank = (bank: HeldBank): HeldBank => {
    const { replace } = bank;
    bank.replace = async (...args) => watchBank(await replace.apply(bank, args));
    return watch(bank);
  };
  return {
    backend: {
      name: backend.name,
      threads: backend.threads,
      estimate: (work) => backend.estimate(work),
      hold: async (...args) => watchRows(await backend.hold(...args)),
      close: () => backend.close(),
    },
    held: () => held.size,
  };
}

/** Every number of an answer is finite. */
function expectFinite(answer: unknown): void {
  const { probabilities } = answer as { probabilities: number[] };
  expect(probabilities.every(Number.isFinite)).toBe(true);
}

/** A program that plays a GPU takes seconds for a fit: it has the classifier alone. */
const slow = subjects.filter(({ title }) => title === "RankSimilarityClassifier");

describe.each(platforms)("estimator contract on $title", contract);
describe.skipIf(gpuRefusal !== undefined).each(gpuPlatforms)("estimator contract on $title", contract);

function contract({ open, title }: Platform): void {
  let backend: Backend;
  beforeAll(async () => {
    backend = await open();
  });
  afterAll(() => backend.close());

  describe.each(title === gpuPlatforms[0]?.title && isSoftware ? slow : subjects)("$title", (subject) => {
    const fit = (data: MatrixLike, labels: readonly Label[] = y, params: object = {}) =>
      subject.make(params).fit(data, subject.labelled ? subject.labels(labels) : undefined, { backend });
    const bytes = async (data: MatrixLike, labels?: readonly Label[], params?: object) =>
      saveModel(await fit(data, labels, params));
    const answer = async (data: MatrixLike, labels: readonly Label[], params?: object) => {
      const model = await fit(data, labels, params);
      const found = await subject.answer(model, data, { backend });
      expectFinite(found);
      return found;
    };

    it("keeps its parameters as given, through construction and fit", async () => {
      const estimator = subject.make({ filters: 9, seed: 3 });
      const before = JSON.stringify(estimator.params);
      expect(before).toContain("9");
      await estimator.fit(x, subject.labels(y), { backend });
      expect(JSON.stringify(estimator.params)).toBe(before);
    });

    it("refuses wrong parameters by name", () => {
      expect(() => subject.make({ filters: 0 })).toThrow(/filters: expected .*found 0/);
      expect(() => subject.make({ filterz: 3 })).toThrow(/filterz/);
      expect(() => subject.make({ spreading: "best" })).toThrow(/spreading: expected "max"/);
      expect(() => subject.make({ tolerance: -1 })).toThrow(/tolerance/);
      expect(() => subject.make({ seed: 0.5 })).toThrow(/seed/);
    });

    it("fits anew each time: twice equals once, whatever came between", async () => {
      const estimator = subject.make({ filters: 12 });
      const labels = subject.labels(y);
      const once = saveModel(await estimator.fit(x, labels, { backend }));
      await estimator.fit(
        x.map((row) => row.slice(0, 7)),
        labels,
        { backend },
      );
      expect(saveModel(await estimator.fit(x, labels, { backend }))).toEqual(once);
    });

    it("gives the same bytes for the same seed and others for another", async () => {
      const params = { filters: 12, iterations: 1 };
      const one = await bytes(x, y, { ...params, seed: 1 });
      expect(await bytes(x, y, { ...params, seed: 1 })).toEqual(one);
      expect(await bytes(x, y, { ...params, seed: 2 })).not.toEqual(one);
    });

    it("never changes its input", async () => {
      const data = Uint8Array.from(flat);
      const rows = Dense.of(data, x.length, FEATURES);
      const labels = subject.labels(y);
      const before = JSON.stringify(labels);
      const model = await subject.make().fit(rows, labels, { backend });
      await subject.answer(model, rows, { backend });
      expect([...data]).toEqual(flat);
      expect(JSON.stringify(labels)).toBe(before);
    });

    it.each(["random", "plusplus", "weightedAverage"])(
      "learns the same from dense, sparse and plain rows of any type (initialize %s)",
      async (initialize) => {
        const params = { filters: 15, initialize, distribution: "confusion" };
        const expected = await bytes(x, y, params);
        for (const Type of [Uint8Array, Uint16Array, Int16Array, Float32Array, Float64Array]) {
          const dense = Dense.of(Type.from(flat) as Values, x.length, FEATURES);
          expect(await bytes(dense, y, params)).toEqual(expected);
          expect(await bytes(toCsr(dense), y, params)).toEqual(expected);
        }
        expect(
          await bytes(
            x.map((row) => Int16Array.from(row)),
            y,
            params,
          ),
        ).toEqual(expected);
      },
    );

    it("learns the same from dense and sparse rows of fractions", async () => {
      const fractions = x.map((row) => row.map((v) => (v < 8 ? 0 : v / 7)));
      const dense = Dense.fromRows(fractions);
      for (const distribution of ["savage", "confusion"]) {
        const params = { filters: 15, distribution };
        expect(await bytes(toCsr(dense), y, params)).toEqual(await bytes(dense, y, params));
      }
    });

    it.each<[string, Label[]]>([
      ["strings", ["z", "a", ""]],
      ["numbers", [7, -2, 0.5]],
      ["both", ["1", 1, "one"]],
    ])("takes %s as labels", async (_, names) => {
      const labels = y.map((name) => names[["ant", "bee", "cow"].indexOf(name)]);
      const found = (await answer(x, labels)) as { labels?: unknown[] };
      if (!found.labels) return;
      const expected = subject.labels(labels) as unknown[];
      const right = found.labels.filter((label, r) => {
        const truth = expected[r];
        return Array.isArray(truth) ? truth.some((t) => (label as unknown[]).includes(t)) : label === truth;
      });
      expect(right.length).toBeGreaterThan(0.9 * labels.length);
    });

    const column = (value: (r: number, i: number) => number, rows = 8, features = FEATURES) =>
      Array.from({ length: rows }, (_, r) => Array.from({ length: features }, (_, i) => value(r, i)));
    const alternating = (rows: number) => Array.from({ length: rows }, (_, r) => (r % 2 === 0 ? "a" : "b"));

    it.each<[string, number[][], object]>([
      ["one row", [x[0]], {}],
      ["two features", column((r, i) => (r + i) % 2, 8, 2), {}],
      ["all rows zero", column(() => 0), {}],
      ["some rows zero", column((r, i) => (r % 3 === 0 ? 0 : i)), {}],
      ["columns of zeros", column((r, i) => (i < 6 ? 0 : (r * i) % 7)), {}],
      ["constant rows", column((r) => r + 1), {}],
      ["repeated rows", column((r, i) => ((r % 2) + 1) * i), {}],
      ["negative values", column((r, i) => ((r * 7 + i * 3) % 11) - 5), {}],
      ["more filters than rows", column((r, i) => (r * 5 + i * 3) % 13), { filters: 30 }],
      ["more classes than rows of a class", x.slice(0, 8), {}],
    ])("copes with %s", async (title, rows, params) => {
      const labels =
        title === "more classes than rows of a class" ? rows.map((_, r) => `class ${r}`) : alternating(rows.length);
      for (const initialize of ["random", "weightedAverage"]) {
        for (const spreading of ["max", "weightedAverage", "none"]) {
          for (const distribution of ["rank", "savage", "confusion"]) {
            await answer(rows, labels, { initialize, spreading, distribution, ...params });
            await answer(toCsr(Dense.fromRows(rows)), labels, { initialize, spreading, distribution, ...params });
          }
        }
      }
    });

    it("copes with one class", async () => {
      const found = (await answer(
        x,
        y.map(() => "only"),
      )) as { labels?: unknown[] };
      if (found.labels && !Array.isArray(found.labels[0])) expect(new Set(found.labels)).toEqual(new Set(["only"]));
    });

    it("refuses data it cannot rank, saying where", async () => {
      const code = async (data: MatrixLike) => {
        const error = await fit(data).catch((e) => e);
        expect(error).toBeInstanceOf(RanksimError);
        return `${error.code}: ${error.message}`;
      };
      const spoiled = (value: number) => x.map((row, r) => row.map((v, i) => (r === 4 && i === 7 ? value : v)));
      expect(await code(spoiled(Number.NaN))).toMatch(/bad-matrix: row 4, column 7: .*NaN/);
      expect(await code(spoiled(Number.POSITIVE_INFINITY))).toMatch(/row 4, column 7: .*Infinity/);
      expect(await code([])).toMatch(/empty-input: expected at least 1 row/);
      expect(await code(x.map((row) => row.slice(0, 1)))).toMatch(/at least 2 features.*found 1/);
      expect(await code([...x.slice(1), [1, 2]])).toMatch(/row 59: expected 12 values as in row 0, found 2/);
      expect(await code("text" as unknown as MatrixLike)).toMatch(/bad-matrix/);
    });

    it("refuses rows of another width, naming both", async () => {
      const model = await fit(x);
      const narrow = x.map((row) => row.slice(0, 5));
      await expect(subject.answer(model, narrow, { backend })).rejects.toThrow(/12 features.*5/);
      const wide = Csr.fromRows([[[20, 1]]], 21);
      await expect(subject.answer(model, wide, { backend })).rejects.toMatchObject({ code: "wrong-width" });
    });

    it.runIf(subject.labelled)("refuses labels that do not fit the rows", async () => {
      const estimator = subject.make();
      await expect(estimator.fit(x, undefined, { backend })).rejects.toMatchObject({ code: "bad-labels" });
      await expect(estimator.fit(x, subject.labels(y.slice(1)), { backend })).rejects.toThrow(/60 labels.*59/);
      const holes = [...y.slice(1), undefined as unknown as string];
      await expect(estimator.fit(x, subject.labels(holes), { backend })).rejects.toThrow(/row 59: .*undefined/);
    });

    it("survives saving and loading: the same bytes, the same answers", async () => {
      for (const distribution of ["rank", "savage", "confusion"]) {
        for (const data of [Dense.fromRows(x), toCsr(Dense.fromRows(sparseRows()))]) {
          const model = await fit(data, y, { filters: 12, distribution });
          const saved = saveModel(model);
          const loaded = loadModel(saved);
          expect(saveModel(loaded)).toEqual(saved);
          expect(await subject.answer(loaded, data, { backend })).toEqual(
            await subject.answer(model, data, { backend }),
          );
        }
      }
    });

    it("answers no rows with nothing", async () => {
      const model = await fit(x);
      const found = (await subject.answer(model, Dense.of(new Uint8Array(0), 0, FEATURES), { backend })) as {
        labels?: unknown[];
      };
      expect(found.labels ?? []).toEqual([]);
    });

    it("answers rows one by one as it does together", async () => {
      const model = await fit(x);
      const together = (await subject.answer(model, fresh, { backend })) as { probabilities: number[] };
      const apart: number[] = [];
      for (const row of fresh) {
        const one = (await subject.answer(model, [row], { backend })) as { probabilities: number[] };
        apart.push(...one.probabilities);
      }
      expect(apart).toEqual(together.probabilities);
    });

    it("tells how far it is, never falling, from 0 to 1", async () => {
      const seen: Progress[] = [];
      await subject.make().fit(x, subject.labels(y), { backend, onProgress: (p) => void seen.push(p) });
      const shares = seen.map(({ share }) => share);
      expect(shares[0]).toBe(0);
      expect(shares.at(-1)).toBe(1);
      expect(shares).toEqual([...shares].sort((a, b) => a - b));
    });

    it("takes in more rows: the same from dense and sparse ones, told from 0 to 1, nothing held after an abort", async () => {
      const grown = async (data: MatrixLike, run: Run = { backend }) => {
        const model = (await fit(data, y, { filters: 12, keepSums: true })) as unknown as GrowingModel;
        return model.partialFit(data, subject.labels(y.map((label, r) => (r < 9 ? "new" : label))), run);
      };
      const shares: number[] = [];
      const model = await grown(x, { backend, onProgress: ({ share }) => void shares.push(share) });
      expect(shares[0]).toBe(0);
      expect(shares.at(-1)).toBe(1);
      expect(shares).toEqual([...shares].sort((a, b) => a - b));
      expect(saveModel(await grown(toCsr(Dense.fromRows(x))))).toEqual(saveModel(model));
      expect(saveModel(loadModel(saveModel(model)))).toEqual(saveModel(model));
      expectFinite(await subject.answer(model, fresh, { backend }));
      for (let step = 0; step < shares.length; step++) {
        const watch = counted(backend);
        const abort = new AbortController();
        let steps = 0;
        const onProgress = () => {
          if (steps++ === step) abort.abort(new Error("enough"));
        };
        await expect(grown(x, { backend: watch.backend, signal: abort.signal, onProgress })).rejects.toThrow("enough");
        expect(watch.held()).toBe(0);
      }
    });

    it("stops at an abort, at any step, and holds nothing afterwards", async () => {
      const stopAt = async (step: number): Promise<boolean> => {
        const watch = counted(backend);
        const abort = new AbortController();
        let steps = 0;
        const run = {
          backend: watch.backend,
          signal: abort.signal,
          onProgress: () => {
            if (steps++ === step) abort.abort(new Error("enough"));
          },
        };
        const outcome = await subject
          .make()
          .fit(x, subject.labels(y), run)
          .then(
            () => "finished",
            (error: Error) => error.message,
          );
        // A finished model may go on using the one bank it was trained to.
        expect(watch.held()).toBeLessThanOrEqual(outcome === "finished" ? 1 : 0);
        if (steps > step) expect(outcome).toBe("enough");
        return steps > step;
      };
      let step = 0;
      while (await stopAt(step)) step++;
      expect(step).toBeGreaterThan(2);
      await expect(
        subject.make().fit(x, subject.labels(y), { backend, signal: AbortSignal.abort(new Error("before")) }),
      ).rejects.toThrow("before");
    });
  });
}

/** 90 features, few of them not zero in a row, so that filters are stored as a base and exceptions. */
function sparseRows(): number[][] {
  const generator = generatorOf(11);
  return y.map((_, r) =>
    Array.from({ length: 90 }, (_, i) =>
      i % 3 === r % 3 && drawBelow(generator, 12) === 0 ? 1 + drawBelow(generator, 5) : 0,
    ),
  );
}
