/** Filters and rows as pieces of a page: pictures with their activations, or words. */

import type { Word } from "@ranksim/learn";
import type { PatchSheet } from "../model/patch-view.ts";
import { pngAddress } from "../pictures/png.ts";
import { count, counted, percent, score } from "../terminal/numbers.ts";
import type { ClassFilters, ClassWeights, FilterView, Look, NeighbourView, RowView, StrongView } from "./content.ts";
import { breakable, escaped } from "./markup.ts";

/** Sizes of pictures on the page, in pixels of the longer side. */
const FILTER_SIZE = 56;
const STRONG_SIZE = 64;
const ROW_SIZE = 72;
/** Pixels of the page for each of a patch. */
const SHEET_SCALE = 5;

/** The filters of one class. */
export function classFilters({ label, filters, shown, words }: ClassFilters): string {
  const title = label === undefined ? counted(filters, "filter") : label;
  const about =
    label === undefined
      ? `the ${count(shown.length)} that stand for most rows`
      : `${counted(filters, "filter")}${shown.length < filters ? `, ${count(shown.length)} shown` : ""}`;
  const body = shown.some(({ look }) => look.form === "picture")
    ? `<div class="pictures">${shown.map((view) => picture(view.look, FILTER_SIZE, filterTitle(view))).join("")}</div>`
    : `${words.length > 0 ? wordList(words) : ""}<ol class="filters">${shown.map(filterLine).join("")}</ol>`;
  return `<div class="class"><div><h3>${breakable(title)}</h3><div class="small">${about}</div></div><div>${body}</div></div>`;
}

const filterTitle = ({ filter, rows }: FilterView): string => `filter ${filter}, made from ${counted(rows, "row")}`;

function filterLine(view: FilterView): string {
  return `<li><span class="about">${view.filter}</span><span class="about">${counted(view.rows, "row")}</span><span>${inWords(view.look)}</span></li>`;
}

/** What weighs most for a class, and against it. */
export function classWeights({ label, words }: ClassWeights): string {
  return `<div class="class"><div><h3>${breakable(label)}</h3></div><div>${forAndAgainst(words)}</div></div>`;
}

/** A row with its strongest filters. */
export function rowView(view: RowView): string {
  const { row, name, truth, predicted, right, look } = view;
  const head = [`<strong>Row ${count(row)}</strong>`];
  if (name !== undefined) head.push(`<span class="about">${escaped(name)}</span>`);
  if (truth !== undefined) head.push(`<span>${escaped(truth)}</span>`);
  if (predicted !== undefined) {
    const tone = right === undefined ? "" : ` class="${right ? "right" : "wrong"}"`;
    const sure = view.probability === undefined ? "" : ` with ${percent(view.probability, 0)}`;
    head.push(`<span${tone}>given ${escaped(predicted)}${sure}</span>`);
  }
  if (right === false && view.probabilityOfTruth !== undefined) {
    head.push(`<span class="about">${escaped(truth as string)} had ${percent(view.probabilityOfTruth, 0)}</span>`);
  }
  const body =
    look.form === "picture"
      ? view.where
        ? foundWhere(view) + strongest(view.strongest)
        : strip(view)
      : `${look.form === "text" ? `<blockquote>${escaped(look.text)}</blockquote>` : ""}${decided(view)}${strongest(view.strongest)}`;
  return `<div class="row"><div>${head.join(" · ")}</div>${body}${neighbours(view.neighbours ?? [])}</div>`;
}

function strip({ look, strongest, row }: RowView): string {
  const given = `<figure class="given">${picture(look, ROW_SIZE, `row ${row}`)}<figcaption>the row</figcaption></figure>`;
  const filters = strongest.map((view) => {
    const strange = view.fits === false;
    const caption = view.label ?? `filter ${view.filter}`;
    return `<figure><div class="activation">${view.similarity.toFixed(2)}</div>${picture(view.look, STRONG_SIZE, filterTitle(view))}<figcaption${strange ? ' class="wrong"' : ""} title="${escaped(caption)}">${escaped(caption)}</figcaption></figure>`;
  });
  return `<div class="strip">${given}${filters.join("")}</div>`;
}

/** The kept rows most like a row: pictures, or their numbers. */
function neighbours(views: readonly NeighbourView[]): string {
  if (views.length === 0) return "";
  const told = ({ row, label, similarity }: NeighbourView) =>
    `row ${row}${label === undefined ? "" : `: ${label}`}, similarity ${similarity.toFixed(2)}`;
  const shown = views.map((view) =>
    view.look.form === "picture"
      ? `<figure><div class="activation">${view.similarity.toFixed(2)}</div>${picture(view.look, STRONG_SIZE, told(view))}<figcaption>${escaped(view.label ?? `row ${view.row}`)}</figcaption></figure>`
      : `<li>${breakable(told(view))}</li>`,
  );
  const list =
    views[0].look.form === "picture"
      ? `<div class="strip">${shown.join("")}</div>`
      : `<ol class="words">${shown.join("")}</ol>`;
  return `<div class="small about">most like it of the rows kept</div>${list}`;
}

/** The row, and where in it the two strongest classes were found. */
function foundWhere({ look, where = [], row }: RowView): string {
  const given = `<figure class="given">${picture(look, ROW_SIZE, `row ${row}`)}<figcaption>the row</figcaption></figure>`;
  const maps = where.map(({ label, picture: map }) => {
    const about = `where ${label} was found`;
    return `<figure>${picture({ form: "picture", picture: map }, ROW_SIZE, about)}<figcaption title="${escaped(about)}">${escaped(label)}</figcaption></figure>`;
  });
  return `<div class="strip">${given}${maps.join("")}</div>`;
}

/** The patch filters of one size. */
export function patchSheet({ filters, width, height, picture: sheet }: PatchSheet): string {
  const title = `${counted(filters, "filter")} of ${width} × ${height} pixels`;
  return `<figure class="sheet">${picture({ form: "picture", picture: sheet }, SHEET_SCALE * Math.max(sheet.width, sheet.height), title)}<figcaption>${title}</figcaption></figure>`;
}

/** The features that spoke for and against. */
const decided = ({ contributions }: RowView): string =>
  contributions.length === 0 ? "" : forAndAgainst(contributions);

function forAndAgainst(contributions: readonly Word[]): string {
  const side = (words: readonly Word[]) => words.map(({ text }) => escaped(text)).join(", ");
  const spokeFor = contributions.filter(({ weight }) => weight > 0);
  const against = contributions.filter(({ weight }) => weight < 0);
  const lines = [
    spokeFor.length > 0 ? `<span class="right">for it</span> ${side(spokeFor)}` : "",
    against.length > 0 ? `<span class="wrong">against it</span> ${side(against)}` : "",
  ];
  return `<p class="small" style="margin:.4rem 0">${lines.filter((line) => line !== "").join(" · ")}</p>`;
}

function strongest(views: readonly StrongView[]): string {
  if (views.length === 0) return "";
  const hasWords = views.some(({ look }) => look.form === "words" && look.words.length > 0);
  const lines = views.map((view) => {
    const name = breakable(view.label ?? `filter ${view.filter}`);
    const tone = view.fits === false ? ' class="wrong"' : "";
    const words = hasWords ? `<span class="about">${inWords(view.look)}</span>` : "";
    return `<li><span class="activation">${view.similarity.toFixed(2)}</span> <span${tone}>${name}</span>${words}</li>`;
  });
  return hasWords ? `<ol class="filters">${lines.join("")}</ol>` : `<ol class="words">${lines.join("")}</ol>`;
}

function inWords(look: Look): string {
  return look.form === "words" ? look.words.map(({ text }) => escaped(text)).join(", ") : "";
}

/** Words whose size follows their weight, between the text's own and a little more. */
function wordList(words: readonly Word[]): string {
  const most = Math.max(...words.map(({ weight }) => weight));
  const items = words.map(({ text, weight }) => {
    const size = 0.85 + 0.45 * (most > 0 ? Math.max(0, weight / most) : 0);
    return `<li style="font-size:${size.toFixed(2)}rem" title="${escaped(score(weight / (most || 1)))}">${escaped(text)}</li>`;
  });
  return `<ul class="words">${items.join("")}</ul>`;
}

function picture(look: Look, size: number, about: string): string {
  if (look.form !== "picture") return "";
  const { width, height } = look.picture;
  const scale = size / Math.max(width, height);
  const w = Math.round(width * scale);
  const h = Math.round(height * scale);
  return `<img src="${pngAddress(look.picture)}" width="${w}" height="${h}" alt="${escaped(about)}" title="${escaped(about)}">`;
}
