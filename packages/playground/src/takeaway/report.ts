/** A page about the model that needs nothing else: figures, confusion, filters as pictures, the sample at hand and why. */

import { drawInk, drawParts, inkOf } from "../drawing/picture.ts";
import type { FilterView, ImageSize } from "../protocol.ts";
import type { State } from "../state/state.ts";
import { bytes, count, duration, featureName, percent, score } from "../views/text.ts";

/** What the report is made of. */
export interface ReportInput {
  readonly state: State;
  /** Some filters of each class. */
  readonly filters: readonly (readonly FilterView[])[];
  readonly lines: string;
  readonly command: string;
}

/** The report as HTML. */
export function reportHtml({ state, filters, lines, command }: ReportInput): string {
  const { model, data } = state;
  if (!model) return "";
  const title = `Rank filters of ${data?.name ?? model.name}`;
  const body = [
    `<h1>${text(title)}</h1>`,
    figures(state),
    confusion(state),
    `<h2>Filters</h2>${filters.map((views, group) => filterRow(model.classes[group] ?? "all", views, state)).join("")}`,
    sample(state),
    training(state),
    `<h2>The same model elsewhere</h2><pre>${text(lines)}</pre><pre>${text(command)}</pre>`,
    `<p class="digest">Digest ${model.digest}</p>`,
  ];
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${text(title)}</title><style>${STYLE}</style></head><body>${body.join("\n")}</body></html>\n`;
}

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c2024}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
td,th{padding:.2rem .5rem;text-align:right;border-bottom:1px solid #e3e5e8}th:first-child{text-align:left}
img{image-rendering:pixelated;width:44px;height:auto;border:1px solid #dcdfe3;border-radius:3px;margin:2px;background:#fff}
img.large{width:180px}.row{display:flex;flex-wrap:wrap;align-items:center}.row b{min-width:4rem}.wrong{background:#f6d9bd}
.right{background:#d6e9ea}pre{background:#f4f5f6;padding:.75rem;border-radius:6px;overflow:auto}.digest{color:#5c646d;font-size:.8rem;overflow-wrap:anywhere}`;

function figures({ model, evaluation, data }: State): string {
  if (!model) return "";
  const rows: [string, string][] = [
    ["Data", `${data?.name ?? "not at hand"}${data ? `, ${count(data.rows)} rows` : ""}`],
    ["Kind", model.kind],
    ["Filters", `${count(model.filters)} over ${count(model.features)} features`],
    ["Training rows", count(model.trainingRows)],
    ...(evaluation
      ? ([
          [
            evaluation.heldOut ? "Accuracy, held-out rows" : "Accuracy, rows at hand",
            `${score(evaluation.accuracy)} (${count(evaluation.rows)} rows)`,
          ],
          ["Macro F1", score(evaluation.macroF1)],
          ...(evaluation.logLoss === undefined ? [] : [["Log loss", evaluation.logLoss.toFixed(3)]]),
        ] as [string, string][])
      : []),
    ["Model file", bytes(model.byteLength)],
    ...(model.seconds === undefined ? [] : ([["Training time", duration(model.seconds)]] as [string, string][])),
    ["Parameters", JSON.stringify(model.params)],
  ];
  return `<table>${rows.map(([name, value]) => `<tr><th>${text(name)}</th><td>${text(value)}</td></tr>`).join("")}</table>`;
}

function confusion({ evaluation, model }: State): string {
  if (!evaluation?.confusion || !model || model.classes.length > 60) return "";
  const c = model.classes.length;
  const head = model.classes.map((name) => `<th>${text(name)}</th>`).join("");
  const body = model.classes.map((name, truth) => {
    const cells = model.classes.map((_, answer) => {
      const found = evaluation.confusion?.[truth * c + answer] ?? 0;
      return `<td class="${found === 0 ? "" : truth === answer ? "right" : "wrong"}">${found || ""}</td>`;
    });
    return `<tr><th>${text(name)}</th>${cells.join("")}</tr>`;
  });
  return `<h2>Confusion</h2><p>Rows by their class (down) and the answer they got (across).</p><table><tr><th></th>${head}</tr>${body.join("")}</table>`;
}

function filterRow(name: string, views: readonly FilterView[], { imageSize }: State): string {
  const shown = views.map((view) =>
    imageSize && view.picture
      ? pictureOf((canvas) => drawInk(canvas, view.picture ?? [], imageSize), `filter ${view.filter}`)
      : `<span>${text(view.top.map(({ feature, name }) => featureName(name, feature)).join(", "))}</span>;&nbsp;`,
  );
  return `<div class="row"><b>${text(name)}</b>${shown.join("")}</div>`;
}

function sample({ sample, explanation, imageSize, data, model }: State): string {
  if (!sample || !explanation || !model) return "";
  const answer = explanation.labels.join(", ");
  const likely = Array.from(explanation.probabilities ?? [], (probability, c) => ({
    probability,
    name: model.classes[c],
  }))
    .sort((a, b) => b.probability - a.probability)
    .slice(0, 5)
    .map(({ probability, name }) => `${name} ${percent(probability)}`);
  const pictures =
    imageSize && sample.form === "dense"
      ? samplePictures(sample.values, imageSize, explanation, data?.low ?? 0, data?.high ?? 255)
      : "";
  const words = sample.form === "text" ? `<blockquote>${text(sample.text.slice(0, 2000))}</blockquote>` : "";
  const filters = explanation.strongest.map(
    (view) => `filter ${view.filter} (${view.shares[0]?.label ?? "no class"}) ${percent(view.similarity)}`,
  );
  return `<h2>One sample, explained</h2>${pictures}${words}<p>Answer: <b>${text(answer || "none")}</b>. ${text(likely.join(", "))}.</p><p>Strongest: ${text(filters.join(", "))}.</p>`;
}

function samplePictures(
  values: Float64Array,
  size: ImageSize,
  { features, parts }: { features: Uint32Array; parts: Float64Array },
  low: number,
  high: number,
): string {
  const row = pictureOf((canvas) => drawInk(canvas, inkOf(values, low, high), size), "the sample", "large");
  const heat = pictureOf(
    (canvas) => drawParts(canvas, features, parts, size),
    "pixels for (orange) and against (blue)",
    "large",
  );
  return `<p>${row} ${heat}</p>`;
}

function training({ model }: State): string {
  if (!model || model.steps.length === 0) return "";
  const rows = model.steps
    .slice(0, 500)
    .map(
      ({ label, iteration, moved, empty, rows }) =>
        `<tr><th>${text(label ?? "all")}</th><td>${iteration}</td><td>${moved} of ${rows}</td><td>${empty}</td></tr>`,
    );
  return `<h2>Training</h2><details><summary>${model.steps.length} iterations</summary><table><tr><th>class</th><th>iteration</th><th>rows moved</th><th>empty filters</th></tr>${rows.join("")}</table></details>`;
}

function pictureOf(draw: (canvas: HTMLCanvasElement) => void, title: string, kind = ""): string {
  const canvas = document.createElement("canvas");
  draw(canvas);
  return `<img class="${kind}" alt="${text(title)}" src="${canvas.toDataURL()}">`;
}

/** Text that cannot become markup. */
function text(raw: string): string {
  return raw.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
