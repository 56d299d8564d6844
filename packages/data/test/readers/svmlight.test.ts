import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Csr } from "@ranksim/core";
import { expect, test } from "vitest";
import { pythonHas, runPython, scratch } from "../python.ts";
import { expectRefusal, read, readMatrix, rowsOf } from "../rows.ts";

test("labels, comments, qid, any order, zeros left out", async () => {
  const data = await readMatrix("a.svm", "# made by hand\n+1 qid:3 1:0.5 3:2 # note\n\n-1 3:1 2:-4e1 1:0\n");
  expect(data.x).toBeInstanceOf(Csr);
  expect((data.x as Csr).entries).toBe(4);
  expect(rowsOf(data)).toEqual([
    [0.5, 0, 2],
    [0, -40, 1],
  ]);
  expect(data.y).toEqual([1, -1]);
});

test("features count from 0 if 0 occurs, from 1 if not, or as told", async () => {
  expect(rowsOf(await readMatrix("a.svm", "1 0:7 2:8\n"))).toEqual([[7, 0, 8]]);
  expect(rowsOf(await readMatrix("a.svm", "1 1:7 2:8\n"))).toEqual([[7, 8]]);
  expect(rowsOf(await readMatrix("a.svm", "1 1:7 2:8\n", { firstFeature: 0, features: 4 }))).toEqual([[0, 7, 8, 0]]);
});

test("several labels a row", async () => {
  const data = await readMatrix("a.svm", "3,1 1:1\n 2:1\n2 1:1\n");
  expect(data.y).toEqual([[3, 1], [], [2]]);
  expect((await readMatrix("a.svm", "a 1:1\nb 2:1\n", { multilabel: true })).y).toEqual([["a"], ["b"]]);
  const large = "9007199254740992,9007199254740993";
  expect((await readMatrix("a.svm", `${large} 1:1\n7 2:1\n`)).y).toEqual([large.split(","), ["7"]]);
  expect((await readMatrix("a.svm", "1:1\n2:1\n")).y).toBeUndefined();
  // The format's labels are numbers, however they are written; words are none.
  expect((await readMatrix("a.svm", "+1,2.50 1:1\n1.0 1:2\n")).y).toEqual([[1, 2.5], [1]]);
  expect((await readMatrix("a.svm", "01 1:1\nb 1:2\n")).y).toEqual(["1", "b"]);
});

test("errors name the line", async () => {
  await expectRefusal(read("a.svm", "1 1:1\n1 2:x\n"), "bad-file", "a.svm, line 2", '"2:x"');
  await expectRefusal(read("a.svm", "1 1:1 1:2\n"), "bad-file", "line 1", "1 twice");
  await expectRefusal(read("a.svm", "1 9999999999:1\n"), "bad-file", "line 1", "below");
  await expectRefusal(read("a.svm", "1 1:nan\n"), "bad-file", "line 1");
  await expectRefusal(read("a.svm", "1 5:1\n", { features: 3 }), "bad-file", "features up to 3", "found 5");
  await expectRefusal(read("a.svm", "1 0:1\n", { firstFeature: 1 }), "bad-file", "feature 0");
  await expectRefusal(read("a.svm", "# nothing\n", { format: "svmlight" }), "bad-file", "at least one row");
});

test.skipIf(!pythonHas("sklearn"))("reads what scikit-learn's dump_svmlight_file writes", async () => {
  const folder = scratch();
  const expected = runPython(
    folder,
    `
import json, numpy as np, scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
x = sp.random(40, 30, 0.2, "csr", random_state=3)
y = np.arange(40) % 4 - 1
dump_svmlight_file(x, y, "one.svm", zero_based=False, comment="for a test", query_id=np.arange(40))
sets = sp.csr_matrix((np.random.RandomState(5).rand(40, 5) < 0.3).astype(int))
dump_svmlight_file(x, sets, "many.svm", zero_based=True, multilabel=True)
print(json.dumps({"x": x.toarray().tolist(), "y": y.tolist(), "sets": [r.indices.tolist() for r in sets]}))
`,
  ) as { x: number[][]; y: number[]; sets: number[][] };
  const one = await readMatrix("one.svm", readFileSync(join(folder, "one.svm")), { features: 30 });
  expect(one.y).toEqual(expected.y);
  // The writer prints 16 digits, so a value may come back off by its last bit.
  rowsOf(one).forEach((row, r) => {
    row.forEach((value, i) => {
      expect(Math.abs(value - expected.x[r][i])).toBeLessThanOrEqual(1e-15);
    });
  });
  const many = await readMatrix("many.svm", readFileSync(join(folder, "many.svm")), { features: 30, firstFeature: 0 });
  expect(many.y).toEqual(expected.sets);
  expect(many.x).toEqual(one.x);
});
