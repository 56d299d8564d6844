/** The short way through the commonest body gives what the general way gives, or nothing. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { denseRows } from "../src/serve/input.ts";
import { parseBody } from "../src/serve/predict.ts";
import { quickRows } from "../src/serve/quick-rows.ts";

const python = (value: unknown): string =>
  Array.isArray(value) ? `[${value.map(python).join(", ")}]` : JSON.stringify(value);

const matrix = fc.integer({ min: 1, max: 40 }).chain((features) =>
  fc.array(fc.array(fc.integer({ min: 0, max: 255 }), { minLength: features, maxLength: features }), {
    minLength: 1,
    maxLength: 8,
  }),
);

describe("rows of bytes", () => {
  it("are read as JSON.stringify and json.dumps write them", () => {
    fc.assert(
      fc.property(matrix, fc.boolean(), (rows, isPython) => {
        const text = isPython ? `{"rows": ${python(rows)}}` : JSON.stringify({ rows });
        const features = rows[0].length;
        expect(quickRows(Buffer.from(text), features)).toEqual(denseRows(rows, features));
      }),
    );
  });

  it("of a damaged body are those of the general way, or none", () => {
    const bytes = fc.constantFrom(...Buffer.from('0159,.-+e []{}"rows:\n\t\u000b'), 0, 200);
    let seen = 0;
    fc.assert(
      fc.property(matrix, fc.nat(), bytes, fc.constantFrom(0, 1), (rows, place, byte, cut) => {
        const body = Buffer.from(JSON.stringify({ rows }));
        const at = place % body.length;
        const damaged = Buffer.concat([body.subarray(0, at), Buffer.of(byte), body.subarray(at + cut)]);
        const features = rows[0].length;
        const found = quickRows(damaged, features);
        if (found === undefined) return;
        seen++;
        expect(found).toEqual(denseRows(parseBody(damaged).content, features));
      }),
      { numRuns: 3000 },
    );
    expect(seen).toBeGreaterThan(100);
  });

  it.each([
    ["another width", '{"rows":[[1,2,3]]}'],
    ["a number that is no byte", '{"rows":[[1,256]]}'],
    ["a leading zero", '{"rows":[[1,02]]}'],
    ["a fraction", '{"rows":[[1,2.0]]}'],
    ["a minus", '{"rows":[[1,-2]]}'],
    ["something after the rows", '{"rows":[[1,2]],"top":1}'],
    ["an end that is missing", '{"rows":[[1,2]'],
    ["too many ends", '{"rows":[[1,2]]]}'],
    ["no rows", '{"rows":[]}'],
    ["an empty row", '{"rows":[[]]}'],
    ["a comma too many", '{"rows":[[1,2],]}'],
    ["another name", '{"rowz":[[1,2]]}'],
    ["white space that JSON does not know", '{"rows":\u00a0[[1,2]]}'],
    ["nothing", ""],
  ])("are left to the general way: %s", (_, text) => {
    expect(quickRows(Buffer.from(text), 2)).toBeUndefined();
  });
});
