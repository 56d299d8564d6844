/** Models as files of the file system: read whole, written whole or not at all. */

import { basename, resolve } from "node:path";
import { type Model, RanksimError, type SaveOptions, saveModel, statedDigest } from "@ranksim/core";
import { Budget } from "@ranksim/data";
import { readWhole, replaceWhole } from "@ranksim/data/node";
import { pieces, writeTo } from "../files/output.ts";
import { usageError } from "../flags/usage-error.ts";
import type { Io } from "../io.ts";
import { type OpenedModel, openModel } from "../load-model.ts";

/** A model and the file it is in. */
export interface StoredModel extends OpenedModel {
  /** The file's name without its folder. */
  readonly name: string;
  readonly byteLength: number;
  readonly digest: string;
}

/** Reads a model file; "-" is standard input. `data` are the names beside it on the command line: were the two swapped, it says so. */
export async function readModel(path: string, io: Io, data: readonly string[] = []): Promise<StoredModel> {
  const bytes = await modelBytes(path, io);
  try {
    return {
      ...(await openModel(bytes)),
      name: path === "-" ? "model" : basename(path),
      byteLength: bytes.length,
      digest: statedDigest(bytes),
    };
  } catch (error) {
    if (!(error instanceof RanksimError)) throw error;
    if (data.length === 1 && (await isModel(data[0], io))) {
      throw usageError(
        `${path} is not a model, but ${data[0]} is: expected the model first, then the data; swap the two`,
      );
    }
    throw new RanksimError(error.code, `${path === "-" ? "standard input" : path}: ${error.message}`, { cause: error });
  }
}

/** Whether a name is that of a model file. */
async function isModel(path: string, io: Io): Promise<boolean> {
  if (path === "-") return false;
  try {
    await openModel(await modelBytes(path, io));
    return true;
  } catch {
    return false;
  }
}

/** Writes a model file; "-" is standard output. */
export async function writeModel(model: Model, path: string, io: Io, options: SaveOptions = {}): Promise<StoredModel> {
  const bytes = saveModel(model, options);
  await writeTo(path, pieces(bytes), io);
  return { model, name: basename(path), byteLength: bytes.length, digest: statedDigest(bytes) };
}

/** Writes a model over the one it was made of; refused where the file is no longer the one that was read. */
export async function replaceModel(model: Model, read: StoredModel, path: string, io: Io): Promise<StoredModel> {
  const bytes = saveModel(model);
  await writeTo(path, pieces(bytes), io, (target, chunks) =>
    replaceWhole(target, chunks, (present) => statedDigest(present) === read.digest),
  );
  return { model, name: basename(path), byteLength: bytes.length, digest: statedDigest(bytes) };
}

/** The bytes of a model file, unchecked. Devices and files that do not fit in memory are refused. */
export async function modelBytes(path: string, io: Io): Promise<Uint8Array> {
  if (path !== "-") return readWhole(resolve(io.cwd, path));
  const account = new Budget().of("standard input");
  const chunks: Uint8Array[] = [];
  for await (const chunk of io.stdin) {
    account.take(2 * chunk.byteLength);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
