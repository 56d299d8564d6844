/**
 * Results on disk: one JSON file for each table or figure, rewritten whole after every point (to another name, then renamed), so
 * that a run may be stopped at any moment and goes on where it was. A point that another figure has measured is taken over.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MachineFacts, PythonFacts } from "../bench/results.ts";
import type { SourceFacts } from "./data.ts";
import { type Experiment, idOf } from "./experiment.ts";
import { keyOf, type Point, type PointResult } from "./spec.ts";

interface ResultFile {
  readonly format: 1;
  readonly panels: readonly string[];
  readonly title: string;
  readonly points: readonly PointResult[];
}

/** The machine and the data of the last session. */
export interface SessionFacts {
  readonly date: string;
  readonly machine: MachineFacts;
  readonly python?: PythonFacts;
  /** Data sets by name: which one it is, or why there is none. */
  readonly data: { readonly [name: string]: SourceFacts | string };
}

const SESSION = "session.json";

/** Results of a folder. */
export class Store {
  readonly #folder: string;
  readonly #points = new Map<string, PointResult>();

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder)) {
      if (!name.endsWith(".json") || name === SESSION || name.endsWith(".numbers.json")) continue;
      const file = JSON.parse(readFileSync(join(folder, name), "utf8")) as ResultFile;
      for (const point of file.points) this.#points.set(keyOf(point.spec), point);
    }
  }

  /** The result of a point, if it is there. */
  find(point: Point): PointResult | undefined {
    return this.#points.get(keyOf(point.spec));
  }

  /** Keeps a result. */
  put(result: PointResult): void {
    this.#points.set(keyOf(result.spec), result);
  }

  /** Writes the file of an experiment: its points as planned, those that are there. */
  write(experiment: Experiment, points: readonly Point[]): void {
    const found = points.flatMap((point) => {
      const result = this.find(point);
      return result ? [{ ...result, name: point.name }] : [];
    });
    if (found.length === 0) return;
    const { panels, title } = experiment;
    const file: ResultFile = { format: 1, panels, title, points: found };
    this.writeFile(`${idOf(experiment)}.json`, pointByLine(file));
  }

  /** Numbers that were computed, not measured. */
  writeNumbers(experiment: Experiment, numbers: unknown): void {
    this.writeFile(`${idOf(experiment)}.numbers.json`, asJson(numbers));
  }

  /** Facts of earlier sessions, if there were any. */
  readSession(): SessionFacts | undefined {
    const path = join(this.#folder, SESSION);
    return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as SessionFacts) : undefined;
  }

  writeSession(facts: SessionFacts): void {
    this.writeFile(SESSION, asJson(facts));
  }

  /** Writes a file whole or not at all. */
  writeFile(name: string, text: string): void {
    const path = join(this.#folder, name);
    writeFileSync(`${path}.tmp`, text);
    renameSync(`${path}.tmp`, path);
  }
}

/** One line for each point keeps files readable and their changes small. */
function pointByLine({ points, ...head }: ResultFile): string {
  const lines = points.map((point) => JSON.stringify(point, roundFigure));
  return `${JSON.stringify(head).slice(0, -1)},"points":[\n${lines.join(",\n")}\n]}\n`;
}

function asJson(value: unknown): string {
  const text = JSON.stringify(value, roundFigure, 1);
  // Lists of numbers on one line each.
  return `${text.replace(/\[\n\s+([^[\]{}]*?)\n\s+\]/g, (_all, inner: string) => `[${inner.replace(/\n\s+/g, " ")}]`)}\n`;
}

/** Six digits are more than any clock here can tell. */
function roundFigure(_key: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;
}
