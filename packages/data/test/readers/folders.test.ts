import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { encode } from "fast-png";
import { describe, expect, test } from "vitest";
import { Budget, bytesSource, type Folder, openPath, readData } from "../../src/node.ts";
import { decodePgm } from "../../src/readers/pgm.ts";
import { decodePng } from "../../src/readers/png.ts";
import { withoutFooters, withoutHeaders, withoutQuotes } from "../../src/readers/text-folder.ts";
import { pythonHas, runPython, scratch } from "../python.ts";
import { expectRefusal, read, rowsOf } from "../rows.ts";
import { tarOf } from "../tar-files.ts";

const ascii = (text: string) => new TextEncoder().encode(text);

/** A folder in memory. */
function folderOf(files: { [path: string]: Uint8Array | string }): Folder {
  return {
    name: "memory",
    async *entries() {
      for (const [path, content] of Object.entries(files)) {
        yield { path, bytes: async () => (typeof content === "string" ? ascii(content) : content) };
      }
    },
  };
}

describe("files that may be asked for ahead", () => {
  /** Later files come first; `failing` does not come at all. Tells how many were under way at most. */
  function eager(count: number, ahead: number, failing = -1): Folder & { readonly most: () => number } {
    let [open, most] = [0, 0];
    const bytes = async (j: number) => {
      most = Math.max(most, ++open);
      await new Promise((resume) => setTimeout(resume, (count - j) % 5));
      open--;
      if (j >= failing && failing >= 0) throw new Error(`file ${j} is gone`);
      return ascii(`text ${j}`);
    };
    const entries = async function* () {
      for (let j = 0; j < count; j++) yield { path: `a/${String(j).padStart(2, "0")}`, bytes: () => bytes(j) };
    };
    return { name: "memory", ahead, entries, most: () => most };
  }

  test("are read in their order, so many at a time", async () => {
    const folder = eager(20, 4);
    const data = await readData(folder);
    expect(data).toMatchObject({ text: Array.from({ length: 20 }, (_, j) => `text ${j}`) });
    expect(folder.most()).toBe(4);
    const { ahead: _, ...plain } = eager(20, 4);
    expect(await readData(plain)).toEqual(data);
    expect(plain.most()).toBe(1);
  });

  test("fail as the first of them that fails", async () => {
    await expect(readData(eager(20, 8, 3))).rejects.toThrow("file 3 is gone");
    await new Promise((resume) => setTimeout(resume, 20)); // the failures of the others are nobody's
  });
});

describe("texts", () => {
  test("the class is the folder, rows are in the order of paths, hidden files are not seen", async () => {
    const data = await readData(folderOf({ "b/2": "two", "b/10": "ten", "a/9": "nine", ".x/1": "no", "a/.h": "no" }));
    expect(data).toEqual({
      form: "text",
      text: ["nine", "ten", "two"],
      y: ["a", "b", "b"],
      rowNames: ["a/9", "b/10", "b/2"],
    });
  });

  test("files without class folders have no labels; both kinds together are refused", async () => {
    expect(await readData(folderOf({ z: "1", a: "2" }))).toEqual({
      form: "text",
      text: ["2", "1"],
      rowNames: ["a", "z"],
    });
    await expectRefusal(readData(folderOf({ "a/1": "x", loose: "y" })), "bad-file", "memory", "loose");
    await expectRefusal(readData(folderOf({})), "bad-file", "expected files");
  });

  test("what systems leave in folders is no row", async () => {
    const left = { ".DS_Store": "x", "a/Thumbs.db": "x", "b/desktop.ini": "x", "__MACOSX/a/1": "x" };
    const files = { "a/1": "one", "b/2": "two" };
    expect(await readData(folderOf({ ...left, ...files }))).toEqual(await readData(folderOf(files)));
  });

  test("latin-1 is read as such, byte for byte", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    const data = await readData(folderOf({ "a/1": bytes }), { encoding: "latin1" });
    expect(data.form === "text" && Array.from(data.text[0], (c) => c.charCodeAt(0))).toEqual([...bytes]);
    await expectRefusal(readData(folderOf({ "a/1": bytes })), "bad-file", "memory/a/1", "UTF-8", "latin1");
  });

  test("images of a kind that is not read are refused with those that are", async () => {
    const gif = Uint8Array.from([...Buffer.from("GIF89a"), 1, 0, 1, 0, 0xf0, 0xff, 0]);
    await expectRefusal(readData(folderOf({ "a/1.gif": gif })), "bad-file", "memory/a/1.gif", "PNG, JPEG or PGM");
  });

  test("a path and a tar of it give the same", async () => {
    const folder = scratch();
    for (const [path, text] of [
      ["set-train/one/1", "first"],
      ["set-train/two/2", "second"],
      [`set-train/${"z".repeat(60)}/${"long-".repeat(15)}name`, "third"],
      ["set-test/one/3", "other"],
    ]) {
      mkdirSync(join(folder, path, ".."), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const fromPath = await readData(await openPath(folder), { under: "set-train" });
    expect(fromPath.form === "text" && fromPath.text).toEqual(["first", "second", "third"]);
    if (!pythonHas("tarfile")) return;
    for (const format of ["USTAR_FORMAT", "GNU_FORMAT", "PAX_FORMAT"]) {
      runPython(
        folder,
        `
import tarfile
with tarfile.open("all.tar.gz", "w:gz", format=tarfile.${format}) as t:
    t.add("set-test"); t.add("set-train")
`,
      );
      const packed = await read("all.tar.gz", readFileSync(join(folder, "all.tar.gz")), { under: "set-train/" });
      expect(packed).toEqual(fromPath);
    }
  });

  test("damaged archives are refused by byte", async () => {
    const block = tarOf({ path: "a/1", size: 8 }).subarray(0, 512);
    const damaged = block.with(0, 1 + block[0]);
    await expectRefusal(read("x.tar", damaged), "bad-file", "x.tar, byte 0", "check sum");
    await expectRefusal(read("x.tar", block), "bad-file", "x.tar", "8 bytes", "end of the archive");
    await expectRefusal(read("x.tar.gz", gzipSync(block)), "bad-file", "end of the archive");
    const long = tarOf({ path: "a", type: "x", content: `99999 path=${"n".repeat(2 ** 16)}\n` });
    await expectRefusal(read("x.tar", long), "bad-file", "byte 0", "expected a name, found one of 65548 bytes");
  });

  test("only plain files of an archive are rows, whatever else it holds and wherever its paths lead", async () => {
    const others = ["1", "2", "3", "4", "5", "6", "V", "g"].map((type) => ({ path: `links/${type}`, type }));
    const data = await readData(
      bytesSource(
        tarOf(
          ...others,
          { path: "../../above/1", content: "above" },
          { path: "one/../../two/1", content: "aside" },
          { path: "/one/1", content: "absolute" },
          { path: "./one/2", content: "relative", type: "\0" },
          { path: "__proto__/1", content: "odd" },
          { path: "short", type: "L", content: "one/of a long name\0" },
          { path: "short", content: "named", type: "7" },
          { path: "pax", type: "x", content: "20 path=one/of pax\n9 x=path=\n" },
          { path: "short", content: "pax" },
        ),
        "x.tar",
      ),
    );
    expect(data).toMatchObject({
      rowNames: ["__proto__/1", "one/1", "one/2", "one/of a long name", "one/of pax"],
      text: ["odd", "absolute", "relative", "named", "pax"],
      y: ["__proto__", "one", "one", "one", "one"],
    });
  });

  test("sparse files are refused, as their bytes are not those that are packed", async () => {
    const gnu = tarOf({ path: "a/1", type: "S", content: "map and data" });
    await expectRefusal(read("x.tar", gnu), "bad-file", "x.tar, byte 0", "sparse", "without --sparse");
    const pax = tarOf({ path: "p", type: "x", content: "22 GNU.sparse.major=1\n" }, { path: "a/1", content: "map" });
    await expectRefusal(read("x.tar", pax), "bad-file", "x.tar, byte 0", "sparse");
  });
});

describe("cleaning of newsgroup posts", () => {
  test("headers end at the first blank line", () => {
    expect(withoutHeaders("From: a\nTo: b\n\nHi\n\nthere")).toBe("Hi\n\nthere");
    expect(withoutHeaders("no header")).toBe("");
  });

  test("quotes are lines that begin or announce one", () => {
    expect(withoutQuotes("I think\n> no\n| no\nIn article 5\nJoe writes:\nyes\nHe said: x")).toBe("I think\nyes");
  });

  test("a footer is the last block, if there is another before it", () => {
    expect(withoutFooters("a\nb\n--\nsig")).toBe("a\nb");
    expect(withoutFooters("a\n\nb\nc\n")).toBe("a");
    expect(withoutFooters("only\nblock")).toBe("only\nblock");
  });

  test.skipIf(!pythonHas("sklearn"))("agrees with scikit-learn on odd texts", () => {
    const texts = [
      "",
      "\n",
      "\n\n",
      "a\n\n",
      "--\na",
      "a\n -- \x1c\nb\x85",
      "\u00a0\n\u2003x\n-\n",
      "x\n>y\nz\n\n|q\nIn articles",
    ];
    const expected = runPython(
      scratch(),
      `
import json
from sklearn.datasets._twenty_newsgroups import strip_newsgroup_header as h, strip_newsgroup_footer as f, strip_newsgroup_quoting as q
print(json.dumps([[h(t), f(t), q(t)] for t in json.loads(${JSON.stringify(JSON.stringify(texts))})]))
`,
    );
    expect(texts.map((text) => [withoutHeaders(text), withoutFooters(text), withoutQuotes(text)])).toEqual(expected);
  });
});

describe("images", () => {
  const png = (data: number[], width = 2, height = 2) =>
    encode({ width, height, channels: 1, data: Uint8Array.from(data) });

  test("PNG and PGM of one size become rows", async () => {
    const pgm = Uint8Array.of(...ascii("P5 # by hand\n2 2\n255\n"), 5, 6, 7, 8);
    const data = await readData(folderOf({ "b/x.png": png([1, 2, 3, 4]), "a/y.pgm": pgm }));
    expect(data.form === "matrix" && [rowsOf(data), data.y, data.imageSize, data.rowNames]).toEqual([
      [
        [5, 6, 7, 8],
        [1, 2, 3, 4],
      ],
      ["a", "b"],
      { width: 2, height: 2 },
      ["a/y.pgm", "b/x.png"],
    ]);
  });

  test("plain PGM, and 16 bits", () => {
    expect(decodePgm("x", ascii("P2\n3 1 #c\n15\n0 7 15"), new Budget().of("x")).pixels).toEqual(
      Uint8Array.of(0, 7, 15),
    );
    const wide = Uint8Array.of(...ascii("P5 1 2 1000\n"), 3, 232, 0, 1);
    expect(decodePgm("x", wide, new Budget().of("x")).pixels).toEqual(Uint16Array.of(1000, 1));
  });

  test("refusals name the image", async () => {
    const files = (other: Uint8Array) => readData(folderOf({ "a/1.png": png([1, 2, 3, 4]), "a/2.png": other }));
    await expectRefusal(files(ascii("hello")), "bad-file", "memory/a/2.png", "PNG, JPEG or PGM");
    const bent = png([1, 2, 3, 4]);
    bent[19]++;
    await expectRefusal(files(bent), "bad-file", "memory/a/2.png", "check sum of IHDR");
    await expectRefusal(files(ascii("P5 60000 60000 255\n")), "bad-file", "60000 x 60000", "only 0 bytes");
  });

  test.skipIf(!pythonHas("PIL", "numpy"))("grey values are Pillow's, for every kind of PNG it writes", () => {
    const folder = scratch();
    const expected = runPython(
      folder,
      `
import json, numpy as np
from PIL import Image
r = np.random.RandomState(0)
images = {
    "grey": Image.fromarray(r.randint(0, 256, (9, 13), dtype=np.uint8)),
    "rgb": Image.fromarray(r.randint(0, 256, (9, 13, 3), dtype=np.uint8)),
    "rgba": Image.fromarray(r.randint(0, 256, (9, 13, 4), dtype=np.uint8)),
    "la": Image.fromarray(r.randint(0, 256, (9, 13, 2), dtype=np.uint8)),
    "one": Image.fromarray(r.randint(0, 256, (9, 13), dtype=np.uint8)).convert("1"),
    "palette": Image.fromarray(r.randint(0, 256, (9, 13, 3), dtype=np.uint8)).quantize(200),
    "palette4": Image.fromarray(r.randint(0, 256, (9, 13, 3), dtype=np.uint8)).quantize(9),
}
out = {}
for name, image in images.items():
    image.save(name + ".png")
    out[name] = np.asarray(image.convert("RGB").convert("L") if name.startswith("palette") else image.convert("L")).ravel().tolist()
wide = r.randint(0, 65536, (9, 13)).astype(np.uint16)
Image.fromarray(wide).save("wide.png")
out["wide"] = wide.ravel().tolist()
print(json.dumps(out))
`,
    ) as { [name: string]: number[] };
    for (const [name, pixels] of Object.entries(expected)) {
      const picture = decodePng(name, readFileSync(join(folder, `${name}.png`)), new Budget().of(name));
      expect([picture.width, picture.height]).toEqual([13, 9]);
      expect(Array.from(picture.pixels), name).toEqual(pixels);
    }
  });
});
