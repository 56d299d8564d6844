/**
 * The style of reports. The page takes colours as CSS variables, light or dark by the reader's setting; a drawing in a file
 * of its own has the light ones written in.
 */

import { COLOURS, type Colour } from "./colours.ts";

const variables = (scheme: keyof Colour): string =>
  Object.entries(COLOURS)
    .map(([name, colour]) => `--${name}:${colour[scheme]}`)
    .join(";");

/** Rules for the drawings, shared by the page and drawings in files of their own. */
const DRAWING = `
.ink{fill:var(--text)}.soft{fill:var(--muted)}.accent{fill:var(--accent)}.warm{fill:var(--warm)}.green{fill:var(--accent)}
.on-accent{fill:var(--on-accent)}.on-warm{fill:var(--on-warm)}.surface{fill:var(--surface)}
.rule{stroke:var(--border);stroke-width:1;fill:none}.frame{stroke:var(--border);stroke-width:1;fill:var(--surface)}
.curve{stroke:var(--muted);stroke-width:1;fill:none;opacity:.45}.curve-all{stroke:var(--accent);stroke-width:2.25;fill:none}
.ideal{stroke:var(--muted);stroke-width:1;stroke-dasharray:4 4;fill:none}.hollow{fill:var(--surface);stroke:var(--warm);stroke-width:1.5}
.bar-before{fill:var(--warm);fill-opacity:.35}.bar-after{fill:var(--accent);fill-opacity:.55}.bar{fill:var(--accent)}.ring{fill:none;stroke:var(--accent);stroke-width:2}
text{font-family:var(--type);font-size:11px}
`;

const TYPE =
  'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif';

/** The style sheet inside a drawing in a file of its own: colours and typeface written out. */
export function pictureStyle(): string {
  return DRAWING.replace(/var\(--([\w-]+)\)/g, (_, name: string) =>
    name === "type" ? "'DejaVu Sans','Liberation Sans',Arial,sans-serif" : COLOURS[name as keyof typeof COLOURS].light,
  );
}

/** The style sheet of the page. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--type:${TYPE};${variables("light")}}
@media (prefers-color-scheme:dark){:root{${variables("dark")}}img{filter:invert(.93)}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--background);color:var(--text);font:16px/1.55 var(--type)}
main{max-width:62rem;margin:0 auto;padding:3rem 1.25rem 4rem}
header{margin-bottom:2rem}
h1{font-size:1.9rem;line-height:1.2;font-weight:650;letter-spacing:-.015em;margin:0 0 .3rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;font-weight:650;letter-spacing:-.005em;margin:0 0 .25rem}
h3{font-size:1rem;font-weight:600;margin:0}
p{margin:.25rem 0 1rem;max-width:44rem}
.about,.small{color:var(--muted)}.small{font-size:.85rem}
section{margin-top:2.75rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.75rem;margin:0}
.tiles div{background:var(--surface);border:1px solid var(--border);border-radius:.6rem;padding:.8rem 1rem}
.tiles dt{color:var(--muted);font-size:.85rem}
.tiles dd{margin:0;font-size:1.55rem;font-weight:600;line-height:1.3;font-variant-numeric:tabular-nums;white-space:nowrap}
.tiles dd.small{font-size:.8rem;font-weight:400;white-space:normal}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.92rem}
th,td{text-align:right;padding:.32rem .6rem;border-bottom:1px solid var(--border);vertical-align:middle}
th{font-weight:600;color:var(--muted);font-size:.82rem}
th:first-child,td:first-child{text-align:left;padding-left:0}
tbody th{color:var(--text);font-size:.92rem;font-weight:500;overflow-wrap:anywhere}
tr:last-child>*{border-bottom:0}
tfoot td,tfoot th{border-bottom:0}tfoot tr:first-child>*{border-top:1px solid var(--muted)}
td.meter{width:7rem;padding-left:0}
.meter span{display:block;height:.5rem;background:var(--border);border-radius:.25rem;overflow:hidden}
.meter i{display:block;height:100%;background:var(--accent)}
.facts td{text-align:left;overflow-wrap:anywhere}.facts th{text-align:left;width:13rem;font-weight:400;color:var(--muted)}
.params{display:grid;grid-template-columns:repeat(auto-fill,minmax(14rem,1fr));gap:0 2rem;margin:0;font-size:.92rem}
.params div{display:flex;justify-content:space-between;gap:1rem;padding:.32rem 0;border-bottom:1px solid var(--border)}
.params dt{color:var(--muted)}.params dd{margin:0;text-align:right;overflow-wrap:anywhere}
.scroll{overflow-x:auto}
.candidates tbody>tr>:not(:last-child){white-space:nowrap}
svg{display:block;max-width:100%;height:auto}
.scroll svg{max-width:none}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(18rem,1fr));gap:1.5rem}
.class{display:grid;grid-template-columns:11rem 1fr;gap:.5rem 1.25rem;padding:.7rem 0;border-top:1px solid var(--border)}
.class:last-child{border-bottom:1px solid var(--border)}
.class h3{overflow-wrap:anywhere}
.class,.row,.chart{break-inside:avoid}
.pictures{display:flex;flex-wrap:wrap;gap:.4rem}
img{display:block;image-rendering:pixelated;border-radius:3px;background:#fff;outline:1px solid var(--border)}
.row{border-top:1px solid var(--border);padding:1rem 0}
.strip{display:flex;flex-wrap:wrap;gap:.6rem .75rem;margin-top:.6rem;align-items:flex-end}
figure{margin:0;text-align:center;font-size:.78rem;line-height:1.35;max-width:5.2rem}
figure.given{margin-right:.75rem}figure.sheet{max-width:none;text-align:left;margin-bottom:1rem}figure.sheet img{max-width:100%;height:auto;margin-left:0}
figure img{margin:.1rem auto .15rem}
figcaption{color:var(--muted);overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.activation{color:var(--accent);font-weight:600;font-variant-numeric:tabular-nums}
.wrong{color:var(--warm)}.right{color:var(--accent)}
blockquote{margin:.5rem 0;padding:.1rem 0 .1rem .9rem;border-left:3px solid var(--border);color:var(--muted);overflow-wrap:anywhere;font-size:.9rem;max-width:48rem}
.words{margin:.3rem 0 0;padding:0;list-style:none;display:flex;flex-wrap:wrap;gap:.15rem .7rem;overflow-wrap:anywhere}
ol.filters{margin:.4rem 0 0;padding:0;list-style:none}
ol.filters li{display:grid;grid-template-columns:3.2rem 11rem 1fr;gap:.75rem;font-size:.9rem;padding:.12rem 0;overflow-wrap:anywhere}
.class ol.filters li{grid-template-columns:3.2rem 5rem 1fr}
.notes{padding-left:1.1rem}
footer{margin-top:3rem;color:var(--muted);font-size:.85rem;border-top:1px solid var(--border);padding-top:1rem;overflow-wrap:anywhere}
@media (max-width:36rem){main{padding-top:1.5rem}td.meter{display:none}figure.given{flex-basis:100%;max-width:none;text-align:left}figure.given img{margin-left:0}.class{grid-template-columns:1fr}ol.filters li{grid-template-columns:3.2rem 1fr}ol.filters li>:last-child{grid-column:1/-1;padding-bottom:.4rem}th,td{padding:.3rem .35rem}.facts th{width:8rem}}
@media print{:root{${variables("light")};--background:#ffffff}img{filter:none}body{font-size:10.5pt}main{max-width:none;padding:0}section{margin-top:1.6rem}h2{break-after:avoid}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
${DRAWING}`;
