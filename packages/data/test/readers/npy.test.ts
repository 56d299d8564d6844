import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Csr } from "@ranksim/core";
import { zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { bytesSource, readLabels } from "../../src/index.ts";
import { pythonHas, runPython, scratch } from "../python.ts";
import { expectRefusal, read, readMatrix, rowsOf } from "../rows.ts";

/** An .npy file put together by hand, version 1.0. */
function npy(header: string, data: Uint8Array): Uint8Array {
  const text = new TextEncoder().encode(header);
  return Uint8Array.of(
    0x93,
    ...new TextEncoder().encode("NUMPY"),
    1,
    0,
    text.length & 255,
    text.length >> 8,
    ...text,
    ...data,
  );
}

describe("by hand", () => {
  test("rows x features, either byte order", async () => {
    const little = npy(
      "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 2), }",
      Uint8Array.of(1, 0, 2, 0, 3, 0, 4, 1),
    );
    const big = npy(
      "{'descr': '>u2', 'fortran_order': False, 'shape': (2, 2), }",
      Uint8Array.of(0, 1, 0, 2, 0, 3, 1, 4),
    );
    for (const file of [little, big]) {
      expect(rowsOf(await readMatrix("a.npy", file))).toEqual([
        [1, 2],
        [3, 260],
      ]);
    }
  });

  test("column order becomes row order", async () => {
    const file = npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", Uint8Array.of(1, 4, 2, 5, 3, 6));
    expect(rowsOf(await readMatrix("a.npy", file))).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
  });

  test("images have three axes", async () => {
    const file = npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 3), }", Uint8Array.of(1, 2, 3, 4, 5, 6));
    const data = await readMatrix("a.npy", file);
    expect(data.imageSize).toEqual({ width: 3, height: 2 });
    expect([data.x.rows, data.x.features]).toEqual([1, 6]);
  });

  test("refusals say what was found", async () => {
    const file = (descr: string, shape: string, bytes: number) =>
      read("a.npy", npy(`{'descr': '${descr}', 'fortran_order': False, 'shape': ${shape}, }`, new Uint8Array(bytes)));
    await expectRefusal(file("<f8", "(2, 2)", 31), "bad-file", "a.npy", "32 bytes", "found 31");
    await expectRefusal(file("<f8", "(99999999, 99999999)", 8), "bad-file", "found 8");
    await expectRefusal(file("|O", "(1, 1)", 8), "bad-file", '"|O"');
    await expectRefusal(file("<c16", "(1, 1)", 16), "bad-file", '"<c16"');
    await expectRefusal(file("<f8", "(4,)", 32), "bad-file", "2 axes", "(4)");
    await expectRefusal(file("<f8", "(9, 0)", 0), "bad-file", "at least one feature");
    await expectRefusal(
      read("a.npy", npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", new Uint8Array(8))),
      "bad-file",
      "structured",
    );
    const long = npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1, 2), }", new Uint8Array(16).fill(127));
    await expectRefusal(read("a.npy", long), "bad-file", "item 0", "2^53");
    const nan = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }", new Uint8Array(8).fill(255));
    await expectRefusal(read("a.npy", nan), "bad-file", "a.npy", "row 0, column 0", "NaN");
    await expectRefusal(read("a.npy", new TextEncoder().encode("hello, world")), "bad-file", "byte 0");
  });

  test("a zip that claims more than it can hold is refused before room is made", async () => {
    const file = zipSync({
      "x.npy": npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2), }", Uint8Array.of(1, 2)),
    });
    // The directory's entry has the unpacked size 24 bytes after its signature.
    const at = Buffer.from(file).indexOf("PK\x01\x02");
    new DataView(file.buffer).setUint32(at + 24, 0x7fffffff, true);
    await expectRefusal(read("a.npz", file), "bad-file", "a.npz", "a claim of 2147483647");
  });
});

describe.skipIf(!pythonHas("numpy", "scipy"))("by numpy and scipy", () => {
  test("every numeric type, both orders, both byte orders, all header versions", async () => {
    const folder = scratch();
    const expected = runPython(
      folder,
      `
import json, numpy as np
base = np.arange(12).reshape(3, 4) * 9 - 20
out = {}
for order in "<>":
    for kind in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?"]:
        for layout in "CF":
            x = np.array(np.abs(base) if kind[0] == "u" else base > 0 if kind == "?" else base, dtype=order + kind, order=layout)
            if kind[0] == "f": x = (x / 4).astype(order + kind, order=layout)
            name = "lb"[order == ">"] + kind.replace("?", "bool") + layout
            np.save(name + ".npy", x)
            out[name] = x.astype(float).tolist()
with open("v2.npy", "wb") as f: np.lib.format.write_array(f, base.astype("<f4"), version=(2, 0))
with open("v3.npy", "wb") as f: np.lib.format.write_array(f, base.astype("<f4"), version=(3, 0))
out["v2"] = out["v3"] = base.astype(float).tolist()
print(json.dumps(out))
`,
    ) as { [name: string]: number[][] };
    expect(Object.keys(expected)).toHaveLength(50);
    for (const [name, rows] of Object.entries(expected)) {
      expect(rowsOf(await readMatrix(`${name}.npy`, readFileSync(join(folder, `${name}.npy`)))), name).toEqual(rows);
    }
  });

  test("npz with x and y, arr_0, packed or not, names of one's own, labels as text", async () => {
    const folder = scratch();
    runPython(
      folder,
      `
import numpy as np
x = np.arange(6, dtype=np.float64).reshape(2, 3)
np.savez("xy.npz", x=x, y=np.array([1, 0]))
np.savez_compressed("packed.npz", x=x, y=np.array(["cat", "déjà"]))
np.savez("bare.npz", x)
np.savez("split.npz", x_train=x, y_train=np.array([2, 3]), x_test=x + 1)
np.savez("odd.npz", rows=x, y=np.array([1, 0]))
np.save("labels.npy", np.array(["b", "a"]))
np.save("bytes.npy", np.array([b"b", b"aa"]))
np.save("sets.npy", np.array([[0, 1, 1], [0, 0, 0]]))
`,
    );
    const file = (name: string) => readFileSync(join(folder, name));
    const rows = [
      [0, 1, 2],
      [3, 4, 5],
    ];
    const xy = await readMatrix("xy.npz", file("xy.npz"));
    expect(rowsOf(xy)).toEqual(rows);
    expect(xy.x.values).toBeInstanceOf(Uint8Array);
    expect(xy.y).toEqual([1, 0]);
    expect((await readMatrix("packed.npz", file("packed.npz"))).y).toEqual(["cat", "déjà"]);
    expect(rowsOf(await readMatrix("bare.npz", file("bare.npz")))).toEqual(rows);
    const split = await readMatrix("split.npz", file("split.npz"), { arrays: { x: "x_train", y: "y_train" } });
    expect([rowsOf(split), split.y]).toEqual([rows, [2, 3]]);
    const guessed = await readMatrix("split.npz", file("split.npz"));
    expect([rowsOf(guessed), guessed.y]).toEqual([rows, [2, 3]]);
    expect(guessed.notes).toEqual([expect.stringMatching(/rows are x_train; x_test is left out: --arrays x=x_test/)]);
    await expectRefusal(read("odd.npz", file("odd.npz")), "bad-file", "rows in an array named x,", "found rows, y");
    await expectRefusal(read("xy.npz", file("xy.npz"), { arrays: { x: "z" } }), "bad-file", "named z", "x, y");
    expect(await readLabels(bytesSource(file("labels.npy"), "labels.npy"))).toEqual(["b", "a"]);
    expect(await readLabels(bytesSource(file("bytes.npy"), "bytes.npy"))).toEqual(["b", "aa"]);
    expect(await readLabels(bytesSource(file("sets.npy"), "sets.npy"))).toEqual([[1, 2], []]);
  });

  test("scipy's sparse matrices, also with entries out of order, repeated or zero", async () => {
    const folder = scratch();
    const expected = runPython(
      folder,
      `
import json, numpy as np, scipy.sparse as sp
x = sp.random(50, 70, 0.1, "csr", random_state=1)
sp.save_npz("sparse.npz", x)
sp.save_npz("stored.npz", x.astype(np.float32), compressed=False)
odd = sp.csr_matrix((np.array([5, 1, 2, 0, 3]), np.array([2, 0, 2, 1, 1]), np.array([0, 3, 3, 5])), shape=(3, 4))
sp.save_npz("odd.npz", odd)
sp.save_npz("csc.npz", x.tocsc())
print(json.dumps({"sparse": x.toarray().tolist(), "stored": x.astype(np.float32).toarray().tolist(), "odd": odd.toarray().tolist()}))
`,
    ) as { [name: string]: number[][] };
    for (const [name, rows] of Object.entries(expected)) {
      const data = await readMatrix(`${name}.npz`, readFileSync(join(folder, `${name}.npz`)));
      expect(data.x).toBeInstanceOf(Csr);
      expect(rowsOf(data), name).toEqual(rows);
    }
    const odd = await readMatrix("odd.npz", readFileSync(join(folder, "odd.npz")));
    expect([...(odd.x as Csr).indices]).toEqual([0, 2, 1]);
    await expectRefusal(read("csc.npz", readFileSync(join(folder, "csc.npz"))), "bad-file", "csc", "tocsr");
  });
});
