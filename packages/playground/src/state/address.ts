/**
 * The view in the address, after the "#": data, recipe, sample and what is open. Training is deterministic, so a link to the
 * digits shows another person the very same model. Data of one's own is named in the link, never carried by it.
 */

import type { Json, ParameterInfo } from "@ranksim/core";
import type { EstimatorName, Recipe } from "../protocol.ts";
import { FIRST_RECIPE, PARAMETERS } from "./recipe.ts";

/** The parts of the page that "look around" can show. */
export type Tab = "filters" | "patches" | "spikes" | "mistakes" | "features";

export const TABS: readonly Tab[] = ["filters", "patches", "spikes", "mistakes", "features"];

/** What an address says. */
export interface Address {
  /** "digits", or the name of what was dropped. */
  readonly data: string;
  /** File beside the page that holds a model, as `ranksim play MODEL` serves it. */
  readonly model?: string;
  readonly recipe: Recipe;
  readonly row?: number;
  /** Values of a drawn sample; only for small pictures of bytes. */
  readonly drawn?: Uint8Array;
  /** The drawing, 0 or 1 a pixel, behind a sample that counts its ink. */
  readonly ink?: Uint8Array;
  readonly tab: Tab;
  readonly cell?: { readonly truth: number; readonly answer: number };
  readonly filter?: number;
}

/** Whether the data is a file beside the page, as `ranksim play MODEL DATA` serves it. */
export const isServedData = (data: string): boolean => /^data-[\w.-]+$/.test(data);

/** Pictures of more pixels are not put in the address. */
export const MOST_DRAWN = 1024;

/** Drawings of more pixels are not put in the address either. */
const MOST_INK = 16_384;

/** Writes an address, without the "#". */
export function writeAddress({ data, model, recipe, row, drawn, ink, tab, cell, filter }: Address): string {
  const out = new URLSearchParams();
  if (model !== undefined) out.set("model", model);
  out.set("data", data);
  out.set("estimator", recipe.estimator);
  out.set("heldOut", String(recipe.heldOut));
  for (const [name, value] of Object.entries(recipe.params)) {
    out.set(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  if (row !== undefined) out.set("row", String(row));
  if (drawn && drawn.length <= MOST_DRAWN) out.set("drawn", toBase64(drawn));
  if (ink && ink.length <= MOST_INK) out.set("ink", toBase64(packed(ink)));
  if (tab !== "filters") out.set("tab", tab);
  if (cell) out.set("cell", `${cell.truth}-${cell.answer}`);
  if (filter !== undefined) out.set("filter", String(filter));
  return out.toString();
}

/** Reads an address; whatever it does not say, or says in a way that makes no sense, is as at first. */
export function readAddress(hash: string): Address {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const number = (name: string) => {
    const text = given.get(name);
    return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  };
  const row = number("row");
  const filter = number("filter");
  const cell = /^(\d{1,6})-(\d{1,6})$/.exec(given.get("cell") ?? "");
  const tab = given.get("tab") as Tab;
  const drawn = fromBase64(given.get("drawn") ?? "");
  const ink = unpacked(fromBase64(given.get("ink") ?? ""));
  const model = given.get("model");
  return {
    data: given.get("data") ?? "digits",
    recipe: readRecipe(given),
    tab: TABS.includes(tab) ? tab : "filters",
    // A name of a file beside the page, never an address elsewhere.
    ...(model && /^[\w.-]+$/.test(model) ? { model } : {}),
    ...(row === undefined ? {} : { row }),
    ...(drawn.length > 0 && drawn.length <= MOST_DRAWN ? { drawn } : {}),
    ...(ink.length > 0 && ink.length <= MOST_INK ? { ink } : {}),
    ...(cell ? { cell: { truth: Number(cell[1]), answer: Number(cell[2]) } } : {}),
    ...(filter === undefined ? {} : { filter }),
  };
}

/** The part of an address that makes it another place: all but the sample. Back goes from place to place. */
export function placeOf(hash: string): string {
  const { row: _row, drawn: _drawn, ink: _ink, ...place } = readAddress(hash);
  return writeAddress(place);
}

/** Eight pixels of ink a byte, and back; drawings have a multiple of eight pixels. */
function packed(ink: Uint8Array): Uint8Array {
  return Uint8Array.from({ length: Math.ceil(ink.length / 8) }, (_, j) =>
    ink.subarray(8 * j, 8 * j + 8).reduce((byte, pixel, bit) => byte | ((pixel > 0 ? 1 : 0) << bit), 0),
  );
}

const unpacked = (bytes: Uint8Array): Uint8Array =>
  Uint8Array.from({ length: 8 * bytes.length }, (_, j) => (bytes[j >> 3] >> (j & 7)) & 1);

function readRecipe(given: URLSearchParams): Recipe {
  const estimator = given.get("estimator") as EstimatorName;
  if (!Object.hasOwn(PARAMETERS, estimator)) return FIRST_RECIPE;
  const share = Number(given.get("heldOut") ?? FIRST_RECIPE.heldOut);
  const params: Record<string, Json> = {};
  for (const info of PARAMETERS[estimator]) {
    const text = given.get(info.name);
    const value = text === null ? undefined : readValue(info, text);
    if (value !== undefined) params[info.name] = value;
  }
  return { estimator, heldOut: share >= 0 && share < 1 ? share : FIRST_RECIPE.heldOut, params };
}

/** A parameter's value from text; undefined where it is none. The estimator has the last word on its range. */
function readValue(info: ParameterInfo, text: string): Json | undefined {
  if (info.choices?.includes(text) || (info.form.endsWith("-or-auto") && text === "auto")) return text;
  try {
    const value = JSON.parse(text) as Json;
    if (info.form === "flag") return typeof value === "boolean" ? value : undefined;
    if (info.form === "special") return typeof value === "object" ? value : undefined;
    return typeof value === "number" ? value : undefined;
  } catch {
    return undefined;
  }
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}

function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) =>
      character.charCodeAt(0),
    );
  } catch {
    return new Uint8Array(0);
  }
}
