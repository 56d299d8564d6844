/** What all pages are made of: the frame around them, sections, tiles with the main figures, tables of facts. */

import type { Fact, Tile } from "./content.ts";
import { element, escaped } from "./markup.ts";
import { PAGE_STYLE } from "./theme.ts";

/** A page that needs nothing else: no script, no request. Empty sections are left out. */
export function htmlPage(title: string, subtitle: string, sections: readonly string[], footer: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>${escaped(title)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
<header><h1>${escaped(title)}</h1><p class="about">${escaped(subtitle)}</p></header>
${sections.filter((section) => section !== "").join("\n")}
<footer>${escaped(footer)}</footer>
</main>
</body>
</html>
`;
}

/** A part of a page with a title, a word about it and a body that is markup. */
export function section(title: string, about: string, body: string): string {
  return `<section><h2>${escaped(title)}</h2>${about === "" ? "" : `<p class="about">${escaped(about)}</p>`}${body}</section>`;
}

/** The main figures as tiles, and notes under them. */
export function headline({ headline, notes }: { headline: readonly Tile[]; notes: readonly string[] }): string {
  const tiles = headline
    .map(
      ({ name, value, about }) =>
        `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>${about ? `<dd class="small about">${escaped(about)}</dd>` : ""}</div>`,
    )
    .join("");
  const list =
    notes.length === 0
      ? ""
      : `<ul class="notes about">${notes.map((note) => element("li", {}, escaped(note))).join("")}</ul>`;
  return `<dl class="tiles">${tiles}</dl>${list}`;
}

/** Names and values in two columns. */
export function facts(list: readonly Fact[]): string {
  const lines = list.map(([name, value]) => `<tr><th scope="row">${escaped(name)}</th><td>${escaped(value)}</td></tr>`);
  return `<table class="facts"><tbody>${lines.join("")}</tbody></table>`;
}
