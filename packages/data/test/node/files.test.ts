import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { openPath, pathFolder, readData, stdinSource, writeWhole } from "../../src/node.ts";
import { scratch } from "../python.ts";
import { expectRefusal, rowsOf } from "../rows.ts";

test("standard input is read once, whatever its format", async () => {
  const data = await readData(stdinSource(Readable.from([Buffer.from("a,b\n1,"), Buffer.from("2\n")])));
  expect(data.form === "matrix" && rowsOf(data)).toEqual([[1, 2]]);
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
