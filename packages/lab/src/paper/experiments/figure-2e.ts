/** Figure 2 E: one test image of each class, with the eight filters that answer most and their activations. */

import { catalogue } from "@ranksim/data";
import { pngAddress } from "ranksim/report";
import { rowsFor } from "../../runner/data.ts";
import { COLORS, escapeText, type Panel, sheet } from "../drawing/plot.ts";
import { type Experiment, judge } from "../experiment.ts";
import type { FilterPictures, Point } from "../spec.ts";
import { count } from "../wording.ts";

const SHOWN = 8;
const FILTERS = 1500;
const SIDE = 28;
/** Pixels of the drawing for one picture, and the room around it. */
const CELL = 56;
const STEP_X = 64;
const STEP_Y = 78;
const LABEL_WIDTH = 92;

function point(quick: boolean): Point {
  return {
    name: `RST ${FILTERS}, strongest ${SHOWN} filters`,
    spec: {
      data: "fashion",
      rows: rowsFor(quick, "fashion", { seed: 0 }),
      task: "strongest-filters",
      params: { filters: quick ? 100 : FILTERS, seed: 0 },
      filtersShown: SHOWN,
    },
  };
}

function gallery(pictures: readonly FilterPictures[]): Panel {
  const names = catalogue.find(({ name }) => name === "fashion-mnist")?.classNames ?? [];
  const drawn = pictures.map(({ label, image, filters }, j) => {
    const y = j * STEP_Y;
    const name = names[Number(label)] ?? label;
    const cells = filters.map(({ weights, activation }, f) => {
      const x = LABEL_WIDTH + (f + 1) * STEP_X + 10;
      const text = `<text x="${x + CELL / 2}" y="${y + 12}" text-anchor="middle" font-size="11" fill="${COLORS.green}">${activation.toFixed(2)}</text>`;
      return `${text}${picture(weights, x, y + 16)}`;
    });
    const title = `<text x="0" y="${y + 16 + CELL / 2 + 4}" font-size="12" fill="#222">${escapeText(name)}</text>`;
    const frame = `<rect x="${LABEL_WIDTH - 1}" y="${y + 15}" width="${CELL + 2}" height="${CELL + 2}" fill="none" stroke="${COLORS.blue}" stroke-width="2"/>`;
    return [title, picture(image, LABEL_WIDTH, y + 16), frame, ...cells].join("");
  });
  return { svg: drawn.join(""), width: LABEL_WIDTH + (SHOWN + 1) * STEP_X + 10, height: pictures.length * STEP_Y };
}

function picture(greys: string, x: number, y: number): string {
  const pixels = Buffer.from(greys, "base64").map((grey) => 255 - grey);
  const address = pngAddress({ width: SIDE, height: SIDE, pixels });
  return `<image x="${x}" y="${y}" width="${CELL}" height="${CELL}" href="${address}" style="image-rendering:pixelated"/>`;
}

export const figure2e: Experiment = {
  panels: ["figure-2e"],
  title: "Figure 2 E: the strongest filters of ten images",
  points: (quick) => [point(quick)],
  section: ({ find, quick }) => {
    const measured = find(point(quick));
    const pictures = measured?.pictures ?? [];
    const same = measured?.facts?.sameClass;
    const share = typeof same === "number" ? same : undefined;
    const alt = "Ten test images, each beside the eight filters that answer most, with their activations";
    return {
      text: `The first test image of each class (framed) and the ${SHOWN} of ${count(FILTERS)} filters, learned without labels from 60,000 images, that answer most; in green the activation that the SVM is given. Bright is a high rank.`,
      plots:
        pictures.length > 0
          ? [sheet("figure-2e.svg", alt, [{ title: "image, and its strongest filters", ...gallery(pictures) }])]
          : [],
      claims: [
        {
          paper: "Filters learned without labels look like the test images that they answer to",
          ours:
            share === undefined
              ? "–"
              : `see the picture; ${(share * 100).toFixed(0)} % of the training images behind the filters shown are of the image's class (by chance 10 %)`,
          verdict: judge([share === undefined ? undefined : share > 0.5]),
        },
      ],
    };
  },
};
