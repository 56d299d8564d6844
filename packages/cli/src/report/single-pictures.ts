/** The pictures of a report as PNG files: confusion matrix, reliability, training, filters of each class, rows with their strongest filters. */

import { join } from "node:path";
import { Resvg } from "@resvg/resvg-js";
import { writeTo } from "../files/output.ts";
import type { Session } from "../session.ts";
import { confusionChart, type Drawing, emptyChart, movedChart, svgOf } from "./charts.ts";
import type { ReportContent } from "./content.ts";
import { reliabilityChart } from "./reliability-chart.ts";
import { LIGHT, pictureStyle } from "./theme.ts";
import { filterTiles, galleryTiles, rowTiles } from "./tiles.ts";

/** Pixels per unit of a drawing: sharp in print. */
const SCALE = 2;

/** Writes the pictures into a folder and gives their paths. */
export async function writePictures(content: ReportContent, folder: string, session: Session): Promise<string[]> {
  if (!hasFont()) await session.note("no typeface was found on this machine: the pictures are without words");
  const paths: string[] = [];
  for (const [name, drawing] of drawings(content)) {
    session.io.signal.throwIfAborted();
    const path = join(folder, `${name}.png`);
    await writeTo(path, [render(drawing)], session.io);
    paths.push(path);
  }
  return paths;
}

function drawings(content: ReportContent): [name: string, drawing: Drawing][] {
  const found: [string, Drawing | undefined][] = [];
  if (content.judgement?.confusion) found.push(["confusion", confusionChart(content.judgement.confusion)]);
  if (content.judgement?.reliability) found.push(["reliability", reliabilityChart(content.judgement.reliability)]);
  if (content.curves.some(({ steps }) => steps.length > 0)) {
    found.push(["training-moved", movedChart(content.curves)], ["training-empty", emptyChart(content.curves)]);
  }
  found.push(["filters", galleryTiles(content.filters)]);
  content.filters.forEach((group, c) => {
    found.push([`filters-${fileName(group.label ?? "all", c)}`, filterTiles(group)]);
  });
  for (const view of content.samples) found.push([`row-${view.row}`, rowTiles(view)]);
  for (const view of content.mistakes) found.push([`mistake-${view.row}`, rowTiles(view)]);
  return found.filter((entry): entry is [string, Drawing] => entry[1] !== undefined);
}

/** A name that every file system takes and that stays different for different classes. */
function fileName(label: string, position: number): string {
  const safe = label.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, 40);
  return safe === label ? safe : `${position}-${safe}`;
}

function render(drawing: Drawing): Uint8Array {
  const svg = svgOf(drawing, pictureStyle());
  return new Resvg(svg, { background: LIGHT.surface, fitTo: { mode: "zoom", value: SCALE } }).render().asPng();
}

/** Whether letters come out: on a bare machine there may be no typeface at all. */
function hasFont(): boolean {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><text x="2" y="16" font-size="16">M</text></svg>`;
  return new Resvg(svg).render().pixels.some((value) => value !== 0);
}
