import { readFileSync, writeFileSync } from "node:fs";
import { decode } from "fast-png";
import { parseHTML } from "linkedom";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EXAMPLE_CONTENTS, makeWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = makeWorld();
  for (const [name, content] of Object.entries(EXAMPLE_CONTENTS)) writeFileSync(world.path(name), content);
  await world.ranksim("train --estimator classifier digits:train -m digits.ranksim --filters 100");
});
afterAll(() => world.remove());

const page = (name: string) => readFileSync(world.path(name), "utf8");
const documentOf = (name: string) => parseHTML(page(name)).document;

describe("the report of a model of images", () => {
  beforeAll(async () => {
    expect(await world.ranksim("report digits.ranksim digits:test -o digits.html")).toMatchObject({ code: 0 });
  });

  test("needs nothing but itself, and is small", () => {
    const html = page("digits.html");
    expect(html.length).toBeLessThan(500_000);
    expect(html).not.toMatch(/<script|<link|@import|url\(/i);
    const addresses = Array.from(html.matchAll(/(?:src|href|action|data)="([^"]*)"/g), ([, address]) => address);
    expect(addresses.length).toBeGreaterThan(100);
    for (const address of addresses) expect(address.slice(0, 22)).toBe("data:image/png;base64,");
    expect(html).toContain("default-src 'none'");
  });

  test("has the scores and counts that evaluate gives", async () => {
    const { accuracy, macro, confusion } = JSON.parse(
      (await world.ranksim("evaluate digits.ranksim digits:test --json")).stdout,
    );
    const document = documentOf("digits.html");
    const tiles = Array.from(document.querySelectorAll(".tiles dd:not(.small)"), (tile) => tile.textContent);
    expect(tiles.slice(0, 2)).toEqual([accuracy.toFixed(4), macro.f1.toFixed(4)]);
    const cells = Array.from(
      document.querySelectorAll("svg[aria-label^=Confusion] text.on-accent, svg[aria-label^=Confusion] text.ink"),
    )
      .map((cell) => cell.textContent)
      .slice(-1000);
    const counts = confusion.counts
      .flat()
      .filter((count: number) => count > 0)
      .sort();
    const names = [...confusion.classes, ...confusion.classes].map(String);
    expect(cells.sort()).toEqual([...counts.map(String), ...names].sort());
  });

  test("says beside the scores and on the terminal which rows were seen in training", async () => {
    const { stderr } = await world.ranksim("report digits.ranksim digits -o all.html");
    const note = /about 6\d % of 1,797 rows were seen in training/;
    expect(stderr).toMatch(note);
    expect(documentOf("all.html").querySelector(".tiles + .notes")?.textContent).toMatch(note);
    expect(page("digits.html")).not.toContain("seen in training");
  });

  test("draws the reliability of fitted probabilities beside what they were", async () => {
    await world.ranksim(
      "train --estimator classifier digits:train -m fitted.ranksim --filters 100 --set calibrate=isotonic",
    );
    await world.ranksim("report fitted.ranksim digits:test -o fitted.html");
    const { stdout } = await world.ranksim("evaluate fitted.ranksim digits:test --json");
    const { reliability } = JSON.parse(stdout);
    const document = documentOf("fitted.html");
    const chart = document.querySelector("svg[aria-label^=Reliability]");
    const table = chart?.closest(".charts")?.querySelectorAll("td") ?? [];
    const { before } = reliability;
    expect(Array.from(table, (cell) => cell.textContent)).toEqual(
      [before.calibrationError, reliability.calibrationError, before.logLoss, reliability.logLoss].map((value) =>
        value.toFixed(4),
      ),
    );
    const filled = (bins: { count: number }[]) => bins.filter(({ count }) => count > 0).length;
    // One more of each kind in the legend.
    expect(chart?.querySelectorAll("circle.hollow").length).toBe(filled(before.bins) + 1);
    expect(chart?.querySelectorAll("circle.accent").length).toBe(filled(reliability.bins) + 1);
    expect(filled(reliability.bins)).toBeGreaterThan(1);
    expect(documentOf("digits.html").querySelectorAll("svg[aria-label^=Reliability] circle.hollow").length).toBe(0);
  });

  test("shows a row of each class with its eight strongest filters, activations falling from 1", () => {
    const strips = Array.from(documentOf("digits.html").querySelectorAll(".strip"));
    expect(strips.length).toBeGreaterThanOrEqual(10);
    for (const strip of strips) {
      const activations = Array.from(strip.querySelectorAll(".activation"), (tag) => Number(tag.textContent));
      expect(activations).toHaveLength(8);
      expect(activations[0]).toBe(1);
      expect(activations).toEqual(activations.toSorted((a, b) => b - a));
    }
  });

  test("has pictures whose pixels are the row's values from black to white", async () => {
    const found = JSON.parse((await world.ranksim("explain digits.ranksim digits:test --row 0 --json")).stdout);
    expect(found.row).toBe(0);
    const { loadDigits } = await import("@ranksim/data");
    const row = Array.from((await loadDigits()).x.row(1198));
    const image = Array.from(documentOf("digits.html").querySelectorAll("figure.given img")).find(
      (tag) => tag.getAttribute("alt") === "row 0",
    );
    const png = decode(Buffer.from(image!.getAttribute("src")!.split(",")[1], "base64"), { checkCrc: true });
    expect([png.width, png.height, png.channels]).toEqual([8, 8, 1]);
    const largest = Math.max(...row);
    // Most ink is black.
    expect(Array.from(png.data)).toEqual(row.map((value) => 255 - Math.round((value * 255) / largest)));
  });
});

test("any width and height can be asked for, and none", async () => {
  await world.ranksim("report digits.ranksim digits:test -o wide.html --image 16x4 --samples 1");
  const image = documentOf("wide.html").querySelector("figure.given img")!;
  expect(Number(image.getAttribute("width"))).toBe(4 * Number(image.getAttribute("height")));
  await world.ranksim("report digits.ranksim digits:test -o none.html --image none --samples 1");
  expect(documentOf("none.html").querySelector("img")).toBeNull();
});

test("the report of a text model shows words", async () => {
  await world.ranksim(
    "train --estimator classifier reviews.csv --text --columns review:text --label stars -m reviews.ranksim",
  );
  await world.ranksim("report reviews.ranksim reviews.csv --columns review:text --label stars -o reviews.html");
  const document = documentOf("reviews.html");
  const [unkind, kind] = Array.from(document.querySelectorAll(".class .words"), (list) => list.textContent);
  for (const word of ["dull", "boring", "clumsy", "weak", "bland"]) expect(unkind).toContain(word);
  for (const word of ["lovely", "wonderful", "moving", "charming", "funny"]) expect(kind).toContain(word);
  expect(document.querySelector("blockquote")!.textContent).toContain("a ");
});

test("a model without classes and data without labels make a page too", async () => {
  await world.ranksim("train digits:test --estimator transform --filters 20 -m t.model");
  expect(await world.ranksim("report t.model digits:test -o t.html")).toMatchObject({ code: 0 });
  expect(documentOf("t.html").querySelectorAll(".strip").length).toBe(10);
  const rows = EXAMPLE_CONTENTS["plants.csv"].split("\n").map((line) => line.replace(/,[^,]*$/, ""));
  writeFileSync(world.path("bare.csv"), rows.join("\n"));
  await world.ranksim("train --estimator classifier plants.csv --label species -m plants.ranksim");
  expect(await world.ranksim("report plants.ranksim bare.csv -o bare.html")).toMatchObject({ code: 0 });
  expect(page("bare.html")).not.toContain("Confusion");
});

test("names and words from data stay text", async () => {
  const evil = `"><script>alert(1)</script><img src=x onerror=alert('1')>&amp;`;
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const lines = Array.from({ length: 20 }, (_, r) => {
    const values = Array.from({ length: 10 }, (_, i) => (i * (r % 2 ? 3 : 7)) % 10);
    return [...values, quoted(r % 2 ? evil : "plain")].join(",");
  });
  const names = Array.from({ length: 10 }, (_, i) => quoted(`${evil} ${i}`));
  writeFileSync(world.path("evil.csv"), [[...names, "species"].join(","), ...lines].join("\n"));
  await world.ranksim("train --estimator classifier evil.csv --label species -m evil.model");
  const made = await world.ranksim([
    "report",
    "evil.model",
    "evil.csv",
    "--label",
    "species",
    "-o",
    "evil.html",
    "--title",
    evil,
  ]);
  expect(made.code).toBe(0);
  const document = documentOf("evil.html");
  expect(document.querySelectorAll("script, img, [onerror]")).toHaveLength(0);
  expect(document.querySelector("h1")!.textContent).toBe(evil);
  expect(page("evil.html")).not.toContain("<img src=x");
});

test("many classes still make a small page", async () => {
  const classes = 120;
  const lines = Array.from({ length: classes * 4 }, (_, r) => {
    const c = r % classes;
    return [...Array.from({ length: 25 }, (_, i) => ((i + 1) * (c + 2) * 37) % 101), `class ${c}`].join(",");
  });
  writeFileSync(world.path("many.csv"), lines.join("\n"));
  await world.ranksim("train --estimator classifier many.csv --label -1 -m many.model");
  await world.ranksim("report many.model many.csv --label -1 -o many.html");
  expect(page("many.html").length).toBeLessThan(2_000_000);
  expect(documentOf("many.html").querySelectorAll("svg[aria-label^=Confusion] rect").length).toBeGreaterThanOrEqual(
    classes,
  );
});
