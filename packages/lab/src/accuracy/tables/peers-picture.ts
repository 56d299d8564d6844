/** F1 against each of its costs, one picture: presets and other classifiers, and the front of those that nothing beats. */

import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";

/** A classifier with its score and what it costs. */
export interface Method {
  readonly title: string;
  readonly isOwn: boolean;
  readonly macro: number;
  readonly fitCpu: number;
  readonly predictCpu: number;
  readonly bytes: number;
  readonly macs: number;
}

type Cost = "fitCpu" | "predictCpu" | "bytes" | "macs";

export const COSTS: readonly { readonly figure: Cost; readonly title: string }[] = [
  { figure: "fitCpu", title: "fit, s" },
  { figure: "predictCpu", title: "predict, s" },
  { figure: "bytes", title: "bytes" },
  { figure: "macs", title: "multiply-adds an image" },
];

/** The methods that no other is as good and as cheap as, and better in one of these. */
export function frontOf(methods: readonly Method[], cost: Cost): ReadonlySet<Method> {
  const beats = (a: Method, b: Method) =>
    a.macro >= b.macro && a[cost] <= b[cost] && (a.macro > b.macro || a[cost] < b[cost]);
  return new Set(methods.filter((method) => !methods.some((other) => beats(other, method))));
}

const WIDTH = 460;
const HEIGHT = 300;

/** Four charts, two by two. */
export function peersPicture(methods: readonly Method[]): string {
  const charts = COSTS.map(({ figure, title }, j) => {
    const at = `translate(${(j % 2) * WIDTH},${Math.floor(j / 2) * HEIGHT})`;
    return `<g transform="${at}">${chart(methods, figure, title)}</g>`;
  });
  const size = `width="${2 * WIDTH}" height="${2 * HEIGHT}" viewBox="0 0 ${2 * WIDTH} ${2 * HEIGHT}"`;
  const back = `<rect width="${2 * WIDTH}" height="${2 * HEIGHT}" fill="white"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif">${back}${charts.join("")}</svg>\n`;
}

function chart(methods: readonly Method[], cost: Cost, title: string): string {
  const { document } = parseHTML("<html><body></body></html>");
  const front = [...frontOf(methods, cost)].sort((a, b) => a[cost] - b[cost]);
  const figure = Plot.plot({
    document,
    width: WIDTH,
    height: HEIGHT,
    marginLeft: 50,
    marginRight: 90,
    marginTop: 30,
    marginBottom: 42,
    inset: 10,
    style: { fontFamily: "sans-serif", fontSize: "11px" },
    x: { type: "log", label: title, grid: true, tickFormat: cost.endsWith("Cpu") ? "~g" : "~s" },
    y: { label: "test macro F1", grid: true },
    marks: [
      Plot.line(front, { x: cost, y: "macro", stroke: "#bbb", curve: "step-after" }),
      Plot.dot(methods, { x: cost, y: "macro", r: 4, fill: ({ isOwn }: Method) => (isOwn ? "#4269d0" : "#ff725c") }),
      Plot.text(methods, { x: cost, y: "macro", text: short, dx: 5, dy: -8, textAnchor: "start" }),
    ],
  });
  return figure.outerHTML;
}

/** "balanced" of "Fashion-MNIST, `balanced`", "CNN" of "CNN of two layers". */
const short = ({ title }: Method): string =>
  title.replace(/^Fashion-MNIST,? (in )?|`/g, "").replace(/ (of|and) .*/, "");
