/** The page: claims with verdicts, then every table and figure with its plots, all from results at hand. */

import type { DataName, SourceFacts } from "../runner/data.ts";
import { withPart } from "../runner/page.ts";
import { keyOf, type Results, type RowName } from "../runner/results.ts";
import { table } from "../runner/show.ts";
import { type Claim, type Experiment, type Found, idOf, type Section, type Verdict } from "./experiment.ts";
import { EXPERIMENTS } from "./experiments/all.ts";
import { measuredOf, type Point } from "./spec.ts";
import { count } from "./wording.ts";

/** The data sets that stand behind names are a table of their own. */
export const DATA_TABLE = "data";
export const DATA_NAMES: readonly DataName[] = ["fashion", "kuzushiji", "newsgroups", "newsgroups-counts", "rcv1"];
export const dataRow = (name: DataName): RowName => ({ name, spec: { data: name } });

/** What results say, for sections to be made from. */
export function foundIn(results: Results, quick: boolean): Found {
  return {
    quick,
    find: (point) => {
      const row = results.find(point);
      return row === undefined || row.runs === 0 ? undefined : measuredOf(row);
    },
    source: (name) => sourceIn(results, name),
  };
}

function sourceIn(results: Results, name: DataName): SourceFacts | undefined {
  const row = results.find(dataRow(name));
  return row && row.runs > 0 ? ({ ...row.figures, ...row.facts } as unknown as SourceFacts) : undefined;
}

/** The parts of the page by the names of their marks, and the plots by the names of their files. */
export function makeParts(results: Results, quick: boolean, plotFolder: string) {
  const found = foundIn(results, quick);
  const sections = EXPERIMENTS.map((experiment) => ({ experiment, section: experiment.section(found) }));
  return {
    parts: {
      claims: `${countVerdicts(sections.flatMap(({ section }) => section.claims))}. The points at hand took ${hours(results, quick)} of processor time in all.\n\n${claimTable(sections)}`,
      figures: sections
        .flatMap(({ experiment, section }) => sectionText(experiment, section, results, quick, plotFolder))
        .join("\n\n"),
      data: dataText(results),
    },
    plots: sections.flatMap(({ section }) => section.plots),
  };
}

/** The page with all its parts made from results. */
export function withParts(page: string, parts: { readonly [name: string]: string }): string {
  return Object.entries(parts).reduce((text, [name, part]) => withPart(text, name, part), page);
}

/** Processor time of everything that was measured. */
function hours(results: Results, quick: boolean): string {
  const points = EXPERIMENTS.flatMap((experiment) => experiment.points(quick));
  const seconds = new Map(points.map((point) => [keyOf(point), foundIn(results, quick).find(point)?.cpu ?? 0]));
  const minutes = [...seconds.values()].reduce((a, b) => a + b, 0) / 60;
  return minutes < 100 ? `${Math.ceil(minutes)} minutes` : `${(minutes / 60).toFixed(1)} hours`;
}

function countVerdicts(claims: readonly Claim[]): string {
  const of = (verdict: Verdict) => claims.filter((claim) => claim.verdict === verdict).length;
  return `${claims.length} claims: ${of("holds")} hold, ${of("holds on a substitute")} on a substitute, ${of("holds in part")} hold in part, ${of("differs")} differ, ${of("does not hold")} do not hold, ${of("not measured")} not measured`;
}

function claimTable(sections: readonly { experiment: Experiment; section: Section }[]): string {
  const rows = sections.flatMap(({ experiment, section }) =>
    section.claims.map(({ paper, ours, verdict }) => [
      paper,
      ours,
      verdict === "holds" ? verdict : `**${verdict}**`,
      `\`npm run paper -- ${experiment.panels[0]}\``,
    ]),
  );
  const text = table(["the paper says", "measured", "verdict", "command"], rows);
  return text.replace(/\| ---: \|.*\n/, "| --- | --- | --- |\n");
}

function sectionText(
  experiment: Experiment,
  { text, plots }: Section,
  results: Results,
  quick: boolean,
  folder: string,
): string[] {
  const points = experiment.points(quick);
  const missing = points.filter((point) => (results.find(point)?.runs ?? 0) === 0);
  return [
    `## ${experiment.title}`,
    ...plots.map(({ name, alt }) => `![${alt}](${folder}/${name})`),
    text,
    ...(missing.length > 0 ? [missingText(missing, points.length, results)] : []),
    `\`npm run paper -- ${experiment.panels.length > 1 ? experiment.panels[0] : idOf(experiment)}\``,
  ];
}

function missingText(missing: readonly Point[], planned: number, results: Results): string {
  const shown = missing.slice(0, 12).map((point) => {
    const why = results.find(point)?.failure;
    return why === undefined ? point.name : `${point.name} (${why})`;
  });
  const rest = missing.length > shown.length ? ` and ${missing.length - shown.length} more` : "";
  return `**Missing: ${missing.length} of ${planned} points**: ${shown.join("; ")}${rest}.`;
}

function dataText(results: Results): string {
  const rows = DATA_NAMES.flatMap((name) => {
    const source = sourceIn(results, name);
    if (source === undefined) return [];
    const size = `${count(source.trainRows)} + ${count(source.testRows)}`;
    return [[name, source.substitute ?? source.title, size, count(source.features), String(source.classes)]];
  });
  const machines = EXPERIMENTS.flatMap((experiment) => results.machine(idOf(experiment)) ?? []);
  return [
    table(["name", "data set", "rows, train + test", "features", "classes"], rows),
    `Measured on ${[...new Set(machines)].join("; ") || "no machine yet"}. Results: one JSON file for each section in [results/paper](results/paper), every point with its specification and commit.`,
  ].join("\n\n");
}
