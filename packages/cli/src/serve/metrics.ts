/** Figures in Prometheus' text format: requests, times, queue, and per model what it answers, so that drift shows. */

import type { Label } from "@ranksim/core";
import type { Answers, ServedModel } from "./served-model.ts";

/** Upper ends of the buckets of times, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A row whose largest probability is below this is unsure. */
const UNSURE = 0.5;

/**
 * Milliseconds between two requests whose probabilities are computed for the metrics alone: with few requests all of
 * them are; with thousands the cost is negligible.
 */
const SAMPLE_MS = 100;

/** What one model has answered since the start, whatever its version. */
class ModelCounts {
  rows = 0;
  /** Rows whose probabilities are known, and those of them that were unsure. */
  weighed = 0;
  unsure = 0;
  sampledAt = Number.NEGATIVE_INFINITY;
  readonly byLabel = new Map<Label, number>();
  swaps = 0;
  refused = 0;
}

/** Counts of one server. */
export class Metrics {
  readonly #requests = new Map<string, number>();
  readonly #buckets = new Float64Array(BUCKETS.length + 1);
  #seconds = 0;
  readonly #models = new Map<string, ModelCounts>();

  /** A request was answered. */
  request(route: string, status: number, seconds: number): void {
    const key = `route="${route}",status="${status}"`;
    this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
    let bucket = 0;
    while (bucket < BUCKETS.length && seconds > BUCKETS[bucket]) bucket++;
    this.#buckets[bucket]++;
    this.#seconds += seconds;
  }

  /** Whether the rows of this request are to be weighed though it does not ask for probabilities. */
  samples({ name }: ServedModel, now = performance.now()): boolean {
    const counts = this.#of(name);
    if (now - counts.sampledAt < SAMPLE_MS) return false;
    counts.sampledAt = now;
    return true;
  }

  /** Rows were answered. */
  answered(model: ServedModel, rows: number, answers: Answers): void {
    const counts = this.#of(model.name);
    counts.rows += rows;
    for (const label of answers.labels) {
      for (const one of typeof label === "object" ? label : [label]) {
        counts.byLabel.set(one, (counts.byLabel.get(one) ?? 0) + 1);
      }
    }
    this.weighed(model, answers);
  }

  /** Probabilities of rows became known. */
  weighed({ name, classes }: ServedModel, { probabilities }: Answers): void {
    if (!probabilities) return;
    const counts = this.#of(name);
    const c = classes.length;
    for (let at = 0; at < probabilities.length; at += c) {
      let largest = 0;
      for (let j = at; j < at + c; j++) if (probabilities[j] > largest) largest = probabilities[j];
      counts.weighed++;
      if (largest < UNSURE) counts.unsure++;
    }
  }

  /** A changed file took the place of the old one. */
  swapped(name: string): void {
    this.#of(name).swaps++;
  }

  /** A changed file was refused. */
  refused(name: string): void {
    this.#of(name).refused++;
  }

  /** All figures as text. */
  text(inFlight: number, models: Iterable<ServedModel>): string {
    const all = [...models];
    const versions = all.map(
      ({ name, version, model }) => `{model="${quoted(name)}",version="${version}",kind="${model.kind}"} 1`,
    );
    const figures: Figure[] = [
      ...this.#ofServer(inFlight),
      ...MODEL_FIGURES.map((figure) => this.#ofModels(figure, all)),
      ["ranksim_model_info", "gauge", "The version of each model.", versions],
    ];
    return figures
      .map(([name, type, about, samples]) =>
        [`# HELP ${name} ${about}`, `# TYPE ${name} ${type}`, ...samples.map((sample) => `${name}${sample}`)]
          .map((line) => `${line}\n`)
          .join(""),
      )
      .join("");
  }

  #ofServer(inFlight: number): Figure[] {
    let sum = 0;
    const buckets = BUCKETS.map((end, j) => {
      sum += this.#buckets[j];
      return `_bucket{le="${end}"} ${sum}`;
    });
    const count = sum + this.#buckets[BUCKETS.length];
    const rest = [`_bucket{le="+Inf"} ${count}`, `_sum ${this.#seconds}`, `_count ${count}`];
    const requests = [...this.#requests].map(([labels, times]) => `{${labels}} ${times}`);
    const about = "Time from the first byte of a request to its answer.";
    const memory = ` ${process.memoryUsage.rss()}`;
    return [
      ["ranksim_requests_total", "counter", "Requests answered, by route and status.", requests],
      ["ranksim_request_seconds", "histogram", about, [...buckets, ...rest]],
      ["ranksim_requests_in_flight", "gauge", "Requests that are read, wait or are worked on.", [` ${inFlight}`]],
      ["process_resident_memory_bytes", "gauge", "Memory of the process.", [memory]],
    ];
  }

  #ofModels([name, type, about, value]: ModelFigure, models: readonly ServedModel[]): Figure {
    const samples = models.flatMap((model) => {
      const found = value(model, this.#of(model.name));
      const label = `model="${quoted(model.name)}"`;
      if (typeof found === "number") return [`{${label}} ${found}`];
      return labelled(model, found).map(([one, number]) => `{${label},label="${quoted(one)}"} ${number}`);
    });
    return [name, type, about, samples];
  }

  #of(name: string): ModelCounts {
    let counts = this.#models.get(name);
    if (!counts) {
      counts = new ModelCounts();
      this.#models.set(name, counts);
    }
    return counts;
  }
}

/** A figure: its name, type, what it says, and its samples without the name. */
type Figure = readonly [name: string, type: string, about: string, samples: readonly string[]];

/** A figure of each model: a number, or one for each label. */
type ModelFigure = readonly [
  name: string,
  type: "counter" | "gauge",
  about: string,
  value: (model: ServedModel, counts: ModelCounts) => number | Iterable<readonly [label: Label, number: number]>,
];

const shares = ({ byLabel, rows }: ModelCounts) => [...byLabel].map(([label, times]) => [label, times / rows] as const);

const MODEL_FIGURES: readonly ModelFigure[] = [
  ["ranksim_waiting_rows", "gauge", "Rows that wait for a search.", ({ batcher }) => batcher.waitingRows],
  [
    ...(["ranksim_searches_total", "counter"] as const),
    "Searches of the present version; rows of several requests share one.",
    ({ batcher }) => batcher.searches,
  ],
  ["ranksim_rows_total", "counter", "Rows answered.", (_, { rows }) => rows],
  ["ranksim_labels_total", "counter", "Labels given, by label.", (_, { byLabel }) => byLabel],
  [
    ...(["ranksim_label_share", "gauge"] as const),
    "Share of the rows since the start that were given a label.",
    (_, counts) => shares(counts),
  ],
  [
    ...(["ranksim_training_label_share", "gauge"] as const),
    "Share of the training rows that have a label: what the shares of a model that meets rows like these are near to.",
    ({ trainingShares }) => trainingShares,
  ],
  [
    ...(["ranksim_weighed_rows_total", "counter"] as const),
    "Rows whose probabilities are known: all that were asked for, and a sample of the others.",
    (_, { weighed }) => weighed,
  ],
  [
    ...(["ranksim_unsure_rows_total", "counter"] as const),
    `Rows of these whose largest probability is below ${UNSURE}.`,
    (_, { unsure }) => unsure,
  ],
  [
    ...(["ranksim_unsure_share", "gauge"] as const),
    "Share of these rows since the start.",
    (_, { unsure, weighed }) => (weighed === 0 ? 0 : unsure / weighed),
  ],
  [
    "ranksim_model_swaps_total",
    "counter",
    "Changed model files that took the place of the old.",
    (_, { swaps }) => swaps,
  ],
  ["ranksim_model_refusals_total", "counter", "Changed model files that were refused.", (_, { refused }) => refused],
];

/**
 * Numbers by label. Of a class 1 and a class "1" of one model the text is written with its quotes; labels that were of
 * different types in two versions of a model count as one.
 */
function labelled(
  { classes }: ServedModel,
  numbers: Iterable<readonly [label: Label, number: number]>,
): [label: string, number: number][] {
  const spellings = new Set(classes.filter((label) => typeof label !== "string").map(String));
  const sums = new Map<string, number>();
  for (const [label, number] of numbers) {
    const spelling = typeof label === "string" && spellings.has(label) ? JSON.stringify(label) : String(label);
    sums.set(spelling, (sums.get(spelling) ?? 0) + number);
  }
  return [...sums];
}

const quoted = (text: string): string => text.replace(/[\\"\n]/g, (c) => (c === "\n" ? "\\n" : `\\${c}`));
