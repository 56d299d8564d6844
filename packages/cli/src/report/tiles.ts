/** Pictures side by side as one drawing, for files of their own: the filters of a class, or a row and its strongest filters. */

import type { Picture } from "../pictures/picture.ts";
import { pngAddress } from "../pictures/png.ts";
import { cut, displayWidth } from "../terminal/style.ts";
import type { Drawing } from "./charts.ts";
import type { ClassFilters, Look, RowView } from "./content.ts";
import { element, place, svgText } from "./markup.ts";

interface Tile {
  readonly picture: Picture;
  readonly above?: string;
  readonly below?: string;
  readonly tone?: string;
}

const SIZE = 96;
const GAP = 14;
const PER_LINE = 10;
/** Letters of a caption that fit, and the width of one. */
const LETTERS = 13;
const LETTER = 7;

/** The filters of one class; undefined where they are no pictures. */
export function filterTiles({ label, shown }: ClassFilters): Drawing | undefined {
  const tiles = shown.flatMap(({ look }) => tileOf(look));
  return tiles.length === 0 ? undefined : tileDrawing(tiles, label ?? "filters");
}

/** The filters of all classes, a line for each; undefined where they are no pictures. */
export function galleryTiles(groups: readonly ClassFilters[]): Drawing | undefined {
  const lines = groups.map((group) => ({ ...group, drawing: filterTiles(group) })).filter(({ drawing }) => drawing);
  if (lines.length < 2) return undefined;
  const left = GAP + Math.max(...lines.map(({ label }) => displayWidth(cut(label ?? "", LETTERS)))) * LETTER;
  let height = 0;
  let width = 0;
  const parts = lines.map(({ label, drawing }) => {
    const { body, ...size } = drawing as Drawing;
    const name = svgText(GAP, SIZE / 2 + GAP + 5, cut(label ?? "", LETTERS), { class: "ink", "font-weight": "600" });
    const line = element(
      "g",
      { transform: `translate(0 ${place(height)})` },
      name + element("g", { transform: `translate(${place(left)} 0)` }, body),
    );
    height += size.height - GAP;
    width = Math.max(width, size.width);
    return line;
  });
  return {
    width: left + width,
    height: height + GAP,
    body: parts.join(""),
    about: `filters of ${lines.length} classes`,
  };
}

/** A row, then its strongest filters with their activations; undefined where they are no pictures. */
export function rowTiles({ row, look, truth, strongest }: RowView): Drawing | undefined {
  const given = tileOf(look, { below: truth ?? `row ${row}` });
  const filters = strongest.flatMap(({ look, similarity, label, filter, fits }) =>
    tileOf(look, {
      above: similarity.toFixed(2),
      below: label ?? `filter ${filter}`,
      tone: fits === false ? "warm" : "soft",
    }),
  );
  return given.length === 0 ? undefined : tileDrawing([...given, ...filters], `row ${row}`);
}

function tileOf(look: Look, captions: Omit<Tile, "picture"> = {}): Tile[] {
  return look.form === "picture" ? [{ picture: look.picture, ...captions }] : [];
}

function tileDrawing(tiles: readonly Tile[], about: string): Drawing {
  const above = tiles.some((tile) => tile.above !== undefined) ? 18 : 0;
  const below = tiles.some((tile) => tile.below !== undefined) ? 20 : 0;
  const step = SIZE + GAP;
  const lineHeight = above + SIZE + below + GAP;
  const parts = tiles.map((tile, j) => {
    const x = GAP + (j % PER_LINE) * step;
    const y = GAP + Math.floor(j / PER_LINE) * lineHeight;
    const scale = SIZE / Math.max(tile.picture.width, tile.picture.height);
    const width = tile.picture.width * scale;
    const height = tile.picture.height * scale;
    const image = element("image", {
      x: x + (SIZE - width) / 2,
      y: y + above + (SIZE - height) / 2,
      width,
      height,
      href: pngAddress(tile.picture),
      style: "image-rendering:optimizeSpeed",
    });
    const middle = { "text-anchor": "middle" };
    const top =
      tile.above === undefined ? "" : svgText(x + SIZE / 2, y + 12, tile.above, { class: "green", ...middle });
    const name = cut(tile.below ?? "", LETTERS);
    const bottom = svgText(x + SIZE / 2, y + above + SIZE + 15, name, { class: tile.tone ?? "ink", ...middle });
    return image + top + (name === "" ? "" : bottom);
  });
  const columns = Math.min(PER_LINE, tiles.length);
  const lines = Math.ceil(tiles.length / PER_LINE);
  const width = GAP + columns * step;
  const height = GAP + lines * lineHeight;
  return { width, height, body: parts.join(""), about: `${about}: ${place(tiles.length)} pictures` };
}
