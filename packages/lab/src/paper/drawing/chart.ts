/**
 * One panel with axes: lines with the spread of their points, and scattered points with their names beside them. Observable Plot
 * draws axes, grids and lines; names are placed here, where they do not cover each other.
 */

import * as Observable from "@observablehq/plot";
import { parseHTML } from "linkedom";
import { type LegendEntry, type Panel, round, type Sign, sign } from "./plot.ts";

/** A point of a line: the middle, and the ends of its spread where there is one. */
export interface LinePoint {
  readonly x: number;
  readonly y: number;
  readonly low?: number;
  readonly high?: number;
}

/** A line with its place in the legend. */
export interface Line extends LegendEntry {
  readonly points: readonly LinePoint[];
  readonly width?: number;
}

/** An axis: its name with unit, its scale. */
export interface Axis {
  readonly label: string;
  readonly log?: boolean;
  readonly domain?: readonly [number, number];
  readonly ticks?: readonly number[];
  /** As d3 has it; a logarithmic axis has its own. */
  readonly format?: string;
}

/** A point with its name beside it. */
export interface NamedPoint {
  readonly x: number;
  readonly y: number;
  readonly name: string;
  readonly color: string;
  readonly sign: Sign;
  readonly size?: number;
  readonly bold?: boolean;
}

/** What a panel shows. */
interface Chart {
  readonly x: Axis;
  readonly y: Axis;
  readonly lines?: readonly Line[];
  readonly named?: readonly NamedPoint[];
  readonly width?: number;
  readonly height?: number;
  /** More marks of Observable Plot, below the lines. */
  readonly marks?: readonly Observable.Markish[];
}

/** Draws a panel. */
export function chart(what: Chart): Panel {
  const { lines = [], named = [], width = 420, height = 300 } = what;
  const points = lines.flatMap((line) => line.points);
  const x = axisOf("x", what.x, { named: named.map((point) => point.x), drawn: points.map((point) => point.x) });
  const y = axisOf("y", what.y, {
    named: named.map((point) => point.y),
    drawn: points.flatMap(({ y: middle, low = middle, high = middle }) => [low, high]),
  });
  const { document } = parseHTML("<html><body></body></html>");
  const figure = Observable.plot({
    document,
    width,
    height,
    marginLeft: 56,
    marginRight: 16,
    marginTop: 22,
    marginBottom: 42,
    style: { background: "white", fontFamily: "system-ui, sans-serif", fontSize: "12px" },
    x: x.scale,
    y: y.scale,
    marks: [
      ...x.marks,
      ...y.marks,
      ...(what.marks ?? []),
      ...lines.flatMap(({ points: own, color, dash, width: strokeWidth = 1.8 }) => [
        Observable.ruleX(
          own.filter(({ low, high }) => low !== undefined && high !== undefined && high > low),
          { x: "x", y1: "low", y2: "high", stroke: color, strokeWidth: 1.2 },
        ),
        ...(dash === "none"
          ? []
          : [
              Observable.line(own, {
                x: "x",
                y: "y",
                stroke: color,
                strokeWidth,
                ...(dash ? { strokeDasharray: dash } : {}),
              }),
            ]),
      ]),
      // Named points count for the scales; they are drawn below, with their names.
      Observable.dot(named, { x: "x", y: "y", r: 0 }),
    ],
  });
  const toX = applier(figure, "x");
  const toY = applier(figure, "y");
  const signs = lines.flatMap(({ points: own, color, sign: shape }) =>
    shape ? own.map((point) => sign(shape, toX(point.x), toY(point.y), color)) : [],
  );
  const names = placeNames(
    named.map((point) => ({ ...point, x: toX(point.x), y: toY(point.y) })),
    width,
  );
  return { svg: `${figure.outerHTML}${signs.join("")}${names}`, width, height };
}

/** Pixels that points keep off the edges where the axis is made to measure. */
const INSET = 6;

/** What decides the range of an axis. Named points keep further off the edges, so that their names have room. */
interface Extent {
  readonly named: readonly number[];
  readonly drawn: readonly number[];
}

/** The scale, and the marks of an axis that the scale does not draw itself. */
function axisOf(
  which: "x" | "y",
  axis: Axis,
  { named, drawn }: Extent,
): { readonly scale: Observable.ScaleOptions; readonly marks: readonly Observable.Markish[] } {
  const { label, log = false, format } = axis;
  const domain = axis.domain ?? (named.length > 0 ? widened(named, log) : undefined);
  const range = domain ? { domain: [...domain] } : { inset: INSET };
  if (!log) {
    const ticks = axis.ticks ? { ticks: [...axis.ticks] } : {};
    const shown = format ? { tickFormat: format } : {};
    return {
      scale: { type: "linear", label, labelArrow: "none", grid: true, ...range, ...ticks, ...shown },
      marks: [],
    };
  }
  // Left to itself a logarithmic axis leaves labels out, by a rule of its own.
  const ticks = [...(axis.ticks ?? logTicks(domain ?? drawn))];
  const options = { label, labelArrow: "none", text: ticks.map(logLabel) } as const;
  const marks =
    which === "x"
      ? [Observable.gridX(ticks), Observable.axisX(ticks, options)]
      : [Observable.gridY(ticks), Observable.axisY(ticks, options)];
  return { scale: { type: "log", axis: null, ...range }, marks };
}

function widened(values: readonly number[], log: boolean): readonly [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (log) return [low / 1.6, high * 1.6];
  const room = (high - low) * 0.08 || 0.01;
  return [low - room, high + room];
}

/** Steps of ticks within a decade, by how many decades an axis has. */
const STEPS = [
  { below: 0.6, steps: [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8] },
  { below: 1.2, steps: [1, 2, 3, 5, 7] },
  { below: 2.5, steps: [1, 2, 5] },
  { below: 4, steps: [1, 3] },
] as const;

/** Round numbers within the range of some values: the fewer to a decade, the more decades. */
function logTicks(values: readonly number[]): readonly number[] {
  const known = values.filter((value) => value > 0);
  if (known.length === 0) return [];
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const decades = Math.log10(high / low);
  const steps: readonly number[] = STEPS.find(({ below }) => decades < below)?.steps ?? [1];
  const first = Math.floor(Math.log10(low));
  const count = Math.ceil(Math.log10(high)) - first + 1;
  const all = Array.from({ length: count }, (_, j) => steps.map((step) => Number(`${step}e${first + j}`))).flat();
  return all.filter((tick) => tick >= low && tick <= high);
}

/** "60k", "1,500", "0.2", "10⁻⁴". */
function logLabel(tick: number): string {
  if (tick >= 1000 && tick % 1000 === 0) return `${tick / 1000}k`;
  if (tick >= 0.001) return tick.toLocaleString("en-US");
  const exponent = Math.round(-Math.log10(tick));
  return `10⁻${[...String(exponent)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("")}`;
}

function applier(figure: Observable.Plot, name: "x" | "y"): (value: number) => number {
  const scale = figure.scale(name);
  if (!scale) throw new Error(`expected a scale ${name}`);
  return (value) => scale.apply(value) as number;
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Widths of a letter, on average. */
const LETTER = 7.4;
const BOLD_LETTER = 8.5;

/** Signs with their names to the right, the left, above or below: the first place that covers no other. */
function placeNames(points: readonly NamedPoint[], width: number): string {
  const taken: Box[] = points.map(({ x, y }) => ({ left: x - 5, right: x + 5, top: y - 5, bottom: y + 5 }));
  const drawn: string[] = [];
  for (const { x, y, name, color, sign: shape, size = 5, bold } of points) {
    const length = name.length * (bold ? BOLD_LETTER : LETTER);
    const places = [
      { dx: 9, dy: 4, anchor: "start" },
      { dx: -9, dy: 4, anchor: "end" },
      ...[12, 18, 24, 32].flatMap((away) => [
        { dx: 0, dy: -away + 4, anchor: "middle" },
        { dx: 0, dy: away + 4, anchor: "middle" },
        { dx: 9, dy: -away + 4, anchor: "start" },
        { dx: 9, dy: away + 4, anchor: "start" },
        { dx: -9, dy: -away + 4, anchor: "end" },
        { dx: -9, dy: away + 4, anchor: "end" },
      ]),
    ];
    const boxOf = ({ dx, dy, anchor }: (typeof places)[number]): Box => {
      const left = x + dx - (anchor === "start" ? 0 : anchor === "end" ? length : length / 2);
      return { left, right: left + length, top: y + dy - 10, bottom: y + dy + 3 };
    };
    const place =
      places.find((candidate) => {
        const box = boxOf(candidate);
        return box.left > 58 && box.right < width - 2 && box.top > 4 && !taken.some((other) => overlap(box, other));
      }) ?? places[0];
    taken.push(boxOf(place));
    drawn.push(sign(shape, x, y, color, size));
    drawn.push(
      `<text x="${round(x + place.dx)}" y="${round(y + place.dy)}" text-anchor="${place.anchor}" font-size="12" fill="#222"${bold ? ' font-weight="700"' : ""}>${name}</text>`,
    );
  }
  return drawn.join("");
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
