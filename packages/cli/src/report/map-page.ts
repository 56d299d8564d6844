/** A map of rows, on the page of `ranksim map` and in reports: dots in a plane. What they are coloured by is chosen without a script, by style alone. */

import type { Dot } from "./content.ts";
import { htmlPage, section } from "./frame.ts";
import { element, escaped } from "./markup.ts";

const [WIDTH, HEIGHT, RIM] = [960, 720, 14];
/** Steps of doubt that have colours of their own. */
const STEPS = 5;

/** The page. */
export function mapPage(title: string, subtitle: string, dots: readonly Dot[]): string {
  return htmlPage(title, subtitle, [mapSection("Rows", "", dots)], "Made by ranksim");
}

/** The map as a part of a page. */
export function mapSection(title: string, about: string, dots: readonly Dot[]): string {
  const classes = [...new Set(dots.map(classOf))].sort();
  const modes = [
    ["class", "class"],
    ...(dots.some(({ sureness }) => sureness !== undefined) ? [["doubt", "doubt"]] : []),
    ...(dots.some((dot) => isMistake(dot)) ? [["mistake", "mistakes"]] : []),
  ];
  const choices = modes.map(
    ([mode, name], j) =>
      `<input type="radio" name="colour" id="by-${mode}"${j === 0 ? " checked" : ""}><label for="by-${mode}">${name}</label>`,
  );
  const body = `<div class="map">${choices.join("")}${legend(classes, modes.length)}${picture(dots, classes)}</div>`;
  const how = `${modes.length > 1 ? "Choose what the colours say. " : ""}Point at a dot to see which row it is.`;
  return `<style>${style(classes.length)}</style>${section(title, `${about}${how}`, body)}`;
}

const classOf = ({ label, given }: Dot): string => label ?? given ?? "";

const isMistake = ({ label, given }: Dot): boolean => label !== undefined && given !== undefined && label !== given;

function picture(dots: readonly Dot[], classes: readonly string[]): string {
  const span = (of: (dot: Dot) => number) => {
    const [least, most] = dots.reduce(
      ([low, high], dot) => [Math.min(low, of(dot)), Math.max(high, of(dot))],
      [1e300, -1e300],
    );
    return { middle: (least + most) / 2, range: most - least };
  };
  const [across, down] = [span(({ x }) => x), span(({ y }) => y)];
  const scale = Math.min((WIDTH - 2 * RIM) / (across.range || 1), (HEIGHT - 2 * RIM) / (down.range || 1));
  const radius = dots.length > 1500 ? 2.5 : dots.length > 300 ? 4 : 6;
  const circles = dots.map((dot) => {
    const doubt = Math.min(STEPS - 1, Math.floor((1 - (dot.sureness ?? 1)) * 2 * STEPS));
    const names = `c${classes.indexOf(classOf(dot))} d${doubt}${isMistake(dot) ? " wrong-row" : ""}`;
    const cx = WIDTH / 2 + (dot.x - across.middle) * scale;
    const cy = HEIGHT / 2 - (dot.y - down.middle) * scale;
    return element("circle", { cx, cy, r: radius, class: names }, `<title>${escaped(told(dot))}</title>`);
  });
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Map of ${dots.length} rows">${circles.join("")}</svg>`;
}

/** "row 7 (a.png): 3, taken for 5, 61 % sure". */
function told(dot: Dot): string {
  const { row, name, label, given, sureness } = dot;
  const parts = [
    ...(label === undefined ? [] : [label]),
    ...(given === undefined || (label !== undefined && !isMistake(dot)) ? [] : [`taken for ${given}`]),
    ...(sureness === undefined ? [] : [`${Math.round(100 * sureness)} % sure`]),
  ];
  return `row ${row}${name === undefined ? "" : ` (${name})`}${parts.length === 0 ? "" : `: ${parts.join(", ")}`}`;
}

function legend(classes: readonly string[], modes: number): string {
  const names = classes.map((name, c) => `<span class="key"><i class="c${c}"></i>${escaped(name)}</span>`);
  const doubts = `<span class="key"><i class="d0"></i>sure</span><span class="key"><i class="d${STEPS - 1}"></i>in doubt</span>`;
  const others = modes > 1 ? `<p class="keys of-doubt">${doubts}</p>` : "";
  return `<p class="keys of-class">${classes.length > 1 ? names.join("") : ""}</p>${others}`;
}

function style(classes: number): string {
  const hues = Array.from(
    { length: classes },
    (_, c) =>
      `.c${c}{--hue:${classes === 1 ? "var(--accent)" : `hsl(${Math.round((360 * c) / classes)} ${c % 2 ? 75 : 50}% ${[45, 58, 50][c % 3]}%)`}}`,
  );
  const doubts = Array.from(
    { length: STEPS },
    (_, d) => `.d${d}{--doubt:color-mix(in srgb,var(--warm) ${(100 * d) / (STEPS - 1)}%,var(--accent))}`,
  );
  return `${hues.join("")}${doubts.join("")}
.map circle,.key i{fill:var(--hue);background:var(--hue);fill-opacity:.75}
.map circle:hover{stroke:var(--text);stroke-width:2;fill-opacity:1}
#by-doubt:checked~svg circle,.of-doubt i{fill:var(--doubt);background:var(--doubt)}
#by-mistake:checked~svg circle{fill:var(--muted);fill-opacity:.25}
#by-mistake:checked~svg circle.wrong-row{fill:var(--warm);fill-opacity:1}
.map label{margin:0 1rem 0 .3rem}.map svg{background:var(--surface);border:1px solid var(--border);border-radius:.6rem;margin-top:.5rem;width:100%}
.keys{max-width:none;margin:.5rem 0}.of-doubt,#by-doubt:checked~.of-class,#by-mistake:checked~.of-class{display:none}
#by-doubt:checked~.of-doubt{display:block}
.key{display:inline-block;margin-right:1rem}.key i{display:inline-block;width:.7rem;height:.7rem;border-radius:50%;margin-right:.35rem}`;
}
