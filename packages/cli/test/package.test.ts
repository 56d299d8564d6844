import * as core from "@ranksim/core";
import * as data from "@ranksim/data";
import * as dataNode from "@ranksim/data/node";
import { expect, test } from "vitest";
import * as ranksim from "../src/index.ts";
import * as ranksimNode from "../src/node.ts";

test("one package gives everything: no name of core and data hides another", () => {
  const names = new Set([...Object.keys(core), ...Object.keys(data)]);
  expect(names.size).toBe(Object.keys(core).length + Object.keys(data).length);
  expect(new Set(Object.keys(ranksim))).toEqual(names);
  for (const name of [...Object.keys(core), ...Object.keys(dataNode), "run"]) expect(ranksimNode).toHaveProperty(name);
});
