import { createHash } from "node:crypto";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sha256 } from "../../src/model-file/container/sha256.ts";

const expected = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const counting = (length: number) => Uint8Array.from({ length }, (_, i) => (i * 151 + (i >> 8)) & 0xff);

afterEach(() => vi.restoreAllMocks());

describe.each(["with Node's module", "without it, as in browsers"])("sha256 %s", (where) => {
  beforeEach(() => {
    const ask = vi.spyOn(process, "getBuiltinModule");
    if (where !== "with Node's module") ask.mockReturnValue(undefined);
  });
  afterEach(() => expect(process.getBuiltinModule).toHaveBeenCalledWith("node:crypto"));

  it("gives the digests printed in FIPS 180-2, appendix B", () => {
    const text = (s: string) => [new TextEncoder().encode(s)];
    expect(sha256(text("abc"))).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect(sha256(text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))).toBe(
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    );
    expect(sha256(text("a".repeat(1_000_000)))).toBe(
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
    );
  });

  it("agrees with node:crypto on every length up to 520 and some large ones", () => {
    for (let length = 0; length <= 520; length++) {
      const bytes = counting(length);
      expect(sha256([bytes]), `length ${length}`).toBe(expected(bytes));
    }
    for (const length of [4095, 4096, 65_537, 1_000_003]) {
      const bytes = counting(length);
      expect(sha256([bytes]), `length ${length}`).toBe(expected(bytes));
    }
  });

  it("does not depend on how the bytes are cut into parts, nor on their place in memory", () => {
    const parts = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 6 });
    fc.assert(
      fc.property(parts, (cut) => {
        expect(sha256(cut)).toBe(expected(Buffer.concat(cut)));
        const misplaced = cut.map((part) => Uint8Array.from([7, ...part, 9]).subarray(1, part.length + 1));
        expect(sha256(misplaced)).toBe(expected(Buffer.concat(cut)));
      }),
    );
  });

  it("leaves the bytes as they were", () => {
    const bytes = counting(300);
    sha256([bytes.subarray(0, 100), bytes.subarray(100)]);
    expect(bytes).toEqual(counting(300));
  });
});
