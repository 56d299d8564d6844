import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import {
  type ByteSource,
  fileSource,
  openPath,
  pathFolder,
  readData,
  stdinSource,
  writeWhole,
} from "../../src/node.ts";
import { scratch } from "../python.ts";
import { expectRefusal, rowsOf } from "../rows.ts";

test("standard input is read once, whatever its format", async () => {
  const data = await readData(stdinSource(Readable.from([Buffer.from("a,b\n1,"), Buffer.from("2\n")])));
  expect(data.form === "matrix" && rowsOf(data)).toEqual([[1, 2]]);
});

test("bytes of a file go to the buffer that is given, if they fit there", async () => {
  const path = join(scratch(), "bytes");
  writeFileSync(path, Uint8Array.of(1, 2, 3, 4, 5));
  const { slice } = await fileSource(path);
  const into = new Uint8Array(4);
  for (const [from, to, isThere] of [
    [0, 4, true],
    [3, 9, true],
    [1, 1, true],
    [0, 5, false],
  ] as const) {
    const bytes = (await slice?.(from, to, into)) as Uint8Array;
    expect([...bytes]).toEqual([1, 2, 3, 4, 5].slice(from, to));
    expect(bytes.buffer === into.buffer).toBe(isThere);
  }
});

test("a folder is walked to its depth; links lead to files only", async () => {
  const folder = scratch();
  mkdirSync(join(folder, "a", "b"), { recursive: true });
  writeFileSync(join(folder, "a", "b", "deep"), "1");
  writeFileSync(join(folder, "a", "flat"), "2");
  symlinkSync(join(folder, "a", "flat"), join(folder, "a", "link"));
  symlinkSync(folder, join(folder, "a", "loop"));
  const paths: string[] = [];
  for await (const entry of pathFolder(folder).entries()) paths.push(entry.path);
  expect(paths.sort()).toEqual(["a/b/deep", "a/flat", "a/link"]);
});

test("a file that is not the one that was found is refused at its end, however it has changed", async () => {
  const path = join(scratch(), "rows.csv");
  const write = (text: string) => writeFileSync(path, text);
  const read = async (source: ByteSource, meanwhile = () => {}) => {
    let bytes = 0;
    for await (const chunk of source.stream()) {
      bytes += chunk.byteLength;
      meanwhile();
    }
    return bytes;
  };
  const changes = {
    "more rows": () => write("1,2\n3,4\n5,6\n"),
    "other rows of the same length": () => {
      write("1,2\n3,5\n");
      utimesSync(path, 1, 1);
    },
    "another file": () => {
      write("1,2\n3,5\n");
      renameSync(path, `${path}.old`);
      copyFileSync(`${path}.old`, path);
    },
  };
  for (const change of Object.values(changes)) {
    write("1,2\n3,4\n");
    const between = await fileSource(path);
    expect([await read(between), await read(between)]).toEqual([8, 8]);
    change();
    await expectRefusal(read(between), "bad-file", path, "changed while it was read");
  }
  write("1,2\n3,4\n");
  const during = await fileSource(path);
  await expectRefusal(read(during, changes["more rows"]), "bad-file", path, "changed while it was read");
});

test("a path that leads nowhere is refused", async () => {
  await expectRefusal(openPath("/no/such/file.csv"), "bad-file", "/no/such/file.csv", "found nothing");
});

test("a write that fails leaves the old file and nothing else", async () => {
  const folder = scratch();
  const path = join(folder, "a.bin");
  await writeWhole(path, [Uint8Array.of(1)]);
  await expect(
    writeWhole(
      path,
      (function* () {
        yield Uint8Array.of(2);
        throw new Error("disk on fire");
      })(),
    ),
  ).rejects.toThrow("disk on fire");
  expect([...readFileSync(path)]).toEqual([1]);
  expect(readdirSync(folder)).toEqual(["a.bin"]);
});
