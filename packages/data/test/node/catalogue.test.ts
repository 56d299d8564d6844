import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { Csr } from "@ranksim/core";
import { describe, expect, test } from "vitest";
import {
  cacheFolder,
  catalogue,
  dataFolders,
  fetchDataSet,
  fileSource,
  findDataSet,
  loadData,
  loadDataSet,
  locateDataSet,
  type MatrixData,
  readData,
  type TextData,
} from "../../src/node.ts";
import { pythonHas, runPython, scratch } from "../python.ts";
import { expectRefusal, rowsOf } from "../rows.ts";

const nowhere = () => ({ RANKSIM_DATA: "", XDG_CACHE_HOME: scratch() });

describe("the catalogue", () => {
  test("has the seven data sets, each with source, terms and citation", () => {
    expect(catalogue.map((entry) => entry.name)).toEqual([
      "digits",
      "fashion-mnist",
      "mnist",
      "kmnist",
      "kuzushiji-49",
      "20newsgroups",
      "rcv1",
    ]);
    for (const entry of catalogue) {
      for (const field of [entry.title, entry.about, entry.licence, entry.citation]) expect(field).toMatch(/\w/);
      expect(entry.homepage).toMatch(/^https?:/);
      for (const file of Object.values(entry.parts).flatMap((sources) => sources.flatMap((source) => source.files))) {
        for (const address of file.addresses) expect(address).toMatch(/^https?:\/\/\S+$/);
        if (file.sha256 !== undefined) expect(file.sha256).toMatch(/^[0-9a-f]{64}$/);
        if (file.plainSha256 !== undefined) expect(file.plainSha256).toMatch(/^[0-9a-f]{64}$/);
        // Whatever is downloaded is checked.
        if (file.addresses.length > 0) expect(file.sha256 ?? file.md5).toBeDefined();
      }
    }
  });

  test("finds sets and parts by name", () => {
    expect(findDataSet("fashion-mnist")?.part).toBe("train");
    expect(findDataSet("fashion-mnist:test")?.sources[0].rows).toBe(10000);
    expect(findDataSet("digits")?.part).toBe("all");
    expect(findDataSet("nothing")).toBeUndefined();
    expect(() => findDataSet("mnist:dev")).toThrow("train, test");
  });
});

test("digits need no file; their parts are the first two thirds and the rest", async () => {
  const env = nowhere();
  const [all, train, rest] = await Promise.all(
    ["digits", "digits:train", "digits:test"].map(async (name) => (await loadDataSet(name, { env })) as MatrixData),
  );
  expect([all.x.rows, train.x.rows, rest.x.rows]).toEqual([1797, 1198, 599]);
  expect([...rowsOf(train), ...rowsOf(rest)]).toEqual(rowsOf(all));
  expect([...(train.y as number[]), ...(rest.y as number[])]).toEqual(all.y);
});

describe("places", () => {
  test("RANKSIM_DATA first, then the cache, then the system", () => {
    const env = { RANKSIM_DATA: ["/a", "/b"].join(delimiter), XDG_CACHE_HOME: "/c" };
    expect(dataFolders(env)).toEqual(["/a", "/b", join("/c", "ranksim"), "/usr/share/datasets"]);
    expect(cacheFolder({})).toMatch(/[\\/]\.cache[\\/]ranksim$/);
  });

  const images = Uint8Array.of(0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28, ...new Uint8Array(784));
  const labels = Uint8Array.of(0, 0, 8, 1, 0, 0, 0, 1, 4);

  test("a folder of the set's name is trusted, packed or not", async () => {
    const folder = scratch();
    mkdirSync(join(folder, "mnist"));
    writeFileSync(join(folder, "mnist", "t10k-images-idx3-ubyte.gz"), gzipSync(images));
    const env = { ...nowhere(), RANKSIM_DATA: `/none${delimiter}${folder}` };
    expect(await locateDataSet("mnist:test", { env })).toBeUndefined();
    writeFileSync(join(folder, "mnist", "t10k-labels-idx1-ubyte"), labels);
    const located = await locateDataSet("mnist:test", { env });
    expect(located?.paths.map((path) => path.slice(folder.length))).toEqual([
      "/mnist/t10k-images-idx3-ubyte.gz",
      "/mnist/t10k-labels-idx1-ubyte",
    ]);
    const data = (await loadDataSet("mnist:test", { env })) as MatrixData;
    expect([data.x.rows, data.y, data.imageSize]).toEqual([1, [4], { width: 28, height: 28 }]);
  });

  test("files that lie about are told apart by content: MNIST's relatives share its names", async () => {
    const folder = scratch();
    writeFileSync(join(folder, "t10k-images-idx3-ubyte.gz"), gzipSync(images));
    writeFileSync(join(folder, "t10k-labels-idx1-ubyte.gz"), gzipSync(labels));
    const env = { ...nowhere(), RANKSIM_DATA: folder };
    expect(await locateDataSet("mnist:test", { env })).toBeUndefined();
    expect(await locateDataSet("kmnist:test", { env })).toBeUndefined();
  });

  test("what is not here is refused with the places, and downloaded only on request", async () => {
    const env = { RANKSIM_DATA: "/none", XDG_CACHE_HOME: "/cache" };
    await expectRefusal(loadDataSet("mnist", { env }), "bad-file", "mnist", "/none", "/cache/ranksim", "9.9 MB");
    await expectRefusal(loadData("no-such-set", { env }), "bad-file", "no-such-set", "fashion-mnist");
    await expectRefusal(loadData("none/such.csv", { env }), "bad-file", "none/such.csv");
    await expectRefusal(fetchDataSet("nothing", { env }), "bad-params", "fashion-mnist");
  });

  test("a path comes before a name, and options reach the reader", async () => {
    const path = join(scratch(), "t.csv");
    writeFileSync(path, "a;b\n1;x\n2;y\n");
    expect((await loadData(path, { labelColumn: "b" })).y).toEqual(["x", "y"]);
  });

  test("a file with words and gaps is a table, as for the command", async () => {
    const path = join(scratch(), "t.csv");
    writeFileSync(path, "island,mass,species\nDream,1.5,a\nBiscoe,,b\n");
    const data = await loadData(path, { labelColumn: "species" });
    expect(data).toMatchObject({ form: "table", y: ["a", "b"] });
    expect((await loadData(path, { textColumn: "island" })).form).toBe("text");
    await expectRefusal(
      loadData(path, { labelColumn: "species", table: false }),
      "bad-file",
      "Dream",
      "words kept by `table`",
    );
  });

  test("labels apart are taken by path or as a source", async () => {
    const [x, y] = [join(scratch(), "x.csv"), join(scratch(), "y.csv")];
    writeFileSync(x, "a,b\n1,2\n3,4\n");
    writeFileSync(y, "no\nyes\n");
    expect((await loadData(x, { labels: y })).y).toEqual(["no", "yes"]);
    expect((await loadData(x, { labels: await fileSource(y) })).y).toEqual(["no", "yes"]);
    await expectRefusal(readData(await fileSource(x), { labels: y as never }), "bad-params", "labels", "fileSource", y);
  });
});

test("RCV1 as published: vectors and topics joined by story", async () => {
  const folder = scratch();
  mkdirSync(join(folder, "rcv1"));
  const write = (name: string, text: string) => writeFileSync(join(folder, "rcv1", name), gzipSync(text));
  write("rcv1v2.topics.qrels.gz", "E11 2286 1\nECAT 2286 1\nC15 2288 1\nGCAT 2290 1\n");
  write("lyrl2004_vectors_train.dat.gz", "2286  864:0.5 47236:0.25\n2287  1:1\n");
  for (const part of [0, 1, 2, 3]) write(`lyrl2004_vectors_test_pt${part}.dat.gz`, `${2288 + part}  ${part + 1}:0.5\n`);
  const env = { ...nowhere(), RANKSIM_DATA: folder };
  const train = (await loadDataSet("rcv1", { env })) as MatrixData;
  expect([train.x.rows, train.x.features, [...(train.x as Csr).indices]]).toEqual([2, 47236, [863, 47235, 0]]);
  expect(train.y).toEqual([["E11", "ECAT"], []]);
  const rest = (await loadDataSet("rcv1:test", { env })) as MatrixData;
  expect([...(rest.x as Csr).indices]).toEqual([0, 1, 2, 3]);
  expect(rest.y).toEqual([["C15"], [], ["GCAT"], []]);
});

test.skipIf(!pythonHas("numpy"))("Kuzushiji-49 as published: images and labels in NPZ files of their own", async () => {
  const folder = scratch();
  mkdirSync(join(folder, "kuzushiji-49"));
  runPython(
    join(folder, "kuzushiji-49"),
    `
import numpy as np
np.savez_compressed("k49-test-imgs.npz", np.arange(2 * 784, dtype=np.int64).reshape(2, 28, 28).astype(np.uint8))
np.savez_compressed("k49-test-labels.npz", np.array([48, 3], dtype=np.uint8))
`,
  );
  const data = (await loadDataSet("kuzushiji-49:test", { env: { ...nowhere(), RANKSIM_DATA: folder } })) as MatrixData;
  expect([data.x.rows, data.x.features, data.y, data.imageSize]).toEqual([2, 784, [48, 3], { width: 28, height: 28 }]);
});

// Data beside the project, where it is; its own list of digests says which files.
const shared = fileURLToPath(new URL("../../../../../shared/data", import.meta.url));
const env = { RANKSIM_DATA: process.env.RANKSIM_DATA ?? shared, XDG_CACHE_HOME: "/none" };

describe("data at hand", () => {
  test.skipIf(!existsSync(join(env.RANKSIM_DATA, "kmnist")))("KMNIST", async () => {
    const data = (await loadDataSet("kmnist:test", { env })) as MatrixData;
    expect([data.x.rows, data.x.features, new Set(data.y as number[]).size, data.classNames?.[0]]).toEqual([
      10000,
      784,
      10,
      "お",
    ]);
    // Flat, the same files are known by their content.
    const flat = { ...env, RANKSIM_DATA: join(env.RANKSIM_DATA, "kmnist") };
    expect(await locateDataSet("kmnist:test", { env: flat })).toBeDefined();
    expect(await locateDataSet("mnist:test", { env: flat })).toBeUndefined();
  });

  test.skipIf(!existsSync(join(env.RANKSIM_DATA, "rcv1")))("RCV1, merged", async () => {
    const data = (await loadDataSet("rcv1:test", { env })) as MatrixData;
    expect([data.x.rows, data.x.features, data.x.form]).toEqual([13212, 47236, "csr"]);
    expect(new Set((data.y as number[][]).flat()).size).toBe(97);
  });

  test.skipIf(!existsSync(join(env.RANKSIM_DATA, "20newsgroups")))("20 Newsgroups, as it is", async () => {
    const data = (await loadDataSet("20newsgroups:test", { env, remove: [] })) as TextData;
    expect([data.text.length, data.y?.[0], data.rowNames?.[0].split("/")[0]]).toEqual([
      7532,
      "alt.atheism",
      "alt.atheism",
    ]);
    expect(data.text[0]).toMatch(/^From: /);
  });

  test.skipIf(!existsSync("/usr/share/datasets/fashion-mnist"))("Fashion-MNIST from Debian's package", async () => {
    const data = (await loadDataSet("fashion-mnist:test", { env: nowhere() })) as MatrixData;
    expect([data.x.rows, data.y?.length, data.classNames?.[9]]).toEqual([10000, 10000, "Ankle boot"]);
  });
});
