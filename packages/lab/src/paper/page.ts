/** The page: claims with verdicts first, then every table and figure with its plots, all from results at hand. */

import { table } from "../bench/show.ts";
import type { SourceFacts } from "./data.ts";
import { type Claim, type Experiment, type Found, idOf, type Section, type Verdict } from "./experiment.ts";
import { EXPERIMENTS } from "./experiments/all.ts";
import { type DataName, keyOf, type Point } from "./spec.ts";
import type { SessionFacts, Store } from "./store.ts";
import { count } from "./wording.ts";

/** What the session and the store say, for sections to be made from. */
export function foundIn(store: Store, session: SessionFacts | undefined, quick: boolean): Found {
  const source = (name: DataName): SourceFacts | undefined => {
    const facts = session?.data[name];
    return typeof facts === "object" ? facts : undefined;
  };
  return { quick, find: (point) => store.find(point)?.measured, source };
}

/** Draws all experiments; plots and computed numbers go to the store. Returns the page as Markdown. */
export function makePage(store: Store, quick: boolean, plotFolder: string): string {
  const session = store.readSession();
  const found = foundIn(store, session, quick);
  const sections = EXPERIMENTS.map((experiment) => ({ experiment, section: experiment.section(found) }));
  for (const { experiment, section } of sections) {
    for (const { name, svg } of section.plots) store.writeFile(name, svg);
    if (section.numbers !== undefined) store.writeNumbers(experiment, section.numbers);
  }
  const counts = countVerdicts(sections.flatMap(({ section }) => section.claims));
  return [
    "# The paper, reproduced",
    `Every table and figure of K. A. Shapcott and A. D. Bird, "Confusion-based rank similarity filters for computationally-efficient machine learning on high dimensional data", measured with ranksim${quick ? " (a quick run on a few hundred rows: a test of the scripts, not of the claims)" : ""}. The paper's numbers are given as printed. Made by \`npm run paper\`; do not edit.`,
    `\`\`\`sh\nnpm run paper                       # everything that has no result yet, then this page\nnpm run paper -- figure-3c table-1  # some of it\nnpm run paper -- --quick            # everything on a few hundred rows, in minutes\nnpm run paper -- --page             # only this page, from the results at hand\n\`\`\``,
    `The points at hand took ${hours(store, quick)} of processor time in all, most of it that of other classifiers. Points in plots are means of the seeds; the line through a point reaches from the lowest to the highest seed, where there are several and it is larger than the sign. All axes of time are logarithmic. Macro F1 is the unweighted mean over classes, as in the paper.`,
    "## Claims and verdicts",
    `${counts}. A verdict counts only what was measured here. A statement holds in part where one half of it holds, or where it holds on some data, sizes or settings and not on others; the second column says which.`,
    claimTable(sections),
    ...sections.flatMap(({ experiment, section }) => sectionText(experiment, section, store, quick, plotFolder)),
    "## Data and machine",
    ...facts(session),
    `Results: one JSON file for each section in [${plotFolder}](${plotFolder}), every point with its specification, date, commit, and how busy other processes kept the machine.`,
    "",
  ].join("\n\n");
}

/** Processor time of everything that was measured. */
function hours(store: Store, quick: boolean): string {
  const seconds = new Map(
    EXPERIMENTS.flatMap((experiment) => experiment.points(quick)).map((point) => [
      keyOf(point.spec),
      store.find(point)?.measured?.cpu ?? 0,
    ]),
  );
  const minutes = [...seconds.values()].reduce((a, b) => a + b, 0) / 60;
  return minutes < 100 ? `${Math.ceil(minutes)} minutes` : `${(minutes / 60).toFixed(1)} hours`;
}

function countVerdicts(claims: readonly Claim[]): string {
  const of = (verdict: Verdict) => claims.filter((claim) => claim.verdict === verdict).length;
  return `${claims.length} claims: ${of("holds")} hold, ${of("holds in part")} hold in part, ${of("does not hold")} do not hold, ${of("not measured")} not measured`;
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
  store: Store,
  quick: boolean,
  folder: string,
): string[] {
  const points = experiment.points(quick);
  const missing = points.filter((point) => store.find(point)?.measured === undefined);
  return [
    `## ${experiment.title}`,
    ...plots.map(({ name, alt }) => `![${alt}](${folder === "." ? name : `${folder}/${name}`})`),
    text,
    ...(missing.length > 0 ? [missingText(missing, points.length, store)] : []),
    `\`npm run paper -- ${experiment.panels.length > 1 ? experiment.panels[0] : idOf(experiment)}\``,
  ];
}

function missingText(missing: readonly Point[], planned: number, store: Store): string {
  const shown = missing.slice(0, 12).map((point) => {
    const why = store.find(point)?.failure;
    return why === undefined ? point.name : `${point.name} (${why})`;
  });
  const rest = missing.length > shown.length ? ` and ${missing.length - shown.length} more` : "";
  return `**Missing: ${missing.length} of ${planned} points**: ${shown.join("; ")}${rest}.`;
}

function facts(session: SessionFacts | undefined): string[] {
  if (session === undefined) return ["Nothing was measured yet."];
  const { machine, python } = session;
  const rows = Object.entries(session.data).map(([name, source]) =>
    typeof source === "string"
      ? [name, source, "", "", ""]
      : [
          name,
          source.substitute ?? source.title,
          `${count(source.trainRows)} + ${count(source.testRows)}`,
          count(source.features),
          String(source.classes),
        ],
  );
  const peers = python
    ? `; Python ${python.python}, scikit-learn ${python.versions.sklearn}, numpy ${python.versions.numpy}, one thread, OPENBLAS_CORETYPE ${python.coreType} (the fastest of those tried)`
    : "";
  return [
    table(["name", "data set", "rows, train + test", "features", "classes"], rows),
    `Last measured ${session.date.slice(0, 10)}: ${machine.cpu}, ${machine.cores} cores, ${machine.system}, Node ${machine.node}${peers}. Every point is a process of its own on one thread. Times are processor time and do not count waiting for a busy machine, but caches that are shared with other processes make them noisy; compare ratios, not times.`,
  ];
}
