/** The results as Markdown: one short table for the front page, all of them for the lab's. Nothing here measures. */

import { checkMemory, FORMULA } from "./memory.ts";
import { KERNEL_TITLES, SYSTEMS, WORKS } from "./plan.ts";
import {
  type BenchResults,
  figures,
  type KernelRate,
  median,
  type PhaseName,
  type RunResult,
  runsOf,
} from "./results.ts";
import { megabytes, number, percent, spread, table } from "./show.ts";
import { judge } from "./targets.ts";

const PHASES: readonly PhaseName[] = ["fit", "predict", "probabilities", "transform"];

/** The front page's table: this project beside the authors' package, one row for each piece of work. */
export function frontPage(results: BenchResults): string {
  const rows: string[][] = [];
  const line = (title: string, work: string, ...phases: PhaseName[]) => {
    const seconds = (system: string) =>
      figures(runsOf(results, work, system), (run) =>
        phases.every((name) => run.phases[name]) ? phases.reduce((sum, name) => sum + cpuOf(run, name), 0) : undefined,
      );
    const [ours, theirs] = [seconds("ranksim"), seconds("authors")];
    rows.push([title, spread(theirs), spread(ours), ratio(theirs, ours)]);
  };
  line("classifier, fit 60,000 images", "classifier", "fit");
  line("classifier, predict 10,000", "classifier", "predict");
  line("probabilistic classifier, fit 60,000", "probabilistic", "fit");
  line("probabilistic classifier, predict 10,000", "probabilistic", "predict");
  line("transform 10,000", "transform", "transform");
  line("classifier, 101,631 words: fit 11,314 posts, predict 7,532", "newsgroups", "fit", "predict");
  return [
    `Processor seconds on one core, median (range) of runs taken in turns; ${machineLine(results)}. [All tables](packages/lab/README.md).`,
    table(["work", "authors' Python package", "ranksim", "ratio"], rows),
  ].join("\n\n");
}

/** All tables. */
export function allTables(results: BenchResults): string {
  return [
    `Measured ${results.date.slice(0, 10)} at commit ${results.commit}, in one go of ${results.seconds} s. ${machineLine(results)}.`,
    "### Targets",
    table(
      ["target", "wanted", "measured", "verdict"],
      judge(results).map(({ target, wanted, measured, verdict }) => [
        target,
        wanted,
        measured,
        verdict === "missed" ? `**${verdict}**` : verdict,
      ]),
    ),
    ...Object.keys(WORKS).flatMap((work) => workTable(results, work)),
    ...kernelTable(results),
    ...startUpTable(results),
    ...growthTable(results),
    ...memoryTable(results),
    ...missingTable(results),
  ].join("\n\n");
}

function cpuOf(run: RunResult, name: PhaseName): number {
  return run.phases[name]?.cpu ?? 0;
}

function ratio(theirs: readonly number[], ours: readonly number[]): string {
  const [a, b] = [median(theirs), median(ours)];
  return a === undefined || b === undefined ? "–" : `${number(a / b)}×`;
}

function machineLine({ machine, python }: BenchResults): string {
  const blas = python && `, OpenBLAS ${python.coreType === "unset" ? "as it comes" : `as ${python.coreType}`}`;
  const versions =
    python &&
    `; Python ${python.python}, numpy ${python.versions.numpy}, scikit-learn ${python.versions.sklearn}${blas}`;
  return `${machine.cpu}, ${machine.cores} cores, ${machine.system}, Node ${machine.node}${versions ?? ""}`;
}

/** One piece of work: processor seconds of each phase, the clock where threads are compared, score and memory. */
function workTable(results: BenchResults, work: string): string[] {
  const measurements = results.measurements.filter((m) => m.work === work);
  if (measurements.length === 0) return [];
  const clock = measurements.some(({ system }) => system === "ranksim-2");
  const rows = measurements.map(({ system, runs, failure }) => [
    SYSTEMS[system] ?? system,
    ...PHASES.map((name) => spread(figures(runs, ({ phases }) => phases[name]?.cpu))),
    clock ? spread(figures(runs, ({ phases }) => phases.fit?.wall)) : "–",
    spread(
      figures(runs, ({ scores }) => scores.macroF1),
      (value) => value.toFixed(4),
    ),
    spread(
      figures(runs, ({ peak }) => peak.fit),
      megabytes,
    ),
    spread(
      figures(runs, ({ peak }) => Math.max(...Object.values(peak))),
      megabytes,
    ),
    spread(
      figures(runs, ({ facts }) => numeric(facts.pruned)),
      percent,
    ),
    String(runs.length),
    failure ?? "–",
  ]);
  const header = [
    "system",
    ...PHASES.map((name) => `${name}, s`),
    "fit on the clock, s",
    "macro F1",
    "peak in fit, MB",
    "peak, MB",
    "pruned in fit",
    "runs",
    "failed",
  ];
  return [`### ${WORKS[work]}`, table(header, rows)];
}

const numeric = (fact: unknown) => (typeof fact === "number" ? fact : undefined);

function kernelTable({ kernels, python }: BenchResults): string[] {
  if (kernels.length === 0) return [];
  const peak = python?.rates[python.coreType];
  const rate = (kernel: KernelRate, each: number) =>
    kernel.cpu.map((cpu) => (kernel.rows * kernel.filters * each) / cpu);
  const rows = kernels.map((kernel) => {
    const adds = rate(kernel, kernel.features);
    const share = median(adds);
    return [
      KERNEL_TITLES[kernel.kernel] ?? kernel.kernel,
      String(kernel.k),
      kernel.rows.toLocaleString("en-US"),
      spread(rate(kernel, 1), (value) => number(value / 1e6)),
      spread(adds, (value) => number(value / 1e9)),
      peak === undefined || share === undefined ? "–" : `${number(share / peak)}×`,
      kernel.pruned === 0 ? "–" : percent(kernel.pruned),
      kernel.failure ?? "–",
    ];
  });
  const header = [
    "kernel",
    "k",
    "rows",
    "10⁶ pairs/s",
    "effective 10⁹ multiply-adds/s",
    "against sgemm",
    "pruned",
    "failed",
  ];
  const text =
    peak === undefined
      ? []
      : [
          `The machine's peak by numpy's float32 matrix product, one thread: ${number(peak / 1e9)} · 10⁹ multiply-adds/s.`,
        ];
  return ["### Search kernels: the strongest filters of Fashion-MNIST test rows", ...text, table(header, rows)];
}

function startUpTable({ startUp }: BenchResults): string[] {
  if (startUp.length === 0) return [];
  const of = (figure: (start: (typeof startUp)[number]) => number) => spread(startUp.map(figure));
  const rows = [
    ["Node's own start, before the first line", of(({ engine }) => engine)],
    ["until the library is imported", of(({ imported }) => imported)],
    ["until the model is loaded", of(({ loaded }) => loaded)],
    ["until the first prediction", of(({ predicted }) => predicted)],
    ["the same with Node's own start", of(({ engine, predicted }) => engine + predicted)],
    ["processor time until the first prediction", of(({ cpu }) => cpu)],
  ];
  return [
    "### Start-up with the saved classifier of Fashion-MNIST",
    table(["from the first line of the program", "ms"], rows),
  ];
}

function growthTable({ growth }: BenchResults): string[] {
  if (growth.length === 0) return [];
  const rows = growth.map(({ axis, rows, features, filters, runs, failure }) => [
    axis,
    rows.toLocaleString("en-US"),
    features.toLocaleString("en-US"),
    filters.toLocaleString("en-US"),
    spread(figures(runs, ({ phases }) => phases.fit?.cpu)),
    spread(figures(runs, ({ phases }) => phases.fit && (phases.fit.cpu / rows) * 1e6)),
    spread(
      figures(runs, ({ facts }) => numeric(facts.pruned)),
      percent,
    ),
    spread(
      figures(runs, ({ peak }) => peak.fit),
      megabytes,
    ),
    failure ?? "–",
  ]);
  const header = [
    "along",
    "rows N",
    "features n",
    "filters m",
    "fit, s",
    "fit, µs per row",
    "pruned",
    "peak, MB",
    "failed",
  ];
  return [
    "### Growth on synthetic bytes",
    "Classifier of 10 classes, five iterations, one thread.",
    ...["rows", "features", "filters"].map((axis) => `![Fit time against ${axis}](results/growth-${axis}.svg)`),
    table(header, rows),
  ];
}

function memoryTable(results: BenchResults): string[] {
  const checks = checkMemory(results);
  if (checks.length === 0) return [];
  const rows = checks.map(({ name, rows, features, filters, measured, bound }) => [
    name,
    ...[rows, features, filters].map((size) => size.toLocaleString("en-US")),
    megabytes(measured),
    megabytes(bound),
  ]);
  const header = ["training", "rows N", "features n", "filters m", "peak, MB", "bound, MB"];
  return [
    "### Memory",
    `Peak of a process that reads, trains and predicts, one thread, within ${FORMULA}.`,
    table(header, rows),
  ];
}

function missingTable({ missing }: BenchResults): string[] {
  if (missing.length === 0) return [];
  return [
    "### Not measured",
    table(
      ["what", "why"],
      missing.map(({ name, why }) => [name, why]),
    ),
  ];
}
