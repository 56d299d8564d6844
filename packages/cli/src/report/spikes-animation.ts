/**
 * One row as spikes, moving: the picture fills as features spike, and the strongest filters of the classes race. SVG that moves
 * by itself, so that the page needs no script; it runs three times and stays at the end.
 */

import type { ImageSize } from "@ranksim/data";
import type { SpikeTrace } from "@ranksim/export";
import type { Drawing } from "./charts.ts";
import { element, escaped, svgText } from "./markup.ts";

/** Seconds of one run, and the share of them in which time passes; the rest is a look at the end. */
const SECONDS = 12;
const MOVING = 0.8;
const RUNS = 3;

const WIDTH = 940;
const PICTURE = 260;
const RACE = { left: 420, right: 60, top: 52, line: 24 };
const MOST_RACERS = 10;
/** Most dots drawn, evenly among the spikes: more would overlap. */
const MOST_DOTS = 600;

/** The drawing of a trace. Without a size of images, spikes are dots over time. */
export function spikesAnimation(
  trace: SpikeTrace,
  row: ArrayLike<number>,
  size: ImageSize | undefined,
  nameOf: (label: string | number) => string,
): Drawing {
  const racers = trace.racers.slice(0, MOST_RACERS);
  const height = Math.max(PICTURE + 80, RACE.top + racers.length * RACE.line + 90);
  const parts = [
    ...title(0, trace.isPooled ? "spikes of the second layer arriving" : "spikes arriving"),
    ...title(RACE.left, "potentials racing"),
    size && !trace.isPooled ? picture(trace, row, size) : dots(trace),
    race(trace, racers, nameOf),
    clock(trace, height),
  ];
  return {
    width: WIDTH,
    height,
    body: parts.join(""),
    about: `The spikes of one row and the potentials of the strongest filter of each class over time`,
  };
}

const title = (x: number, text: string): string[] => [
  svgText(x, 15, text, { class: "ink", "font-weight": "600", "font-size": 13 }),
];

/** The share of a run at which a time of the row is shown. */
const when = ({ end }: SpikeTrace, time: number): string =>
  (end === 0 ? 0 : Math.min(MOVING, (time / end) * MOVING)).toFixed(4);

const timing = { dur: `${SECONDS}s`, repeatCount: String(RUNS), fill: "freeze" };

/** Something that is not there until a time. */
function appearing(trace: SpikeTrace, time: number): string {
  const at = when(trace, time);
  // A list of times has to begin with 0, which stands for itself where the time is 0.
  const keys = Number(at) === 0 ? { values: "1", keyTimes: "0" } : { values: "0;1", keyTimes: `0;${at}` };
  return element("animate", { attributeName: "opacity", calcMode: "discrete", ...keys, ...timing });
}

/** Pixels in their own grey, each from the time of its spike on. */
function picture(trace: SpikeTrace, row: ArrayLike<number>, { width, height }: ImageSize): string {
  const side = PICTURE / Math.max(width, height);
  const [w, h] = [width * side, height * side];
  const pixels = Array.from(trace.features, (feature, j) => {
    const grey = Math.round((row[feature] / trace.end) * 255);
    const x = (feature % width) * side;
    const y = 30 + Math.floor(feature / width) * side;
    const at = `x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${side.toFixed(2)}" height="${side.toFixed(2)}"`;
    return `<rect ${at} fill="rgb(${grey},${grey},${grey})">${appearing(trace, trace.times[j])}</rect>`;
  });
  const ground = `<rect x="0" y="30" width="${w.toFixed(1)}" height="${h.toFixed(1)}" rx="3" fill="#000"/>`;
  return `${ground}<g shape-rendering="crispEdges">${pixels.join("")}</g>`;
}

/** A dot for each spike: its time to the right, its feature downwards. */
function dots(trace: SpikeTrace): string {
  const last = trace.features.reduce((most, feature) => Math.max(most, feature), 1);
  const step = Math.max(1, trace.features.length / MOST_DOTS);
  const marks = Array.from({ length: Math.ceil(trace.features.length / step) }, (_, d) => {
    const j = Math.floor(d * step);
    const feature = trace.features[j];
    const cx = 6 + (trace.times[j] / Math.max(1, trace.end)) * (PICTURE + 100);
    const cy = 36 + (feature / last) * (PICTURE - 12);
    return element("circle", { cx, cy, r: 2, class: "accent" }, appearing(trace, trace.times[j]));
  });
  return `${element("rect", { x: 0.5, y: 30.5, width: PICTURE + 112, height: PICTURE, class: "frame" })}${marks.join("")}`;
}

function race(trace: SpikeTrace, racers: SpikeTrace["racers"], nameOf: (label: string | number) => string): string {
  const most = Math.max(1, ...racers.map(({ potentials }) => potentials[potentials.length - 1]));
  const room = WIDTH - RACE.left - RACE.right - 120;
  const keyTimes = ["0", ...Array.from(trace.moments, (moment) => when(trace, moment)), "1"].join(";");
  return racers
    .map(({ label, filter, potentials }, j) => {
      const y = RACE.top + j * RACE.line;
      const lengths = Array.from(potentials, (potential) => (potential / most) * room);
      const values = [0, ...lengths, lengths[lengths.length - 1]].map((length) => length.toFixed(1)).join(";");
      const bar = element(
        "rect",
        {
          x: RACE.left + 120,
          y: y - 12,
          width: lengths[lengths.length - 1],
          height: 15,
          rx: 2,
          class: j === 0 ? "accent" : "soft",
          "fill-opacity": j === 0 ? "0.9" : "0.45",
        },
        element("animate", { attributeName: "width", values, keyTimes, ...timing }) +
          element("title", {}, escaped(`filter ${filter}`)),
      );
      const name = nameOf(label);
      const short = name.length > 17 ? `${name.slice(0, 16)}…` : name;
      return `${svgText(RACE.left + 112, y, short, { class: "ink", "text-anchor": "end" })}${bar}`;
    })
    .join("");
}

/** The time, with the moment from which on the class was certain. */
function clock(trace: SpikeTrace, height: number): string {
  const [left, right, y] = [RACE.left + 120, WIDTH - RACE.right, height - 34];
  const x = (time: number) => left + (trace.end === 0 ? 1 : time / trace.end) * (right - left);
  const certain = x(trace.settledAt);
  const hand = element(
    "circle",
    { cx: right, cy: y, r: 5, class: "warm" },
    element("animate", {
      attributeName: "cx",
      values: `${left};${right};${right}`,
      keyTimes: `0;${MOVING};1`,
      ...timing,
    }),
  );
  const isEarly = trace.settledAt < trace.end;
  const words = isEarly
    ? `certain after ${trace.settledAfter} of ${trace.features.length} spikes`
    : "certain at the end only";
  return [
    element("path", { d: `M${left} ${y}H${right}`, class: "rule" }),
    element("path", { d: `M${certain.toFixed(1)} ${y - 9}v18`, stroke: "var(--accent)", "stroke-width": "2" }),
    svgText(certain, y - 14, words, { class: "green", "text-anchor": certain > (left + right) / 2 ? "end" : "start" }),
    svgText(left - 8, y + 4, "time", { class: "soft", "text-anchor": "end" }),
    svgText(left, y + 20, "0", { class: "soft", "text-anchor": "middle" }),
    svgText(right, y + 20, String(trace.end), { class: "soft", "text-anchor": "middle" }),
    hand,
  ].join("");
}
