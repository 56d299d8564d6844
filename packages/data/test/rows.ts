/** Short ways to say what a test gives a reader and what it expects back. */

import { RanksimError, toDense } from "@ranksim/core";
import { expect } from "vitest";
import { bytesSource, type DataSet, type MatrixData, type ReadDataOptions, readData } from "../src/index.ts";

/** Reads text or bytes as a file of that name. */
export function read(name: string, content: string | Uint8Array, options: ReadDataOptions = {}): Promise<DataSet> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return readData(bytesSource(bytes, name), options);
}

/** Reads what must be a matrix. */
export async function readMatrix(
  name: string,
  content: string | Uint8Array,
  options: ReadDataOptions = {},
): Promise<MatrixData> {
  const data = await read(name, content, options);
  if (data.form !== "matrix") throw new Error("expected a matrix");
  return data;
}

/** The rows of a matrix as plain lists. */
export function rowsOf({ x }: MatrixData): number[][] {
  const { rows, features, values } = toDense(x);
  return Array.from({ length: rows }, (_, r) => Array.from(values.subarray(r * features, (r + 1) * features)));
}

/** Expects a refusal with this code whose message has all the parts. */
export async function expectRefusal(work: Promise<unknown>, code: string, ...parts: string[]): Promise<void> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(RanksimError);
  expect((error as RanksimError).code).toBe(code);
  for (const part of parts) expect((error as RanksimError).message).toContain(part);
}

/** The parts of a file in one array. */
export function joined(chunks: Iterable<Uint8Array>): Uint8Array {
  return new Uint8Array(Buffer.concat([...chunks]));
}
