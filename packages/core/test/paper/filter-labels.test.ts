/** Label counts and shares by their entries, against plain statements on whole tables. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Csr } from "../../src/matrix/csr.ts";
import { countsOf, type LabelCounts, sharesFromTable, sharesOf, tableOfShares } from "../../src/paper/filter-labels.ts";
import { countLabels, countPresence, joinCounts } from "../../src/paper/label-counts.ts";
import { labelProbabilities, meanShares, presenceProbabilities } from "../../src/paper/vote.ts";

const FILTERS = 6;
const CLASSES = 5;

const winnersOf = (rows: readonly Row[]) => Uint32Array.from(rows, ({ filter }) => filter);

/** Rows that each have a filter that wins them and some labels. Filters above the highest winner win nothing. */
const rowsWith = (most: number) =>
  fc.array(
    fc.record({
      filter: fc.nat(FILTERS - 1),
      labels: fc.uniqueArray(fc.nat(CLASSES - 1), { minLength: most === 1 ? 1 : 0, maxLength: most }),
    }),
    { maxLength: 25 },
  );
type Row = { filter: number; labels: number[] };

const presentOf = (rows: readonly Row[]) =>
  Csr.fromRows(
    rows.map(({ labels }) => labels.map((o) => [o, 1])),
    CLASSES,
  );
const count = (rows: readonly Row[]) => countPresence(winnersOf(rows), presentOf(rows), FILTERS);

/** filters x classes, counted one by one. */
const plainCounts = (rows: readonly Row[]) =>
  Array.from({ length: FILTERS }, (_, f) =>
    Array.from({ length: CLASSES }, (_, c) => rows.filter((row) => row.filter === f && row.labels.includes(c)).length),
  );

/** The shares as deviation 20 and section 8 of the method put them. */
function plainShares(rows: readonly Row[], several: boolean, combine: "max" | "mean"): number[][] {
  const counts = plainCounts(rows);
  return counts.map((own, f) => {
    const won = rows.filter((row) => row.filter === f).length;
    return own.map((times, c) => {
      if (won > 0) return times / won;
      if (combine === "max") return several ? 0.5 : 1 / CLASSES;
      return rows.length === 0 ? 0 : counts.reduce((sum, filter) => sum + filter[c], 0) / rows.length;
    });
  });
}

const asTable = ({ offsets, label, count: times, rows, classes }: LabelCounts) =>
  Array.from(rows, (_, f) => {
    const own = new Array<number>(classes).fill(0);
    for (let e = offsets[f]; e < offsets[f + 1]; e++) own[label[e]] = times[e];
    return own;
  });

describe("counts", () => {
  it("are those of the rows, without zeros, by ascending class", () => {
    fc.assert(
      fc.property(rowsWith(3), (rows) => {
        const counts = count(rows);
        expect(asTable(counts)).toEqual(plainCounts(rows));
        expect(counts.count.every((times) => times > 0)).toBe(true);
        for (let f = 0; f < FILTERS; f++) {
          const own = [...counts.label.subarray(counts.offsets[f], counts.offsets[f + 1])];
          expect(own).toEqual([...own].sort((a, b) => a - b));
          expect(counts.rows[f]).toBe(rows.filter((row) => row.filter === f).length);
        }
      }),
    );
  });

  it("of one class a row are the same counted either way", () => {
    fc.assert(
      fc.property(rowsWith(1), (rows) => {
        const codes = Uint32Array.from(rows, ({ labels }) => labels[0]);
        const winners = winnersOf(rows);
        expect(countLabels(winners, codes, FILTERS, CLASSES)).toEqual(count(rows));
      }),
    );
  });

  it("add up, join and renumber as tables do", () => {
    fc.assert(
      fc.property(rowsWith(3), rowsWith(3), (a, b) => {
        const [p, q] = [{ counts: count(a) }, { counts: count(b) }];
        expect(joinCounts([p, q], FILTERS, CLASSES)).toEqual(count([...a, ...b]));
        const joined = joinCounts([p, { ...q, from: FILTERS }], 2 * FILTERS, CLASSES);
        expect(asTable(joined)).toEqual([...plainCounts(a), ...plainCounts(b)]);
        const wider = joinCounts([{ ...p, classOf: [0, 2, 3, 5, 8] }], FILTERS, 9);
        expect(asTable(wider)).toEqual(plainCounts(a).map(([p, q, r, s, t]) => [p, 0, q, r, 0, s, 0, 0, t]));
      }),
    );
  });
});

describe.each(["max", "mean"] as const)("shares for %s", (combine) => {
  it("are those of the rows, and of all rows or even where a filter wins none", () => {
    fc.assert(
      fc.property(rowsWith(3), fc.boolean(), (rows, several) => {
        const shares = sharesOf(count(rows), several, combine);
        const table = tableOfShares(shares);
        expect([...table]).toEqual(plainShares(rows, several, combine).flat());
        expect(tableOfShares(sharesFromTable(table, CLASSES))).toEqual(table);
        expect(countsOf(shares, count(rows).rows)).toEqual(count(rows));
        expect(countsOf(sharesFromTable(table, CLASSES), count(rows).rows)).toEqual(count(rows));
      }),
    );
  });
});

describe("probabilities by entries", () => {
  /** For each row some filters with falling similarities, the first with 1, or none. */
  const similarity = fc
    .uniqueArray(fc.nat(FILTERS - 1), { maxLength: 4 })
    .chain((filters) =>
      fc
        .array(fc.integer({ min: 1, max: 9 }), { minLength: filters.length, maxLength: filters.length })
        .map((tenths) => filters.map((f, j) => [f, j === 0 ? 1 : tenths[j] / 10] as const)),
    );
  const similarOf = (rows: readonly (readonly (readonly [number, number])[])[]) => ({
    offsets: Uint32Array.from([0, ...rows.map((_, r) => rows.slice(0, r + 1).flat().length)]),
    filter: Uint32Array.from(rows.flat(), ([f]) => f),
    similarity: Float64Array.from(rows.flat(), ([, s]) => s),
  });
  const normalized = (row: number[]) => {
    const sum = row.reduce((a, b) => a + b);
    return row.map((value) => (sum === 0 ? 1 / row.length : value / sum));
  };
  const largest = (values: number[]) => values.reduce((a, b) => Math.max(a, b), 0);
  const columns = Array.from({ length: CLASSES }, (_, c) => c);

  it("are the largest products, label against absence, and weighted means", () => {
    fc.assert(
      fc.property(rowsWith(3), fc.array(similarity, { minLength: 1, maxLength: 4 }), (rows, asked) => {
        const similar = similarOf(asked);
        for (const [fill, several, combine, plain] of [
          [
            labelProbabilities,
            false,
            "max",
            (table: number[][], own: readonly (readonly [number, number])[]) =>
              normalized(columns.map((c) => largest(own.map(([f, s]) => table[f][c] * s)))),
          ],
          [
            presenceProbabilities,
            true,
            "max",
            (table: number[][], own: readonly (readonly [number, number])[]) =>
              columns.map((c) => {
                const has = largest(own.map(([f, s]) => table[f][c] * s));
                const lacks = largest(own.map(([f, s]) => (1 - table[f][c]) * s));
                return has + lacks === 0 ? 0.5 : has / (has + lacks);
              }),
          ],
          [
            meanShares,
            true,
            "mean",
            (table: number[][], own: readonly (readonly [number, number])[]) => {
              const voters = own.length > 0 ? own : table.map((_, f) => [f, 1] as const);
              const weights = voters.reduce((sum, [, s]) => sum + s, 0);
              return columns.map((c) => voters.reduce((sum, [f, s]) => sum + table[f][c] * s, 0) / weights);
            },
          ],
        ] as const) {
          const table = plainShares(rows, several, combine);
          const labels = sharesOf(count(rows), several, combine);
          const out = new Float64Array(asked.length * CLASSES + 2);
          fill(similar, labels, out, 2);
          expect([...out.subarray(2)]).toEqual(asked.flatMap((own) => plain(table, own)));
          const stored = new Float64Array(out.length);
          fill(similar, sharesFromTable(tableOfShares(labels), CLASSES), stored, 2);
          expect(stored).toEqual(out);
        }
      }),
    );
  });
});
