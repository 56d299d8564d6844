import * as core from "@ranksim/core";
import * as data from "@ranksim/data";
import * as dataNode from "@ranksim/data/node";
import * as exporting from "@ranksim/export";
import * as nir from "@ranksim/export/nir";
import { expect, test } from "vitest";
import * as ranksim from "../src/index.ts";
import * as ranksimNode from "../src/node.ts";

test("one package gives everything: no name of one part hides another", () => {
  const all = [core, data, exporting].flatMap((part) => Object.keys(part));
  const names = new Set(all);
  expect(names.size).toBe(all.length);
  expect(new Set(Object.keys(ranksim))).toEqual(names);
  for (const name of [core, dataNode, exporting, nir, { run: undefined }].flatMap((part) => Object.keys(part)))
    expect(ranksimNode).toHaveProperty(name);
});
