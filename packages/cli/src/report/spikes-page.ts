/** The page of `ranksim spikes`: how soon the class shows, how soon it is certain, and one row on its way. */

import type { ImageSize } from "@ranksim/data";
import type { SpikeSummary, SpikeTrace } from "@ranksim/export";
import { brief, count, percent } from "../terminal/numbers.ts";
import { type Drawing, svgOf } from "./charts.ts";
import { facts, headline, htmlPage, section } from "./frame.ts";
import { element, place, svgText } from "./markup.ts";
import { spikesAnimation } from "./spikes-animation.ts";

/** What the page shows. */
export interface SpikesView {
  readonly modelName: string;
  readonly dataName: string;
  readonly filters: number;
  readonly rows: number;
  /** Whether the curve is of right classes; else of agreement with the class at the end. */
  readonly isLabelled: boolean;
  readonly summary: SpikeSummary;
  readonly shown: {
    readonly row: number;
    readonly values: ArrayLike<number>;
    readonly truth: string | undefined;
    readonly given: string;
    readonly trace: SpikeTrace;
  };
  readonly imageSize: ImageSize | undefined;
  readonly nameOf: (label: string | number) => string;
}

const CHART = { width: 940, height: 340, left: 48, right: 24, top: 34, bottom: 44 };

/** One page, complete in itself. */
export function spikesPage(view: SpikesView): string {
  const { summary, shown } = view;
  const measure = view.isLabelled ? "accuracy" : "agreement with the end";
  const end = summary.curve[summary.curve.length - 1];
  const half = summary.curve.find(({ spikeShare }) => spikeShare >= 0.5) ?? end;
  const tiles = [
    { name: `${measure}, all spikes`, value: percent(end.accuracy), about: "the class of predict" },
    { name: `with ${percent(half.spikeShare, 0)} of spikes`, value: percent(half.accuracy) },
    {
      name: "spikes until certain",
      value: percent(summary.spikesNeeded / Math.max(1, summary.spikes)),
      about: "no filter behind can still win",
    },
    {
      name: "synaptic events a row",
      value: brief(summary.synapticEventsNeeded / Math.max(1, view.rows)),
      about: `of ${brief(summary.synapticEvents / Math.max(1, view.rows))} without the early stop`,
    },
  ];
  const truth = shown.truth === undefined ? "" : ` Its label is ${shown.truth}.`;
  return htmlPage(
    "Filters as spikes",
    `${view.modelName} on ${view.dataName}: ${count(view.filters)} filters, ${count(view.rows)} rows`,
    [
      headline({ headline: tiles, notes: [] }),
      section(
        "How soon the class shows",
        `${summary.firstLayer ? "The pixels of a window spike into the patch filters; what the windows of a cell find is added up, and spikes in a second layer, which this is about. " : ""}A feature spikes once, the sooner the larger it is; a spike adds its weight to the current of every filter, and a potential integrates the current. At the end the potential is exactly the response.`,
        svgOf(curveChart(view)),
      ),
      section(
        `Row ${shown.row} on its way`,
        `It is given ${shown.given}.${truth} The bars are the strongest filter of each class.`,
        svgOf(spikesAnimation(shown.trace, shown.values, view.imageSize, view.nameOf)),
      ),
      section(
        "Figures",
        "",
        facts([
          ...(summary.firstLayer
            ? ([
                ["spikes into windows", count(summary.firstLayer.spikes)],
                ["synaptic events there", count(summary.firstLayer.synapticEvents)],
              ] as const)
            : []),
          [summary.firstLayer ? "spikes of the second layer" : "spikes", count(summary.spikes)],
          ["spikes until the class was certain", count(summary.spikesNeeded)],
          ["synaptic events", count(summary.synapticEvents)],
          ["synaptic events until certain", count(summary.synapticEventsNeeded)],
        ]),
      ),
    ],
    "A simulation in whole numbers. It says nothing of the energy that a circuit would take.",
  );
}

/** Accuracy against the share of spikes seen. */
function curveChart({ summary, isLabelled }: SpikesView): Drawing {
  const { width, height, left, right, top, bottom } = CHART;
  const x = (share: number) => left + share * (width - left - right);
  const y = (share: number) => height - bottom - share * (height - top - bottom);
  const parts: string[] = [];
  for (const tick of [0, 0.2, 0.4, 0.6, 0.8, 1]) {
    parts.push(element("path", { d: `M${left} ${place(y(tick))}H${width - right}`, class: "rule" }));
    parts.push(svgText(left - 9, y(tick) + 4, tick.toFixed(1), { class: "soft", "text-anchor": "end" }));
    parts.push(svgText(x(tick), height - bottom + 18, percent(tick, 0), { class: "soft", "text-anchor": "middle" }));
  }
  const points = summary.curve.map(({ spikeShare, accuracy }) => `${place(x(spikeShare))} ${place(y(accuracy))}`);
  parts.push(element("path", { d: `M${points.join("L")}`, class: "curve-all" }));
  for (const { spikeShare, accuracy } of summary.curve) {
    const tip = element("title", {}, `${accuracy.toFixed(3)} after ${percent(spikeShare)} of spikes`);
    parts.push(element("circle", { cx: x(spikeShare), cy: y(accuracy), r: 3, class: "accent" }, tip));
  }
  const needed = summary.spikesNeeded / Math.max(1, summary.spikes);
  const mark = place(x(needed));
  parts.push(
    element("path", { d: `M${mark} ${top}V${height - bottom}`, stroke: "var(--accent)", "stroke-dasharray": "3 3" }),
  );
  parts.push(
    svgText(x(needed) - 6, height - bottom - 8, "certain, on average", { class: "green", "text-anchor": "end" }),
  );
  const name = isLabelled ? "share of rows with the right class" : "share of rows with the class of the end";
  parts.push(svgText(0, 15, name, { class: "ink", "font-weight": "600", "font-size": 13 }));
  parts.push(
    svgText(width - right, height - 6, "mean share of a row's spikes seen", { class: "soft", "text-anchor": "end" }),
  );
  return { width, height, body: parts.join(""), about: `${name} against the share of spikes seen` };
}
