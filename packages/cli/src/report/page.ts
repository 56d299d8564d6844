/** The report as one HTML page that needs nothing else: no script, no request. What it says comes from `content.ts`. */

import type { Judgement, Reliability } from "@ranksim/learn";
import { count, counted, percent, score } from "../terminal/numbers.ts";
import { confusionChart, emptyChart, movedChart, svgOf } from "./charts.ts";
import type { Fact, ReportContent } from "./content.ts";
import { facts, headline, htmlPage, section } from "./frame.ts";
import { classFilters, classWeights, patchSheet, rowView } from "./looks.ts";
import { mapSection } from "./map-page.ts";
import { escaped } from "./markup.ts";
import { reliabilityChart } from "./reliability-chart.ts";

/** Rows of the table of classes at most; more are listed by their number of rows. */
const TABLE_CLASSES = 120;

/** The page. */
export function reportPage(content: ReportContent): string {
  const sections = [
    headline(content),
    content.judgement ? classTable(content.judgement, content) : "",
    content.judgement?.confusion ? confusion(content.judgement) : "",
    content.judgement?.reliability ? probabilities(content.judgement.reliability) : "",
    content.filters.length > 0 ? filters(content) : "",
    content.weights.length > 0 ? weights(content) : "",
    content.patches.length > 0 ? section("Patches", PATCHES_ABOUT, content.patches.map(patchSheet).join("")) : "",
    content.weights.length > 0
      ? rows("Rows and what decided", PLANE_ROWS_ABOUT, content.samples)
      : rows(
          "Rows and their strongest filters",
          `${ROWS_ABOUT}${content.patches.length > 0 ? WHERE_ABOUT : ""}`,
          content.samples,
        ),
    rows(
      "Mistakes made with most confidence",
      content.weights.length > 0 ? PLANE_MISTAKES_ABOUT : MISTAKES_ABOUT,
      content.mistakes,
    ),
    content.map.length > 0 ? mapSection("Map", mapAbout(content.map.length), content.map) : "",
    content.curves.some(({ steps }) => steps.length > 0) ? training(content) : "",
    work(content),
    parameters(content),
    content.origin.length === 0 ? "" : section("Origin", "", facts(content.origin)),
  ];
  const footer = `Made by ranksim. Model digest ${content.digest}`;
  return htmlPage(content.title, content.subtitle, sections, footer);
}

const mapAbout = (rows: number): string =>
  `${count(rows)} rows laid out in a plane, as the model sees them: rows that are alike lie together. `;

const ROWS_ABOUT =
  "Each row stands with the filters that respond to it most. The activation, above each filter, is its similarity to the row: 1 for the strongest, 0 where it no longer counts. The name is the filter's class.";

const WHERE_ABOUT =
  " The pictures beside a row show where in it the class of the strongest filter was found, and where its strongest rival: the more ink, the stronger.";

const PATCHES_ABOUT =
  "What windows of an image are compared with: each filter is the rank order of the pixels of some windows; the more ink, the higher the rank. How much, and where, each of them is found is what the filters of classes see.";

const MISTAKES_ABOUT = "Wrong predictions, most confident first, with the filters that caused them.";

const PLANE_ROWS_ABOUT = "Each row stands with what spoke most for its class against its rival, the heaviest first.";
const PLANE_MISTAKES_ABOUT = "Wrong predictions, most confident first, with what caused them.";

function classTable({ report }: Judgement, { filtersOf }: ReportContent): string {
  const hasFilters = filtersOf.size > 0;
  const shown =
    report.classes.length <= TABLE_CLASSES
      ? report.classes
      : report.classes.toSorted((a, b) => b.support - a.support).slice(0, TABLE_CLASSES);
  const lines = shown.map((row) => {
    const cells = [score(row.precision), score(row.recall)].map((text) => `<td>${text}</td>`).join("");
    const filtersCell = hasFilters ? `<td>${count(filtersOf.get(String(row.label)) ?? 0)}</td>` : "";
    return `<tr><th scope="row">${escaped(String(row.label))}</th>${cells}<td>${score(row.f1)}</td>${meter(row.f1)}<td>${count(row.support)}</td>${filtersCell}</tr>`;
  });
  const averages = (["macro", "weighted"] as const).map((name) => {
    const { precision, recall, f1 } = report[name];
    return `<tr><th scope="row">${name} mean</th><td>${score(precision)}</td><td>${score(recall)}</td><td>${score(f1)}</td>${meter(f1)}<td></td>${hasFilters ? "<td></td>" : ""}</tr>`;
  });
  const head = ["class", "precision", "recall", "F1", "", "rows", ...(hasFilters ? ["filters"] : [])];
  const more =
    shown.length === report.classes.length
      ? ""
      : `<p class="small">The ${TABLE_CLASSES} classes with most rows, of ${count(report.classes.length)}.</p>`;
  return section(
    "Classes",
    "Precision: of the rows given the class, the share that is right. Recall: of the rows of the class, the share that was found. F1: their harmonic mean.",
    `<div class="scroll"><table><thead><tr>${head.map((text) => (text === "" ? '<td class="meter"></td>' : `<th scope="col">${text}</th>`)).join("")}</tr></thead><tbody>${lines.join("")}</tbody><tfoot>${averages.join("")}</tfoot></table></div>${more}`,
  );
}

const meter = (share: number): string =>
  `<td class="meter" aria-hidden="true"><span><i style="width:${(share * 100).toFixed(1)}%"></i></span></td>`;

/** Pairs of classes listed under the matrix. */
const LISTED_PAIRS = 6;

function confusion({ confusion }: Judgement): string {
  const { classes, counts } = confusion as NonNullable<Judgement["confusion"]>;
  const c = classes.length;
  const found: { truth: number; guess: number; rows: number; share: number }[] = [];
  for (let truth = 0; truth < c; truth++) {
    let support = 0;
    for (let guess = 0; guess < c; guess++) support += counts[truth * c + guess];
    for (let guess = 0; guess < c; guess++) {
      const rows = counts[truth * c + guess];
      if (guess !== truth && rows > 0) found.push({ truth, guess, rows, share: rows / support });
    }
  }
  found.sort((a, b) => b.rows - a.rows || a.truth - b.truth || a.guess - b.guess);
  const list = found
    .slice(0, LISTED_PAIRS)
    .map(
      ({ truth, guess, rows, share }) =>
        `<li><strong>${escaped(String(classes[truth]))}</strong> taken for <strong>${escaped(String(classes[guess]))}</strong>: ${counted(rows, "row")}, ${percent(share)} of the class</li>`,
    )
    .join("");
  const body = `<div class="scroll">${svgOf(confusionChart({ classes, counts }))}</div>${list === "" ? "" : `<p class="small" style="margin:1rem 0 0">Most frequent mistakes</p><ul class="notes small">${list}</ul>`}`;
  return section(
    "Confusion matrix",
    "A line for each true class, a column for each predicted one, shaded by the share of the line. The diagonal is right.",
    body,
  );
}

function probabilities(found: Reliability): string {
  const { before } = found;
  const lines = [
    ["calibration error", before?.calibrationError, found.calibrationError],
    ["log loss", before?.logLoss, found.logLoss],
  ] as const;
  const table = lines
    .filter(([, , value]) => value !== undefined)
    .map(([name, earlier, value]) => {
      const cells = [...(before ? [earlier] : []), value].map((cell) => `<td>${score(cell as number)}</td>`);
      return `<tr><th scope="row">${name}</th>${cells.join("")}</tr>`;
    });
  const head = ["", ...(before ? ["before", "fitted"] : [""])].map((text) => `<th scope="col">${text}</th>`);
  return section(
    "Probabilities",
    `Decisions by the probability they were made with, and how many of them are right: on the diagonal probabilities can be believed.${before ? " They were fitted to held-out rows; hollow dots show them before." : ""}`,
    `<div class="charts"><div class="chart">${svgOf(reliabilityChart(found))}</div><div><table><thead><tr>${head.join("")}</tr></thead><tbody>${table.join("")}</tbody></table></div></div>`,
  );
}

function filters(content: ReportContent): string {
  const named = content.filters.some(({ label }) => label !== undefined);
  const pictured = content.filters.some(({ shown }) => shown.some(({ look }) => look.form === "picture"));
  return section(
    "Filters",
    `A filter is the rank order of the features of some training rows${named ? "; these are the filters of each class that stand for most rows" : ""}. ${pictured ? "The more ink, the higher the rank." : `The ${content.featuresAre}s named are those that rank higher in the filter than in most.`}`,
    `<div class="classes">${content.filters.map(classFilters).join("")}</div>`,
  );
}

function weights(content: ReportContent): string {
  return section(
    "Weights",
    `The model adds up what each ${content.featuresAre} says for a class and against it; these weigh most, the heaviest first.`,
    `<div class="classes">${content.weights.map(classWeights).join("")}</div>`,
  );
}

function rows(title: string, about: string, views: ReportContent["samples"]): string {
  return views.length === 0 ? "" : section(title, about, views.map(rowView).join(""));
}

function training({ curves }: ReportContent): string {
  const resting = curves.filter(({ converged }) => converged).length;
  const iterations = Math.max(...curves.map(({ steps }) => steps.length));
  const ended =
    curves.length === 1
      ? `Spreading ${resting === 1 ? "converged" : "stopped at its maximum of iterations"} after ${counted(iterations, "iteration")}.`
      : `${count(resting)} of ${counted(curves.length, "class", "classes")} converged within ${counted(iterations, "iteration")}. Thin lines are classes, the thick line is all of them.`;
  const isFull = curves.every(({ steps }) => steps.every(({ empty }) => empty === 0));
  const charts = [...(iterations > 1 ? [movedChart(curves)] : []), ...(isFull ? [] : [emptyChart(curves)])].map(
    (chart) => `<div class="chart">${svgOf(chart)}</div>`,
  );
  return section(
    "Training",
    `In each iteration rows go to their strongest filter and filters become the rank order of their rows; filters without a row start again from other rows. ${ended}${isFull ? " No filter was ever without a row." : ""}`,
    `<div class="charts">${charts.join("")}</div>`,
  );
}

function work({ work }: ReportContent): string {
  return work.length === 0 ? "" : section("Time and work", "", facts(work));
}

function parameters({ params }: ReportContent): string {
  const list = Object.entries(params).map(
    ([name, value]): Fact => [name, typeof value === "string" ? value : JSON.stringify(value).slice(0, 400)],
  );
  const items = list.map(([name, value]) => `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd></div>`);
  return list.length === 0 ? "" : section("Parameters", "", `<dl class="params">${items.join("")}</dl>`);
}
