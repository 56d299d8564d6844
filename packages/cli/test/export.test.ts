/** `ranksim export`: files of each format, and flags that do not fit. */

import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeWorld, mixed, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = makeWorld();
  await world.ranksim("train --estimator classifier digits:train --filters 40 --model 8x8-digits.ranksim");
});
afterAll(() => world.remove());

describe("ranksim export", () => {
  test("writes an ONNX file and says how large it is", async () => {
    const { code, stdout } = await world.ranksim("export 8x8-digits.ranksim --to onnx --out d.onnx --json");
    expect(code).toBe(0);
    const bytes = readFileSync(world.path("d.onnx"));
    expect(JSON.parse(stdout)).toMatchObject({ to: "onnx", out: "d.onnx", bytes: bytes.length });
    // The first field of an ONNX file is its version of the format.
    expect([...bytes.subarray(0, 2)]).toEqual([8, 8]);
  });

  test("notes where labels of an ONNX file may differ from those of predict", async () => {
    const train = "train --estimator classifier digits:train --filters 20";
    await world.ranksim(`${train} --set distribution=savage --model savage.ranksim`);
    const note = "a label can differ from that of predict where two filters respond alike";
    for (const [model, isNoted] of [
      ["8x8-digits", false],
      ["savage", true],
    ] as const) {
      const { code, stderr } = await world.ranksim(`export ${model}.ranksim --to onnx --out d.onnx`);
      expect(code).toBe(0);
      expect(stderr.includes(note), model).toBe(isNoted);
    }
    const { stdout } = await world.ranksim("export savage.ranksim --to onnx --out d.onnx --json");
    expect(JSON.parse(stdout).notes).toEqual([expect.stringContaining(note)]);
  });

  test("names a header by its model and says what 8 bits cost", async () => {
    const { stdout } = await world.ranksim("export 8x8-digits.ranksim --to c --check digits:test --out d.h --json");
    const { bits, isExact, check } = JSON.parse(stdout);
    expect([bits, isExact, check.changed]).toEqual([8, true, 0]);
    expect(readFileSync(world.path("d.h"), "utf8")).toContain("int model_8x8_digits_predict(const uint8_t *row)");
  });

  test("writes to standard output", async () => {
    const { bytes } = await world.ranksim("export 8x8-digits.ranksim --to nir --out -");
    // Every HDF5 file begins with this.
    expect(Buffer.from(bytes.subarray(1, 4)).toString()).toBe("HDF");
  });

  test.each([
    ["--to onnx --bits 8", "--bits: expected --to c with it, found --to onnx"],
    ["--to c --threshold 5", "--threshold: expected --to nir with it, found --to c"],
    ["--to c --bits 8 --check digits:test", "--bits or --check, not both"],
    ["--to c --bits 7", "Expected 8 or 16"],
    ["--to tensorflow", "Allowed choices are onnx, c, nir"],
  ])("refuses %s", async (flags, message) => {
    const { code, stderr } = await world.ranksim(`export 8x8-digits.ranksim ${flags} --out x`);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test("refuses a model that the format cannot say, and leaves no file", async () => {
    await world.ranksim("train digits:train --filters 20 --estimator transform --model t.ranksim");
    const { code, stderr } = await world.ranksim("export t.ranksim --to c --out t.h");
    expect(code).toBe(1);
    expect(stderr).toContain(
      "c: a transform cannot be exported; it names no class; expected a classifier; ONNX (--to onnx) takes it",
    );
    expect(() => readFileSync(world.path("t.h"))).toThrow();
  });

  test.each(["onnx", "c", "nir"])("refuses a table model as %s, and says where it can be used", async (format) => {
    writeFileSync(world.path("mixed.csv"), mixed());
    await world.ranksim("train mixed.csv --label quality --model mixed.ranksim");
    const { code, stderr } = await world.ranksim(`export mixed.ranksim --to ${format} --out mixed.out`);
    expect(code).toBe(1);
    expect(stderr).toContain(`${format}: a table-encoder cannot be exported; it takes texts or cells of tables`);
    expect(stderr).toContain("ranksim serve");
    expect(() => readFileSync(world.path("mixed.out"))).toThrow();
  });
});
