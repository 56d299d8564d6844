import { expect, it } from "vitest";
import { drawUnit, Streams } from "../src/random.ts";

it("gives a stream the same numbers whatever was asked for before", () => {
  const ascending = new Streams(7);
  const first = Array.from({ length: 6 }, (_, j) => drawUnit(ascending.trainingOfClass(j, 3)));
  const descending = new Streams(7);
  const last = Array.from({ length: 6 }, (_, j) => drawUnit(descending.trainingOfClass(5 - j, 3))).reverse();
  expect(last).toEqual(first);
  expect(new Set(first).size).toBe(6);
});

it("keeps the streams of one fit apart: distribution, classes of every bank, held-out rows, refinement", () => {
  const [classes, banks] = [3, 2];
  const streams = new Streams(2 ** 40 + 1);
  const drawn = [
    streams.distribution(),
    ...Array.from({ length: classes * banks }, (_, j) => streams.trainingOfClass(j, classes)),
    streams.heldOut(classes),
    streams.refinement(classes, banks),
  ].map(drawUnit);
  expect(new Set(drawn).size).toBe(drawn.length);
});
