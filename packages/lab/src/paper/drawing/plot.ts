/** A finished drawing, and the sheet that puts panels side by side under one legend. SVG as text; nothing here reads results. */

/** A drawing as a file. */
export interface Plot {
  /** File name, with ending. */
  readonly name: string;
  readonly svg: string;
  /** What it shows, for readers who do not see it. */
  readonly alt: string;
}

/** A part of a sheet: SVG of known size. */
export interface Panel {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

/** Signs of points as paths about 0, of size 1. */
const SIGNS = {
  circle: "M1 0A1 1 0 1 1-1 0A1 1 0 1 1 1 0Z",
  square: "M-.9-.9H.9V.9H-.9Z",
  triangle: "M0-1.2 1.15.9H-1.15Z",
  diamond: "M0-1.3 1.1 0 0 1.3-1.1 0Z",
  cross: "M-.4-1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4Z",
  star: "M0-1.45.35-.49 1.38-.45.57.19.85 1.17 0 .6-.85 1.17-.57.19-1.38-.45-.35-.49Z",
};
export type Sign = keyof typeof SIGNS;

/** An entry of a legend. */
export interface LegendEntry {
  readonly name: string;
  readonly color: string;
  readonly sign?: Sign;
  /** Dashes of the line, as SVG has them; no line where "none". */
  readonly dash?: string;
}

/** Okabe and Ito's colours: told apart with any colour vision, and in print. */
export const COLORS = {
  blue: "#0072b2",
  vermilion: "#d55e00",
  green: "#009e73",
  purple: "#cc79a7",
  orange: "#e69f00",
  sky: "#56b4e9",
  black: "#222222",
  grey: "#8a8a8a",
} as const;

/** Colours and signs of the lines of a plot, in order. */
export const LINES: readonly { readonly color: string; readonly sign: Sign }[] = [
  { color: COLORS.blue, sign: "circle" },
  { color: COLORS.vermilion, sign: "square" },
  { color: COLORS.green, sign: "triangle" },
  { color: COLORS.purple, sign: "diamond" },
  { color: COLORS.orange, sign: "star" },
  { color: COLORS.sky, sign: "cross" },
];

const FONT = "font-family='system-ui, sans-serif'";

const GAP = 16;
const LEGEND_LINE = 20;
/** Width of a letter of the legend, on average. */
const LETTER = 6.6;

/** Panels in lines of `columns`, titles above each, one legend below. */
export function sheet(
  name: string,
  alt: string,
  panels: readonly (Panel & { readonly title?: string })[],
  legend: readonly LegendEntry[] = [],
  columns = panels.length,
): Plot {
  const head = panels.some(({ title }) => title !== undefined) ? 24 : 4;
  const cellWidth = Math.max(...panels.map(({ width }) => width)) + GAP;
  const width = Math.min(columns, panels.length) * cellWidth + GAP;
  const tops: number[] = [GAP / 2];
  for (let at = 0; at < panels.length; at += columns) {
    const heights = panels.slice(at, at + columns).map(({ height }) => height);
    tops.push(tops[tops.length - 1] + Math.max(...heights) + head + GAP);
  }
  const bottom = tops[tops.length - 1];
  const entries = legendEntries(legend, width);
  const height = bottom + entries.lines * LEGEND_LINE + (legend.length > 0 ? 8 : 0);
  const drawn = panels.map(({ svg, title }, j) => {
    const x = GAP + (j % columns) * cellWidth;
    const y = tops[Math.floor(j / columns)];
    const caption =
      title === undefined
        ? ""
        : `<text x="${x + 4}" y="${y + 15}" font-size="13" font-weight="600" fill="#222">${escapeText(title)}</text>`;
    return `${caption}<g transform="translate(${x},${y + head})">${svg}</g>`;
  });
  return {
    name,
    alt,
    svg: [
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ${FONT} role="img" aria-label="${escapeText(alt)}">`,
      `<rect width="${width}" height="${height}" fill="white"/>`,
      ...drawn,
      `<g transform="translate(0,${bottom})">${entries.svg}</g>`,
      "</svg>\n",
    ].join("\n"),
  };
}

function legendEntries(legend: readonly LegendEntry[], width: number): { svg: string; lines: number } {
  const drawn: string[] = [];
  let [x, line] = [GAP + 8, 0];
  for (const { name, color, sign: shape, dash = "" } of legend) {
    const length = 36 + name.length * LETTER + 18;
    if (x + length > width && x > GAP + 8) {
      x = GAP + 8;
      line++;
    }
    const y = line * LEGEND_LINE + 10;
    const stroke =
      dash === "none"
        ? ""
        : `<line x1="${x}" x2="${x + 26}" y1="${y}" y2="${y}" stroke="${color}" stroke-width="2" stroke-dasharray="${dash}"/>`;
    drawn.push(`${stroke}${shape ? sign(shape, x + 13, y, color) : ""}`);
    drawn.push(`<text x="${x + 32}" y="${y + 4}" font-size="12" fill="#222">${escapeText(name)}</text>`);
    x += length;
  }
  return { svg: drawn.join(""), lines: legend.length === 0 ? 0 : line + 1 };
}

/** A sign of a point, centred. */
export function sign(shape: Sign, x: number, y: number, color: string, size = 4): string {
  return `<path transform="translate(${round(x)},${round(y)}) scale(${size})" d="${SIGNS[shape]}" fill="${color}"/>`;
}

/** Text between tags or in an attribute. */
export function escapeText(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

/** Two digits behind the point are below a pixel. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
