/**
 * The colours and the type of the report, in one place. The page takes colours as CSS variables, light or dark by the
 * reader's setting; single pictures, drawn without a browser, have the light ones written in. The playground has the same
 * colours (packages/playground/src/styles/theme.css); a test compares them.
 */

/** Colours by what they mean. */
export interface Palette {
  readonly paper: string;
  readonly surface: string;
  readonly ink: string;
  readonly soft: string;
  readonly line: string;
  readonly accent: string;
  readonly onAccent: string;
  readonly warm: string;
  readonly onWarm: string;
  readonly green: string;
}

export const LIGHT: Palette = {
  paper: "#f5f6f7",
  surface: "#ffffff",
  ink: "#1b2026",
  soft: "#59616b",
  line: "#dcdfe3",
  accent: "#0c6670",
  onAccent: "#ffffff",
  warm: "#a84800",
  onWarm: "#ffffff",
  green: "#0c6670",
};

export const DARK: Palette = {
  paper: "#121518",
  surface: "#1a1e22",
  ink: "#e6e9ec",
  soft: "#a3acb5",
  line: "#30363d",
  accent: "#5fc3cc",
  onAccent: "#0d1f22",
  warm: "#f6a163",
  onWarm: "#1a0f08",
  green: "#5fc3cc",
};

const variables = (palette: Palette): string =>
  Object.entries(palette)
    .map(([name, value]) => `--${name}:${value}`)
    .join(";");

/** Rules for the drawings, shared by page and single pictures. */
const DRAWING = `
.ink{fill:var(--ink)}.soft{fill:var(--soft)}.accent{fill:var(--accent)}.warm{fill:var(--warm)}.green{fill:var(--green)}
.on-accent{fill:var(--onAccent)}.on-warm{fill:var(--onWarm)}.surface{fill:var(--surface)}
.rule{stroke:var(--line);stroke-width:1;fill:none}.frame{stroke:var(--line);stroke-width:1;fill:var(--surface)}
.curve{stroke:var(--soft);stroke-width:1;fill:none;opacity:.45}.curve-all{stroke:var(--accent);stroke-width:2.25;fill:none}
.ideal{stroke:var(--soft);stroke-width:1;stroke-dasharray:4 4;fill:none}.hollow{fill:var(--surface);stroke:var(--warm);stroke-width:1.5}
.bar-before{fill:var(--warm);fill-opacity:.35}.bar-after{fill:var(--accent);fill-opacity:.55}.bar{fill:var(--accent)}.ring{fill:none;stroke:var(--green);stroke-width:2}
text{font-family:var(--type);font-size:11px}
`;

const TYPE =
  'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif';

/** The style sheet inside a single picture: colours and typeface written out. */
export function pictureStyle(palette: Palette = LIGHT): string {
  return DRAWING.replace(/var\(--(\w+)\)/g, (_, name: string) =>
    name === "type" ? "'DejaVu Sans','Liberation Sans',Arial,sans-serif" : palette[name as keyof Palette],
  );
}

/** The style sheet of the page. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--type:${TYPE};${variables(LIGHT)}}
@media (prefers-color-scheme:dark){:root{${variables(DARK)}}img{filter:invert(.93)}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 var(--type)}
main{max-width:62rem;margin:0 auto;padding:3rem 1.25rem 4rem}
header{margin-bottom:2rem}
h1{font-size:1.9rem;line-height:1.2;font-weight:650;letter-spacing:-.015em;margin:0 0 .3rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;font-weight:650;letter-spacing:-.005em;margin:0 0 .25rem}
h3{font-size:1rem;font-weight:600;margin:0}
p{margin:.25rem 0 1rem;max-width:44rem}
.about,.small{color:var(--soft)}.small{font-size:.85rem}
section{margin-top:2.75rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.75rem;margin:0}
.tiles div{background:var(--surface);border:1px solid var(--line);border-radius:.6rem;padding:.8rem 1rem}
.tiles dt{color:var(--soft);font-size:.85rem}
.tiles dd{margin:0;font-size:1.55rem;font-weight:600;line-height:1.3;font-variant-numeric:tabular-nums;white-space:nowrap}
.tiles dd.small{font-size:.8rem;font-weight:400;white-space:normal}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.92rem}
th,td{text-align:right;padding:.32rem .6rem;border-bottom:1px solid var(--line);vertical-align:middle}
th{font-weight:600;color:var(--soft);font-size:.82rem}
th:first-child,td:first-child{text-align:left;padding-left:0}
tbody th{color:var(--ink);font-size:.92rem;font-weight:500;overflow-wrap:anywhere}
tr:last-child>*{border-bottom:0}
tfoot td,tfoot th{border-bottom:0}tfoot tr:first-child>*{border-top:1px solid var(--soft)}
td.meter{width:7rem;padding-left:0}
.meter span{display:block;height:.5rem;background:var(--line);border-radius:.25rem;overflow:hidden}
.meter i{display:block;height:100%;background:var(--accent)}
.facts td{text-align:left;overflow-wrap:anywhere}.facts th{text-align:left;width:13rem;font-weight:400;color:var(--soft)}
.params{display:grid;grid-template-columns:repeat(auto-fill,minmax(14rem,1fr));gap:0 2rem;margin:0;font-size:.92rem}
.params div{display:flex;justify-content:space-between;gap:1rem;padding:.32rem 0;border-bottom:1px solid var(--line)}
.params dt{color:var(--soft)}.params dd{margin:0;text-align:right;overflow-wrap:anywhere}
.scroll{overflow-x:auto}
.candidates tbody>tr>:not(:last-child){white-space:nowrap}
svg{display:block;max-width:100%;height:auto}
.scroll svg{max-width:none}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(18rem,1fr));gap:1.5rem}
.class{display:grid;grid-template-columns:11rem 1fr;gap:.5rem 1.25rem;padding:.7rem 0;border-top:1px solid var(--line)}
.class:last-child{border-bottom:1px solid var(--line)}
.class h3{overflow-wrap:anywhere}
.class,.row,.chart{break-inside:avoid}
.pictures{display:flex;flex-wrap:wrap;gap:.4rem}
img{display:block;image-rendering:pixelated;border-radius:3px;background:#fff;outline:1px solid var(--line)}
.row{border-top:1px solid var(--line);padding:1rem 0}
.strip{display:flex;flex-wrap:wrap;gap:.6rem .75rem;margin-top:.6rem;align-items:flex-end}
figure{margin:0;text-align:center;font-size:.78rem;line-height:1.35;max-width:5.2rem}
figure.given{margin-right:.75rem}figure.sheet{max-width:none;text-align:left;margin-bottom:1rem}figure.sheet img{max-width:100%;height:auto;margin-left:0}
figure img{margin:.1rem auto .15rem}
figcaption{color:var(--soft);overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.activation{color:var(--green);font-weight:600;font-variant-numeric:tabular-nums}
.wrong{color:var(--warm)}.right{color:var(--green)}
blockquote{margin:.5rem 0;padding:.1rem 0 .1rem .9rem;border-left:3px solid var(--line);color:var(--soft);overflow-wrap:anywhere;font-size:.9rem;max-width:48rem}
.words{margin:.3rem 0 0;padding:0;list-style:none;display:flex;flex-wrap:wrap;gap:.15rem .7rem;overflow-wrap:anywhere}
ol.filters{margin:.4rem 0 0;padding:0;list-style:none}
ol.filters li{display:grid;grid-template-columns:3.2rem 11rem 1fr;gap:.75rem;font-size:.9rem;padding:.12rem 0;overflow-wrap:anywhere}
.class ol.filters li{grid-template-columns:3.2rem 5rem 1fr}
.notes{padding-left:1.1rem}
footer{margin-top:3rem;color:var(--soft);font-size:.85rem;border-top:1px solid var(--line);padding-top:1rem;overflow-wrap:anywhere}
@media (max-width:36rem){main{padding-top:1.5rem}td.meter{display:none}figure.given{flex-basis:100%;max-width:none;text-align:left}figure.given img{margin-left:0}.class{grid-template-columns:1fr}ol.filters li{grid-template-columns:3.2rem 1fr}ol.filters li>:last-child{grid-column:1/-1;padding-bottom:.4rem}th,td{padding:.3rem .35rem}.facts th{width:8rem}}
@media print{:root{${variables({ ...LIGHT, paper: "#ffffff" })}}img{filter:none}body{font-size:10.5pt}main{max-width:none;padding:0}section{margin-top:1.6rem}h2{break-after:avoid}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
${DRAWING}`;
