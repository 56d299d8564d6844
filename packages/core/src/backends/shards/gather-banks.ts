/** Filters that several processes made, as one bank in each of them. */

import { joinBanks } from "../../bank/bank.ts";
import type { DenseBank, FilterBank, Weights } from "../../kernels/shapes.ts";
import type { HeldBank, HeldRows } from "../contract.ts";
import type { Collective } from "./collective.ts";
import { joined, packArrays, packBank, unpackArrays, unpackBank } from "./wire.ts";

const DENSE = 1;

/** The filters of all processes, in the order of their numbers; `rows` take them in. One that made none has none. All are dense, or all sparse. */
export async function gatherBanks(
  collective: Collective,
  mine: FilterBank | undefined,
  rows: HeldRows,
): Promise<HeldBank> {
  const dense = mine?.form === "dense" ? mine : undefined;
  const head = mine && (dense ? headOf(dense) : packBank(mine));
  const heads = await collective.gather(packArrays([Uint8Array.of(dense ? DENSE : 0), head ?? new Uint8Array(0)]));
  const parts = heads.map(unpackArrays).filter(([, part]) => part.byteLength > 0);
  if (parts[0][0][0] !== DENSE) return rows.load(joinBanks(parts.map(([, part]) => unpackBank(part as Uint8Array))));
  const facts = parts.map(([, part]) => unpackArrays(part as Uint8Array));
  const [[features], , none] = facts[0];
  const Type = none.constructor as new (buffer: ArrayBuffer, at: number, length: number) => Weights;
  const norm = joined(
    Float64Array,
    facts.map(([, own]) => own),
  );
  // Weights are sent as they lie in memory, and lie there as they arrive: they are most of what there is.
  const count = norm.length * features;
  const room = rows.roomFor?.(none as Weights, count);
  const { buffer, byteOffset } = inARow(await collective.gather(bytesIn(dense?.weights), room && bytesIn(room)));
  const isGiven = room !== undefined && buffer === room.buffer;
  const weights = new Type(buffer as ArrayBuffer, byteOffset, count);
  return rows.load({ form: "dense", filters: norm.length, features, weights, norm }, isGiven);
}

function bytesIn(weights: Weights | undefined): Uint8Array {
  return weights ? new Uint8Array(weights.buffer, weights.byteOffset, weights.byteLength) : new Uint8Array(0);
}

/** All but the weights, of which the type is told. */
function headOf({ features, norm, weights }: DenseBank): Uint8Array {
  return packArrays([Uint32Array.of(features), norm, weights.subarray(0, 0)]);
}

/** Parts one after the other: as they are where they lie so already, and begin where numbers may. */
export function inARow(parts: readonly Uint8Array[]): Uint8Array {
  const [{ buffer, byteOffset }] = parts;
  let end = byteOffset;
  let isOne = byteOffset % 8 === 0;
  for (const part of parts) {
    isOne &&= part.buffer === buffer && part.byteOffset === end;
    end += part.byteLength;
  }
  return isOne ? new Uint8Array(buffer, byteOffset, end - byteOffset) : joined(Uint8Array, parts);
}
