/** The budget: what is taken, what is given back, what is refused, and sizes as people write them. */

import { RanksimError } from "@ranksim/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Budget, bytesSource, encodeNpy, parseBytes, readData } from "../src/index.ts";

/** Numbers of an array that is larger than what is made room for at once. */
const COUNT = 1 << 20;

test("refuses what it does not have, naming the file and the cure", () => {
  const account = new Budget(1000).of("a.csv");
  account.take(600);
  account.give(100);
  account.take(500);
  expect(() => account.take(1)).toThrow(RanksimError);
  expect(() => account.take(1)).toThrow(
    /^a\.csv: expected a file that can be read in 1000 bytes of memory, found one that needs 1001 bytes or more; .*--memory/,
  );
});

test("has back what was needed for a while, whether that went well or not", async () => {
  const budget = new Budget(1e6);
  const account = budget.of("a");
  account.take(10);
  const within = await account.during((passing) => {
    passing.take(500);
    passing.takeText(7);
    return budget.taken;
  });
  expect(within).toBeGreaterThan(510);
  expect(budget.taken).toBe(10);
  await expect(account.during((passing) => passing.take(2e6))).rejects.toThrow(/of memory/);
  expect(budget.taken).toBe(10);
});

test("is one for several readings", async () => {
  const budget = new Budget(3e6);
  const csv = () => bytesSource(new TextEncoder().encode("1,2,3\n".repeat(1 << 17)), "a.csv");
  await readData(csv(), { budget });
  await expect(readData(csv(), { budget }).then(() => readData(csv(), { budget }))).rejects.toThrow(
    /a\.csv: .* memory/,
  );
});

test.each([
  // The file, what it is decoded into, and what is kept, where that is another array.
  ["bytes", new Uint8Array(COUNT).fill(7), 1 + 1],
  ["float32", new Float32Array(COUNT).fill(0.5), 4 + 4],
  ["float32 that holds bytes", new Float32Array(COUNT).fill(7), 4 + 4 + 1],
  ["float64", new Float64Array(COUNT).fill(0.1), 8 + 8],
  ["float64 that holds bytes", new Float64Array(COUNT).fill(7), 8 + 8 + 1],
])("an array of %s takes what is allocated for it", async (_, values, each) => {
  const file = () => bytesSource(encodeNpy(values, [COUNT / 4, 4]), "a.npy");
  const header = 128;
  const budget = new Budget(COUNT * each + header);
  const data = await readData(file(), { budget });
  expect(data).toMatchObject({ form: "matrix", x: { rows: COUNT / 4 } });
  expect(budget.taken).toBe(COUNT * each + header);
  await expect(readData(file(), { budget: new Budget(COUNT * each) })).rejects.toThrow(/a\.npy: .* memory/);
});

test("sizes are read as people write them", () => {
  expect(["2GB", "500 MB", "1.5GiB", "1024", "3k", "1t"].map(parseBytes)).toEqual([
    2e9,
    5e8,
    1.5 * 2 ** 30,
    1024,
    3000,
    1e12,
  ]);
  expect(["", "GB", "-1", "2 G B", "0", "1e9", "two"].map(parseBytes)).toEqual(Array(7).fill(undefined));
  fc.assert(fc.property(fc.string(), (text) => (parseBytes(text) ?? 1) > 0));
  expect(() => new Budget(0)).toThrow(/above 0/);
});
