import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RanksimError } from "../../src/errors.ts";
import { loadModel } from "../../src/model-file/load.ts";
import { saveModel } from "../../src/model-file/save.ts";
import type { Saved } from "../../src/model-file/saved.ts";
import { drawBelow, generatorOf } from "../../src/random.ts";
import {
  anySaved,
  dataStart,
  digestAt,
  forge,
  forgeHeader,
  headerOf,
  plain,
  readers,
  sample,
  sign,
} from "./fake-models.ts";

const file = saveModel(plain(sample));

/** The refusal of a file; fails on anything but a RanksimError with code "bad-file" that was meant, not stumbled upon. */
function refusal(bytes: Uint8Array): RanksimError {
  try {
    loadModel(bytes, { readers });
  } catch (error) {
    const meant =
      error instanceof RanksimError && (!/^not a model/.test(error.message) || error.cause instanceof RanksimError);
    if (meant && error.code === "bad-file") return error;
    throw new Error(`expected a refusal with code bad-file, found ${error}`, { cause: error });
  }
  throw new Error("expected a refusal, the file was read");
}

/** Either a refusal, or a file that is in fact sound: saving what was loaded gives the same bytes. */
function soundOrRefused(bytes: Uint8Array): void {
  let again: Uint8Array;
  try {
    again = saveModel(loadModel(bytes, { readers }));
  } catch {
    refusal(bytes);
    return;
  }
  expect(Buffer.compare(again, bytes)).toBe(0);
}

describe("a damaged file is refused", () => {
  it("with any single bit flipped", () => {
    for (let at = 0; at < file.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const damaged = Uint8Array.from(file);
        damaged[at] ^= 1 << bit;
        refusal(damaged);
      }
    }
  });

  it("cut at any byte, at the end or at the start, or with bytes added", () => {
    for (let length = 0; length < file.length; length++) {
      refusal(file.subarray(0, length));
      refusal(file.subarray(file.length - length));
    }
    refusal(Buffer.concat([file, Buffer.of(0)]));
  });

  it("with several bytes changed, pieces moved, removed or repeated", () => {
    const random = generatorOf(1);
    for (let round = 0; round < 5_000; round++) {
      const damaged = Uint8Array.from(file);
      const from = drawBelow(random, file.length);
      const to = from + 1 + drawBelow(random, file.length - from);
      const at = drawBelow(random, file.length);
      const action = drawBelow(random, 4);
      if (action === 0) for (let i = from; i < to; i++) damaged[i] = drawBelow(random, 256);
      if (action === 1) damaged.copyWithin(at, from, to);
      const rest = Buffer.from(damaged);
      const changed =
        action === 2
          ? Buffer.concat([rest.subarray(0, from), rest.subarray(to)])
          : action === 3
            ? Buffer.concat([rest.subarray(0, to), rest.subarray(from)])
            : damaged;
      if (Buffer.compare(changed, file) !== 0) refusal(changed);
    }
  });

  it("when it is something else altogether", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => void refusal(bytes)));
    refusal(new Uint8Array(1_000));
    refusal(new Uint8Array(1_000).fill(0xff));
    refusal(Buffer.from("PK\u0003\u0004".repeat(100)));
    for (const other of ["text", null, undefined, {}, [1, 2], new ArrayBuffer(200), new Uint16Array(200)]) {
      refusal(other as Uint8Array);
    }
  });
});

describe("a forged file with a right digest is sound or refused", () => {
  it("with any single bit of the header flipped", () => {
    for (let at = 0; at < dataStart(file); at++) {
      for (let bit = 0; bit < 8; bit++) {
        const forged = Uint8Array.from(file);
        forged[at] ^= 1 << bit;
        soundOrRefused(sign(forged));
      }
    }
  });

  it("with bits of the arrays of any model flipped", () => {
    fc.assert(
      fc.property(anySaved, fc.nat(), fc.nat(7), (saved, where, bit) => {
        const bytes = saveModel(plain(saved));
        bytes[8 + (where % (bytes.length - 8))] ^= 1 << bit;
        soundOrRefused(sign(bytes));
      }),
      { numRuns: 500 },
    );
  });

  it("never with a number of the layout replaced", () => {
    const header = headerOf(file).trimEnd();
    const layout = header.indexOf('"}') + 2;
    const data = file.subarray(dataStart(file));
    let replaced = 0;
    for (const found of header.matchAll(/(?<=[[,])\d+(?=[\],])/g)) {
      if (found.index < layout) continue;
      for (const other of ["-1", "0.5", "1e3", "9007199254740993", "1e400", "null", '"8"', "[]", "00", ""]) {
        const changed = header.slice(0, found.index) + other + header.slice(found.index + found[0].length);
        refusal(forgeHeader(changed, data));
        replaced++;
      }
    }
    expect(replaced).toBeGreaterThan(200);
  });
});

describe("a forged header is refused by what is wrong with it", () => {
  const two = new Uint8Array(16);
  const entry = (name: string, dtype: string, shape: string, begin: string | number, end: string | number) =>
    `,"${name}":{"dtype":"${dtype}","shape":${shape},"data_offsets":[${begin},${end}]}`;

  it("accepts the hand-written file all others differ from", () => {
    const bytes = forge(entry("a", "F64", "[1]", 0, 8) + entry("b", "F64", "[1]", 8, 16), two);
    expect(loadModel(bytes, { readers }).save().arrays.b.values).toEqual(Float64Array.of(0));
    expect(saveModel(loadModel(bytes, { readers }))).toEqual(bytes);
  });

  it.each<[string, Uint8Array, RegExp]>([
    [
      "arrays that overlap",
      forge(entry("a", "F64", "[1]", 0, 8) + entry("b", "F64", "[1]", 0, 8), two),
      /header, character/,
    ],
    [
      "arrays that overlap in part",
      forge(entry("a", "F64", "[1]", 0, 8) + entry("b", "F64", "[1]", 4, 12), two),
      /header, character/,
    ],
    [
      "a gap between arrays",
      forge(entry("a", "F32", "[1]", 0, 4) + entry("b", "F32", "[1]", 12, 16), two),
      /too long: expected 8 bytes of arrays, found 16/,
    ],
    [
      "arrays out of order",
      forge(entry("b", "F64", "[1]", 0, 8) + entry("a", "F64", "[1]", 8, 16), two),
      /header, character/,
    ],
    [
      "narrow elements before wide ones",
      forge(entry("a", "U8", "[8]", 0, 8) + entry("b", "F64", "[1]", 8, 16), two),
      /header, character/,
    ],
    ["offsets that run backwards", forge(entry("a", "F64", "[2]", 16, 0), two), /header, character/],
    ["negative offsets", forge(entry("a", "F64", "[2]", -16, 0), two), /header, character/],
    ["offsets that are not whole", forge(entry("a", "F64", "[2]", "0.0", "16.0"), two), /header, character/],
    ["offsets as strings", forge(entry("a", "F64", "[2]", '"0"', '"16"'), two), /header, character/],
    [
      "offsets beyond the end",
      forge(entry("a", "F64", "[3]", 0, 24), two),
      /cut short: expected 24 bytes of arrays, found 16/,
    ],
    [
      "bytes behind the last array",
      forge(entry("a", "F64", "[1]", 0, 8), two),
      /too long: expected 8 bytes of arrays, found 16/,
    ],
    ["a shape of 2^53", forge(entry("a", "F64", "[9007199254740992]", 0, 16), two), /array "a".*below 2\^32/],
    [
      "a shape whose product overflows",
      forge(entry("a", "F64", "[4294967295,4294967295,4294967295]", 0, 16), two),
      /cut short/,
    ],
    [
      "a shape whose product is beyond all numbers",
      forge(entry("a", "U8", `[${Array(64).fill(4294967295)}]`, 0, 16), two),
      /cut short/,
    ],
    [
      "a shape whose product wraps to the right size in 64 bits",
      forge(entry("a", "U8", "[4294967296,4294967296,16]", 0, 16), two),
      /array "a".*below 2\^32/,
    ],
    ["a negative shape", forge(entry("a", "F64", "[-1,-2]", 0, 16), two), /array "a".*shape/],
    ["a shape that is not whole", forge(entry("a", "F64", "[0.5,4]", 0, 16), two), /array "a".*shape/],
    ["a shape of strings", forge(entry("a", "F64", '["2"]', 0, 16), two), /array "a".*shape/],
    ["a shape that is no list", forge(entry("a", "F64", "2", 0, 16), two), /array "a".*shape/],
    ["an unknown type", forge(entry("a", "BF16", "[8]", 0, 16), two), /array "a".*BF16/],
    [
      "a type named like a method of objects",
      forge(entry("a", "constructor", "[8]", 0, 16), two),
      /array "a".*constructor/,
    ],
    ["an entry that is null", forge(',"a":null', two), /array "a"/],
    [
      "an entry with another field",
      forge(',"a":{"dtype":"F64","shape":[2],"data_offsets":[0,16],"x":1}', two),
      /header, character/,
    ],
    [
      "the same name twice",
      forge(entry("a", "F64", "[2]", 0, 16) + entry("a", "F64", "[2]", 0, 16), two),
      /header, character/,
    ],
    ["the name __proto__", forge(entry("__proto__", "F64", "[2]", 0, 16), two), /"__proto__"/],
    ["a name with a quotation mark", forge(entry('a\\"', "F64", "[2]", 0, 16), two), /name is not allowed/],
    ["an array of a step that is not there", forge(entry("0.a", "F64", "[2]", 0, 16), two), /"0\."/],
    [
      "a step number in another spelling",
      forge(entry("00.a", "F64", "[2]", 0, 16), two, '{"kind":"chain","meta":{},"steps":[{"kind":"plain","meta":{}}]}'),
      /"00\."/,
    ],
    ["white space", forge(` ${entry("a", "F64", "[2]", 0, 16)}`, two), /header, character/],
    ["a second __metadata__", forge(',"__metadata__":null'), /model as a string/],
    [
      "other metadata",
      forgeHeader(
        `{"__metadata__":{"format":"ranksim","version":"1","digest":"${"0".repeat(64)}","model":"{}","x":"1"}}`,
      ),
      /header, character/,
    ],
    [
      "a model that is no string",
      forgeHeader(`{"__metadata__":{"format":"ranksim","version":"1","digest":"${"0".repeat(64)}","model":{}}}`),
      /model as a string/,
    ],
    [
      "a digest in capitals",
      Uint8Array.from(file, (byte, at) => (at >= digestAt && at < digestAt + 64 && byte >= 97 ? byte - 32 : byte)),
      /digest/,
    ],
    [
      "NaN in an array",
      forge(entry("a", "F64", "[2]", 0, 16), Buffer.from(Float64Array.of(1, Number.NaN).buffer)),
      /array a, position 1.*NaN/,
    ],
    [
      "an infinity in an array",
      forge(entry("a", "F32", "[1]", 0, 4), Buffer.from(Float32Array.of(-1 / 0).buffer)),
      /array a, position 0.*-Infinity/,
    ],
    ["more padding than needed", forgeHeader(`${headerOf(forge("")).trimEnd()}${" ".repeat(16)}`), /header, character/],
    [
      "a header that is not UTF-8",
      sign(Buffer.from(forge(',"\u00e9":null')).map((byte) => (byte === 0xc3 ? 0xff : byte))),
      /header is not UTF-8/,
    ],
  ])("%s", (_, bytes, message) => {
    expect(refusal(bytes).message).toMatch(message);
  });

  it.each<[string, string, RegExp]>([
    ["no JSON", "{", /model: not JSON/],
    ["no object", "3", /model: expected a kind/],
    ["null", "null", /model: expected a kind/],
    ["no kind", '{"meta":{}}', /model: expected a kind/],
    ["a kind of another type", '{"kind":1,"meta":{}}', /model: expected a kind, found 1/],
    ["a kind nobody reads", '{"kind":"toString","meta":{}}', /no reader.*"toString".*plain, chain/],
    ["no meta", '{"kind":"plain"}', /model: expected meta/],
    ["meta as a list", '{"kind":"plain","meta":[]}', /model: expected meta/],
    ["steps as an object", '{"kind":"chain","meta":{},"steps":{}}', /expected steps as a list/],
    ["a step that is null", '{"kind":"chain","meta":{},"steps":[null]}', /step 0: expected a kind/],
    ["another field", '{"arrays":{},"kind":"plain","meta":{}}', /unknown field "arrays"/],
    ["keys out of order", '{"meta":{},"kind":"plain"}', /not canonical JSON from character 2/],
    ["a repeated key", '{"kind":"plain","kind":"plain","meta":{}}', /not canonical/],
    ["the key __proto__", '{"kind":"plain","meta":{"__proto__":{"polluted":1}}}', /__proto__/],
    ["a number beyond float64", '{"kind":"plain","meta":{"a":1e999}}', /model\.meta\.a/],
    ["a number spelled in another way", '{"kind":"plain","meta":{"a":1.0}}', /not canonical JSON from character 29/],
    ["lists without end", `{"kind":"plain","meta":{"a":${"[".repeat(500_000)}`, /nested deeper/],
    ["lists nested deeply", `{"kind":"plain","meta":{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}}`, /nested deeper/],
  ])("a model that is %s", (_, model, message) => {
    expect(refusal(forge("", undefined, model)).message).toMatch(message);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  it("whose nesting has no end", () => {
    expect(refusal(forge(`,"a":${"[".repeat(2_000_000)}`)).message).toMatch(/header: nested deeper than 64/);
    expect(refusal(forge(`,"a":${'{"a":'.repeat(500_000)}`)).message).toMatch(/header: nested deeper than 64/);
  });

  it("with lengths that are not true", () => {
    for (const length of [
      0n,
      1n,
      1n << 31n,
      1n << 32n,
      1n << 53n,
      (1n << 64n) - 1n,
      BigInt(file.length),
      BigInt(file.length) - 7n,
    ]) {
      const forged = Uint8Array.from(file);
      new DataView(forged.buffer).setBigUint64(0, length, true);
      refusal(sign(forged));
    }
  });

  it("of another version", () => {
    const other = (version: string) =>
      forgeHeader(
        `{"__metadata__":{"format":"ranksim","version":"${version}","digest":"${"0".repeat(64)}","model":"{}"}}`,
      );
    expect(refusal(other("2")).message).toBe("made by a newer ranksim: version 2, this one reads 1");
    expect(refusal(other("10")).message).toBe("made by a newer ranksim: version 10, this one reads 1");
    for (const version of ["0", "", "x", "01", "1.5", "-1"]) refusal(other(version));
  });

  it("in time and memory that grow with its length, not with its promises", () => {
    // Many steps and many arrays: each array must find its step without a search through all of them.
    const steps = 20_000;
    const tree = `{"kind":"chain","meta":{},"steps":[${Array(steps).fill('{"kind":"plain","meta":{}}')}]}`;
    const names = Array.from({ length: steps }, (_, i) => `${i}.a`).sort();
    const entries = names.map((name) => `,"${name}":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}`).join("");
    const started = process.cpuUsage().user;
    expect(loadModel(forge(entries, undefined, tree), { readers }).save().steps).toHaveLength(steps);
    expect(process.cpuUsage().user - started).toBeLessThan(5e6);

    const before = process.memoryUsage().arrayBuffers;
    for (let round = 0; round < 50; round++)
      refusal(forge(',"a":{"dtype":"F64","shape":[4294967295,1],"data_offsets":[0,34359738360]}'));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50e6);
  });
});

describe("a reader that stumbles", () => {
  const load = (read: () => never) => {
    const reader = { kind: "plain", read };
    return () =>
      loadModel(saveModel(plain({ kind: "plain", meta: {}, arrays: {} } satisfies Saved)), { readers: [reader] });
  };

  it("is reported as a bad file, with the cause kept", () => {
    const cause = new TypeError("meta.params is undefined");
    const throws = load(() => {
      throw cause;
    });
    expect(throws).toThrow(expect.objectContaining({ name: "RanksimError", code: "bad-file", cause }));
    const params = load(() => {
      throw new RanksimError("bad-params", "nBest: expected a positive number, found -1");
    });
    expect(params).toThrow(expect.objectContaining({ code: "bad-file", message: expect.stringMatching(/nBest/) }));
  });
});
