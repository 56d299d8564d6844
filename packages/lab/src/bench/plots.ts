/** Growth curves as SVG: processor time of fit against one size, both axes logarithmic; for rows also the time per row. */

import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import type { BenchResults } from "./results.ts";
import { figures, median } from "./results.ts";

const WIDTH = 520;
const HEIGHT = 320;

/** File name and content of each plot. */
export function growthPlots({ growth }: BenchResults): readonly { readonly name: string; readonly svg: string }[] {
  const axes = [...new Set(growth.map(({ axis }) => axis))];
  return axes.map((axis) => {
    const points = growth
      .filter((point) => point.axis === axis && point.runs.length > 0)
      .map((point) => {
        const seconds = median(figures(point.runs, ({ phases }) => phases.fit?.cpu)) ?? 0;
        return { size: point[axis], value: axis === "rows" ? (seconds / point.rows) * 1e6 : seconds };
      });
    const fixed = growth.find((point) => point.axis === axis);
    const others = (["rows", "features", "filters"] as const).filter((other) => other !== axis);
    const title = others.map((other) => `${fixed?.[other].toLocaleString("en-US")} ${other}`).join(", ");
    return {
      name: `growth-${axis}.svg`,
      svg: curve(points, axis, axis === "rows" ? "fit, µs per row" : "fit, s", title),
    };
  });
}

function curve(
  points: readonly { readonly size: number; readonly value: number }[],
  axis: string,
  unit: string,
  title: string,
): string {
  const { document } = parseHTML("<html><body></body></html>");
  const perRow = axis === "rows";
  const figure = Plot.plot({
    document,
    width: WIDTH,
    height: HEIGHT,
    marginLeft: 60,
    marginTop: 40,
    marginBottom: 48,
    style: { background: "white", fontFamily: "sans-serif", fontSize: "12px" },
    x: { type: "log", label: `${axis} (others fixed: ${title})`, grid: true, tickFormat: "~s" },
    y: {
      type: perRow ? "linear" : "log",
      label: `processor time of ${unit}`,
      grid: true,
      ...(perRow ? { zero: true } : { tickFormat: "~g" }),
    },
    marks: [
      Plot.line(points, { x: "size", y: "value", stroke: "#4269d0" }),
      Plot.dot(points, { x: "size", y: "value", fill: "#4269d0" }),
    ],
  });
  figure.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return `${figure.outerHTML}\n`;
}
