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
    const lines: string[] = [];
    const family = (name: string, type: string, about: string, samples: readonly string[]) => {
      lines.push(`# HELP ${name} ${about}`, `# TYPE ${name} ${type}`, ...samples);
    };
    const all = [...models];
    const per = (name: string, value: (counts: ModelCounts) => number) =>
      all.map((model) => `${name}{model="${quoted(model.name)}"} ${value(this.#of(model.name))}`);
    family(
      "ranksim_requests_total",
      "counter",
      "Requests answered, by route and status.",
      [...this.#requests].map(([labels, count]) => `ranksim_requests_total{${labels}} ${count}`),
    );
    let sum = 0;
    const buckets = BUCKETS.map((end, j) => {
      sum += this.#buckets[j];
      return `ranksim_request_seconds_bucket{le="${end}"} ${sum}`;
    });
    const count = sum + this.#buckets[BUCKETS.length];
    family("ranksim_request_seconds", "histogram", "Time from the first byte of a request to its answer.", [
      ...buckets,
      `ranksim_request_seconds_bucket{le="+Inf"} ${count}`,
      `ranksim_request_seconds_sum ${this.#seconds}`,
      `ranksim_request_seconds_count ${count}`,
    ]);
    family("ranksim_requests_in_flight", "gauge", "Requests that are read, wait or are worked on.", [
      `ranksim_requests_in_flight ${inFlight}`,
    ]);
    const queue = (name: string, value: (model: ServedModel) => number) =>
      all.map((model) => `${name}{model="${quoted(model.name)}"} ${value(model)}`);
    family(
      "ranksim_waiting_rows",
      "gauge",
      "Rows that wait for a search.",
      queue("ranksim_waiting_rows", ({ batcher }) => batcher.waitingRows),
    );
    family(
      "ranksim_searches_total",
      "counter",
      "Searches of the present version; rows of several requests share one.",
      queue("ranksim_searches_total", ({ batcher }) => batcher.searches),
    );
    family(
      "ranksim_rows_total",
      "counter",
      "Rows answered.",
      per("ranksim_rows_total", ({ rows }) => rows),
    );
    const byLabel = (name: string, value: (times: number, counts: ModelCounts) => number) =>
      all.flatMap((model) => {
        const counts = this.#of(model.name);
        return [...counts.byLabel].map(([label, times]) => labelled(name, model, label, value(times, counts)));
      });
    family(
      "ranksim_labels_total",
      "counter",
      "Labels given, by label.",
      byLabel("ranksim_labels_total", (times) => times),
    );
    family(
      "ranksim_label_share",
      "gauge",
      "Share of the rows since the start that were given a label.",
      byLabel("ranksim_label_share", (times, { rows }) => times / rows),
    );
    family(
      "ranksim_training_label_share",
      "gauge",
      "Share of the training rows that have a label: what the shares of a model that meets rows like these are near to.",
      all.flatMap((model) =>
        model.trainingShares.map(([label, share]) => labelled("ranksim_training_label_share", model, label, share)),
      ),
    );
    family(
      "ranksim_weighed_rows_total",
      "counter",
      "Rows whose probabilities are known: all that were asked for, and a sample of the others.",
      per("ranksim_weighed_rows_total", ({ weighed }) => weighed),
    );
    family(
      "ranksim_unsure_rows_total",
      "counter",
      `Rows of these whose largest probability is below ${UNSURE}.`,
      per("ranksim_unsure_rows_total", ({ unsure }) => unsure),
    );
    family(
      "ranksim_unsure_share",
      "gauge",
      "Share of these rows since the start.",
      per("ranksim_unsure_share", ({ unsure, weighed }) => (weighed === 0 ? 0 : unsure / weighed)),
    );
    family(
      "ranksim_model_swaps_total",
      "counter",
      "Changed model files that took the place of the old.",
      per("ranksim_model_swaps_total", ({ swaps }) => swaps),
    );
    family(
      "ranksim_model_refusals_total",
      "counter",
      "Changed model files that were refused.",
      per("ranksim_model_refusals_total", ({ refused }) => refused),
    );
    family(
      "ranksim_model_info",
      "gauge",
      "The version of each model.",
      all.map(
        ({ name, version, model }) =>
          `ranksim_model_info{model="${quoted(name)}",version="${version}",kind="${model.kind}"} 1`,
      ),
    );
    family("process_resident_memory_bytes", "gauge", "Memory of the process.", [
      `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
    ]);
    return `${lines.join("\n")}\n`;
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

const labelled = (metric: string, { name }: ServedModel, label: Label, value: number): string =>
  `${metric}{model="${quoted(name)}",label="${quoted(String(label))}"} ${value}`;

const quoted = (text: string): string => text.replace(/[\\"\n]/g, (c) => (c === "\n" ? "\\n" : `\\${c}`));
