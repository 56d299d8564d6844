/** Files by the writers that people use: every encoding of AnnData that its package writes or wrote, and what it reads of ours. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { annotated, bytesSource, type MatrixData, readData } from "../../src/index.ts";
import { pythonHas, runPython, scratch } from "../python.ts";
import { joined, rowsOf } from "../rows.ts";

const PEERS = pythonHas("anndata", "h5py");

const WRITE = `
import anndata, h5py, json, numpy as np, pandas as pd, scipy.sparse as sp, warnings
warnings.simplefilter("ignore")
rng = np.random.default_rng(5)
counts = rng.poisson(0.4, (70, 33)).astype(np.float32)
counts[3] = 0
types = [["b", "a", None][i % 3] for i in range(70)]
obs = pd.DataFrame({"cell_type": pd.Categorical(types), "note": [f"n{i}" for i in range(70)]}, index=[f"c{i}" for i in range(70)])
var = pd.DataFrame({"gene_ids": [f"ENSG{i:011d}" for i in range(33)]}, index=[f"G{i}" for i in range(33)])
make = lambda x: anndata.AnnData(x, obs=obs.copy(), var=var.copy())
make(counts).write("dense.h5ad")
make(sp.csr_matrix(counts)).write("csr.h5ad", compression="gzip")
make(sp.csc_matrix(counts)).write("csc.h5ad")
make(sp.csr_matrix(counts.astype(np.float64))).write("float64.h5ad")
scaled = make(np.log1p(counts) - 1)
scaled.raw = make(sp.csr_matrix(counts))
scaled.write("raw.h5ad")
# As anndata 0.7 and 0.6 wrote them.
text = h5py.string_dtype()
def frame(group, table, categories):
    group.attrs["_index"], group.attrs["encoding-type"], group.attrs["encoding-version"] = "index", "dataframe", "0.1.0"
    group.attrs["column-order"] = list(table)
    group.create_dataset("index", data=list(table.index), dtype=text)
    for name in table:
        if categories and table[name].dtype == "category":
            codes = group.create_dataset(name, data=table[name].cat.codes.to_numpy())
            made = group.create_dataset(f"__categories/{name}", data=list(table[name].cat.categories), dtype=text)
            codes.attrs["categories"] = made.ref
        else:
            group.create_dataset(name, data=list(table[name]), dtype=text)
with h5py.File("0.7.h5ad", "w") as file:
    x = sp.csr_matrix(counts)
    group = file.create_group("X")
    group.attrs["encoding-type"], group.attrs["encoding-version"], group.attrs["shape"] = "csr_matrix", "0.1.0", x.shape
    group["data"], group["indices"], group["indptr"] = x.data, x.indices, x.indptr
    frame(file.create_group("obs"), obs, True)
    frame(file.create_group("var"), var, False)
with h5py.File("0.6.h5ad", "w") as file:
    x = sp.csr_matrix(counts)
    group = file.create_group("X")
    group.attrs["h5sparse_format"], group.attrs["h5sparse_shape"] = "csr", x.shape
    group["data"], group["indices"], group["indptr"] = x.data, x.indices, x.indptr
    codes = obs["cell_type"].cat.codes.to_numpy()
    file["obs"] = np.array(list(zip(obs.index.astype("S"), codes, obs["note"].astype("S"))), dtype=[("index", "S4"), ("cell_type", "i1"), ("note", "S4")])
    file["var"] = np.array(list(zip(var.index.astype("S"), var["gene_ids"].astype("S"))), dtype=[("index", "S4"), ("gene_ids", "S16")])
    file["uns/cell_type_categories"] = np.array(["a", "b"], dtype="S")
print(json.dumps({"counts": counts.tolist(), "types": [t or "" for t in types]}))
`;

test.skipIf(!PEERS)("AnnData of every encoding is the same rows, labels and genes", async () => {
  const folder = scratch();
  const { counts, types } = runPython(folder, WRITE) as { readonly counts: number[][]; readonly types: string[] };
  for (const name of ["dense", "csr", "csc", "float64", "raw", "0.7", "0.6"]) {
    const bytes = new Uint8Array(readFileSync(join(folder, `${name}.h5ad`)));
    const data = (await readData(bytesSource(bytes, `${name}.h5ad`), { emptyLabels: "keep" })) as MatrixData;
    expect(data.x.form, name).toBe("csr");
    expect(rowsOf(data), name).toEqual(counts);
    expect(data.y, name).toEqual(types);
    expect(data.rowNames?.slice(0, 3), name).toEqual(["c0", "c1", "c2"]);
    expect([data.featureNames?.[5], data.featureIds?.[5]], name).toEqual(["G5", "ENSG00000000005"]);
    const note = (await readData(bytesSource(bytes, name), { format: "hdf5", labelColumn: "note" })).y;
    expect(note?.[69], name).toBe("n69");
  }
});

test.skipIf(!PEERS)("anndata reads the types that were written, and all else as it was", async () => {
  const folder = scratch();
  runPython(folder, WRITE);
  const types = Array.from({ length: 70 }, (_, r) => ["mono, CD14", "unassigned", "β"][r % 3]);
  const probabilities = Float64Array.from(types, (_, r) => r / 70);
  for (const name of ["dense.h5ad", "csr.h5ad", "0.7.h5ad"]) {
    const source = bytesSource(new Uint8Array(readFileSync(join(folder, name))), name);
    const chunks: Uint8Array[] = [];
    for await (const chunk of annotated(source, { types, probabilities })) chunks.push(chunk);
    writeFileSync(join(folder, "named.h5ad"), joined(chunks));
    const found = runPython(
      folder,
      `
import anndata, json, numpy as np, warnings
warnings.simplefilter("ignore")
a, b = anndata.read_h5ad(${JSON.stringify(name)}), anndata.read_h5ad("named.h5ad")
dense = lambda x: x.toarray() if hasattr(x, "toarray") else x
same = bool((dense(a.X) == dense(b.X)).all()) and list(a.obs.index) == list(b.obs.index) and list(a.var.index) == list(b.var.index)
print(json.dumps({"types": list(b.obs["ranksim_type"]), "sure": list(b.obs["ranksim_probability"]), "columns": list(b.obs), "same": same}))
`,
    ) as { readonly types: string[]; readonly sure: number[]; readonly columns: string[]; readonly same: boolean };
    expect(found, name).toEqual({
      types,
      sure: [...probabilities],
      columns: ["cell_type", "note", "ranksim_type", "ranksim_probability"],
      same: true,
    });
  }
});
