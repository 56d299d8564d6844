/** Style sheets name variables: each that is named is a colour of the one table, or is set where it is used. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { COLOURS, PLAYGROUND_COLOURS } from "../../cli/src/report/colours.ts";

const packages = join(import.meta.dirname, "../..");

it.each([
  ["reports", "cli/src/report", COLOURS],
  ["the page of serve", "cli/src/serve", COLOURS],
  ["the playground", "playground/src", { ...COLOURS, ...PLAYGROUND_COLOURS }],
])("%s use variables that exist", (_, folder, colours) => {
  const files = readdirSync(join(packages, folder), { recursive: true, encoding: "utf8" });
  const text = files
    .filter((file) => /\.(css|tsx?)$/.test(file))
    .map((file) => readFileSync(join(packages, folder, file), "utf8"))
    .join("\n");
  const named = [...text.matchAll(/var\(--([\w-]+)\)/g)].map(([, name]) => name);
  const set = [...text.matchAll(/--([\w-]+)"?: ?/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !Object.hasOwn(colours, name) && !set.includes(name))).toEqual([]);
});
