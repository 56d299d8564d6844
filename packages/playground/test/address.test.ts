/** What a link says is what it shows; what it says wrongly is as at first. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Address, readAddress, TABS, writeAddress } from "../src/state/address.ts";
import { FIRST_RECIPE, recipeFor, sameRecipe, withEstimator, withParam } from "../src/state/recipe.ts";

const inkOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length, max: 1 });

describe("the address", () => {
  it("is the first view when it says nothing", () => {
    expect(readAddress("")).toEqual({ data: "digits", recipe: FIRST_RECIPE, tab: "filters" });
  });

  it("says what was written into it", () => {
    const whole = fc.nat(1_000_000);
    const address: fc.Arbitrary<Address> = fc.record(
      {
        data: fc.string({ minLength: 1 }),
        recipe: fc.record({
          estimator: fc.constantFrom("classifier" as const),
          heldOut: fc.integer({ min: 0, max: 18 }).map((twentieth) => twentieth / 20),
          params: fc.record(
            {
              filters: fc.oneof(fc.constant("auto"), fc.integer({ min: 1, max: 10_000 })),
              seed: whole,
              tolerance: fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100),
              distribution: fc.constantFrom("rank", "savage", "confusion"),
              distributionPerClass: fc.boolean(),
              classWeight: fc.constant({ a: 2, b: 1 }),
            },
            { requiredKeys: [] },
          ),
        }),
        row: whole,
        drawn: fc.uint8Array({ minLength: 1, maxLength: 784 }),
        ink: fc.integer({ min: 1, max: 128 }).chain((bytes) => inkOf(8 * bytes)),
        tab: fc.constantFrom(...TABS),
        cell: fc.record({ truth: fc.nat(900), answer: fc.nat(900) }),
        filter: whole,
        model: fc.constantFrom("model-a.model", "x_1.bin"),
      },
      { requiredKeys: ["data", "recipe", "tab"] },
    );
    fc.assert(
      fc.property(address, (written) => {
        expect(readAddress(`#${writeAddress(written)}`)).toEqual(written);
      }),
    );
  });

  it("never fails, whatever is typed", () => {
    fc.assert(
      fc.property(fc.string(), (typed) => {
        expect(TABS).toContain(readAddress(typed).tab);
      }),
    );
  });

  it.each(["https://elsewhere/m", "//elsewhere/m", "../m", "a/b", ""])("opens no model from %j", (model) => {
    expect(readAddress(`#model=${encodeURIComponent(model)}`).model).toBeUndefined();
  });

  it("takes no parameter that the estimator lacks and no value of another type", () => {
    const { params } = readAddress(
      "#estimator=transform&distributionPerClass=true&filters=%22x%22&seed=[1]&iterations=3",
    ).recipe;
    expect(params).toEqual({ iterations: 3 });
  });
});

describe("recipes", () => {
  const seed = { name: "seed", form: "seed", default: 0, about: "" } as const;

  it("leave defaults out", () => {
    const changed = withParam(FIRST_RECIPE, seed, 5);
    expect(changed.params).toEqual({ ...FIRST_RECIPE.params, seed: 5 });
    expect(withParam(changed, seed, 0)).toEqual(FIRST_RECIPE);
    expect(withParam(changed, seed, undefined)).toEqual(FIRST_RECIPE);
  });

  it("lose what another estimator does not have", () => {
    const given = { ...FIRST_RECIPE, params: { filters: 9, classWeight: "uniform" } };
    expect(withEstimator(given, "transform").params).toEqual({ filters: 9 });
  });

  it("are the same whatever the order of their parameters", () => {
    const a = { ...FIRST_RECIPE, params: { filters: 9, seed: 1 } };
    expect(sameRecipe(a, { ...FIRST_RECIPE, params: { seed: 1, filters: 9 } })).toBe(true);
    expect(sameRecipe(a, { ...a, heldOut: 0 })).toBe(false);
  });

  it("suit the labels there are", () => {
    expect(recipeFor(true)).toMatchObject({ estimator: "chosen", heldOut: 0.25 });
    expect(recipeFor(false)).toEqual({ estimator: "transform", heldOut: 0, params: {} });
  });
});
