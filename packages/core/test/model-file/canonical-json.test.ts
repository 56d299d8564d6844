import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, parseCanonicalJson } from "../../src/model-file/container/canonical-json.ts";

describe("canonicalJson", () => {
  it("writes keys in ascending order at every level, numbers among them as text", () => {
    expect(canonicalJson({ b: 1, a: { z: [], y: {} }, 10: 0, 9: 0 })).toBe('{"10":0,"9":0,"a":{"y":{},"z":[]},"b":1}');
  });

  it("writes each number and string as JSON does", () => {
    expect(canonicalJson([0.1, -0, 1e21, 1e-7, "é\n\u2028\ud800", true, null])).toBe(
      '[0.1,0,1e+21,1e-7,"é\\n\u2028\\ud800",true,null]',
    );
  });

  /** Any JSON but an object with the one key that is refused. */
  const allowed = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('"__proto__":'));

  it("is read back as the same value", () => {
    fc.assert(
      fc.property(allowed, (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(parseCanonicalJson(text, "text"))).toBe(text);
      }),
    );
  });

  it("refuses a missing item, a date and a nesting without end, by place", () => {
    expect(() => canonicalJson({ a: new Array(2) }, "x")).toThrow("x.a[0]: expected JSON, found undefined");
    expect(() => canonicalJson({ a: new Date(0) }, "x")).toThrow("x.a: expected a plain object, found Date");
    const endless: unknown[] = [];
    endless.push(endless);
    expect(() => canonicalJson(endless)).toThrow("nested deeper than 64");
  });
});
