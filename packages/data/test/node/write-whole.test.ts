/** Files written whole: modes, links, what kills leave behind, names, devices and files without end. */

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { Budget, checkNames, openPath, readData, readWhole, writeWhole } from "../../src/node.ts";
import { scratch } from "../python.ts";
import { expectRefusal } from "../rows.ts";

const bytes = (text: string) => [new TextEncoder().encode(text)];

test("a file that is replaced keeps its mode, a new one has the usual one", async () => {
  const folder = scratch();
  const [old, fresh, usual] = ["old", "fresh", "usual"].map((name) => join(folder, name));
  writeFileSync(old, "1");
  chmodSync(old, 0o640);
  await writeWhole(old, bytes("2"));
  expect([statSync(old).mode & 0o7777, readFileSync(old, "utf8")]).toEqual([0o640, "2"]);
  writeFileSync(usual, "");
  await writeWhole(fresh, bytes("3"));
  expect(statSync(fresh).mode).toBe(statSync(usual).mode);
});

describe("links", () => {
  test("stay links, and what they lead to is written, there already or not", async () => {
    const folder = scratch();
    mkdirSync(join(folder, "far"));
    writeFileSync(join(folder, "far", "there"), "old");
    symlinkSync("far/there", join(folder, "a"));
    symlinkSync("far/missing", join(folder, "b"));
    symlinkSync("b", join(folder, "c"));
    await writeWhole(join(folder, "a"), bytes("new"));
    await writeWhole(join(folder, "c"), bytes("made"));
    expect(readFileSync(join(folder, "far", "there"), "utf8")).toBe("new");
    expect(readFileSync(join(folder, "far", "missing"), "utf8")).toBe("made");
    expect(["a", "b", "c"].map((name) => readlinkSync(join(folder, name)))).toEqual(["far/there", "far/missing", "b"]);
  });

  test("that lead round in a circle are refused, and stay", async () => {
    const folder = scratch();
    symlinkSync("b", join(folder, "a"));
    symlinkSync("a", join(folder, "b"));
    await expect(writeWhole(join(folder, "a"), bytes("x"))).rejects.toMatchObject({ code: "ELOOP" });
    await expect(checkNames(join(folder, "a"))).rejects.toMatchObject({ code: "ELOOP" });
    expect(lstatSync(join(folder, "a")).isSymbolicLink()).toBe(true);
  });
});

test("what killed runs left is removed by the next run of the same target, and nothing else is", async () => {
  const folder = scratch();
  const target = join(folder, "m.model");
  let temporary = "";
  await writeWhole(
    target,
    (function* () {
      temporary = readdirSync(folder)[0];
      yield* bytes("1");
    })(),
  );
  // A process that is gone, and one that is there.
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const named = (id: number) => temporary.replace(`.${process.pid}.`, `.${id}.`);
  expect(temporary).toContain(`.${process.pid}.`);
  const [left, alive, other] = [named(pid as number), named(process.ppid), ".ranksim-other.1.0.tmp"];
  for (const name of [left, alive, other, ".m.model.swp"]) writeFileSync(join(folder, name), "half");
  await writeWhole(join(folder, "another.model"), bytes("2"));
  expect(existsSync(join(folder, left))).toBe(true);
  await writeWhole(target, bytes("3"));
  expect(readdirSync(folder).sort()).toEqual([alive, other, ".m.model.swp", "another.model", "m.model"].sort());
});

test("two writes of one target at a time do not take each other's files away", async () => {
  const target = join(scratch(), "a");
  const slow = async function* (text: string) {
    for (const piece of text) {
      yield* bytes(piece);
      await new Promise((resume) => setTimeout(resume, 5));
    }
  };
  await Promise.all([writeWhole(target, slow("first")), writeWhole(target, slow("other"))]);
  expect(["first", "other"]).toContain(readFileSync(target, "utf8"));
});

test("names as long as the system allows are written, longer ones refused beforehand", async () => {
  const longest = join(scratch(), "n".repeat(255));
  await checkNames(longest);
  await writeWhole(longest, bytes("x"));
  expect(basename(longest).length).toBe(255);
  await expect(checkNames(`${longest}n`)).rejects.toMatchObject({ code: "ENAMETOOLONG" });
});

describe("what has no end", () => {
  test.each(["/dev/zero", "/dev/urandom", "/dev/null"])("%s is refused", async (device) => {
    await expectRefusal(openPath(device), "bad-file", device, "found a device");
    await expectRefusal(readWhole(device), "bad-file", device, "found a device");
  });

  test("files of a terabyte without content are refused before there is room for them", async () => {
    const path = join(scratch(), "hole.npy");
    writeFileSync(path, "\x93NUMPY\x01\0", "latin1");
    truncateSync(path, 2 ** 40);
    await expectRefusal(
      openPath(path).then((source) => readData(source)),
      "bad-file",
      "hole.npy",
      "of memory",
    );
    await expectRefusal(readWhole(path), "bad-file", "hole.npy", "of memory");
    await expectRefusal(readWhole(path, new Budget(5e9)), "bad-file", "5 GB");
  });

  test("a folder is no file", async () => {
    await expectRefusal(readWhole(scratch()), "bad-file", "found a folder");
  });
});
