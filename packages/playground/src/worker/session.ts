/**
 * What the worker holds between calls (a data set, a model, the rows it was judged on, a run) and the calls themselves. All
 * work of the library happens here, so the page never waits for it.
 */

import {
  type Backend,
  expandFilter,
  type Label,
  openBackend,
  RankSimilarityClassifier,
  RanksimError,
} from "@ranksim/core";
import { loadDigits } from "@ranksim/data";
import type {
  Basis,
  CallName,
  Calls,
  Explanation,
  ImageSize,
  ModelSummary,
  Pace,
  PlainFilters,
  Recipe,
  RowView,
  TrainingStep,
} from "../protocol.ts";
import {
  allRows,
  imageSizeOf,
  type LoadedData,
  loadedData,
  namesOf,
  rangeOf,
  splitRows,
  summarize,
  viewRow,
} from "./data.ts";
import { Doubt } from "./doubt.ts";
import { type Judged, judge, mistakesOf } from "./evaluation.ts";
import { fit } from "./fitting.ts";
import { Gate } from "./gate.ts";
import { studyFeatures } from "./study.ts";
import { Subject, type SubjectParts } from "./subject.ts";
import { taughtData } from "./taught.ts";
import type { TrainingRun } from "./training.ts";

/** The calls, each as a method of its name. */
type Answers = { [K in CallName]: (argument: Calls[K]["in"]) => Calls[K]["out"] | Promise<Calls[K]["out"]> };

/** Each number of the digits counts the ink in 4 × 4 pixels of a drawing. */
const DIGIT_BLOCKS = 4;

const STOPPED = new DOMException("The run was stopped.", "AbortError");

export class Session implements Answers {
  readonly #tell: (step: TrainingStep) => void;
  #backend: Promise<Backend> | undefined;
  #data: LoadedData | undefined;
  #subject: Subject | undefined;
  #judged: Judged | undefined;
  #doubt: Doubt | undefined;
  /** Ends what is trained beside what is shown. */
  #background: AbortController | undefined;
  /** Rows held out by the run that made the model; absent for a model from a file. */
  #heldOut: Uint32Array | undefined;
  #run: { readonly gate: Gate; readonly stop: AbortController; readonly ended: Promise<unknown> } | undefined;

  /** `tell` is called while a model trains. */
  constructor(tell: (step: TrainingStep) => void) {
    this.#tell = tell;
  }

  async openDigits(): Promise<Calls["openDigits"]["out"]> {
    const { x, y, imageSize } = await loadDigits();
    const data = loadedData("digits", { form: "matrix", x, y, imageSize }, { inkBlocks: DIGIT_BLOCKS });
    this.#hold(data);
    return { data: summarize(data), fits: this.#subject !== undefined };
  }

  async openFiles({ files, choices }: Calls["openFiles"]["in"]): Promise<Calls["openFiles"]["out"]> {
    const { readDropped } = await import("./reading.ts");
    const read = await readDropped(files, choices);
    let opened: Subject | undefined;
    if (read.model) {
      const { openPipeline } = await import("./pipeline.ts");
      const { model, name } = read.model;
      opened = new Subject(openPipeline(model, { name, origin: "file", history: [] }));
      if (read.data && !opened.takes(read.data.set)) {
        throw new RanksimError("wrong-width", `${read.model.name} does not take the rows of ${read.data.name}`);
      }
    }
    const said = { choices: read.choices, ...(read.refused ? { refused: read.refused } : {}) };
    // Only what could be read takes the place of what was there.
    if (read.data) this.#hold(read.data);
    if (opened) this.#look(opened, undefined);
    return {
      ...(read.data ? { data: summarize(read.data) } : {}),
      ...(opened ? { model: opened.summary() } : {}),
      fits: this.#data !== undefined && this.#subject !== undefined,
      ...said,
    };
  }

  heldOutRows({ recipe }: { recipe: Recipe }): Uint32Array {
    return splitRows(this.#needData(), recipe).test;
  }

  async train({ recipe, pace }: { recipe: Recipe; pace: Pace }): Promise<ModelSummary> {
    while (this.#run) {
      this.stop();
      await this.#run.ended;
    }
    const data = this.#needData();
    const gate = new Gate(pace);
    const stop = new AbortController();
    const rows = splitRows(data, recipe);
    const work = this.#fit(data, recipe, rows, { gate, signal: stop.signal, tell: this.#tell });
    this.#run = { gate, stop, ended: work.catch(() => undefined) };
    try {
      const parts = await work;
      // Other data may have arrived in the very moment the run ended.
      if (data !== this.#data) throw STOPPED;
      const subject = new Subject(parts);
      if (parts.imageSize) this.#data = atSize(data, parts.imageSize);
      this.#look(subject, rows.test);
      return subject.summary();
    } finally {
      gate.close();
      this.#run = undefined;
    }
  }

  async teach({ lesson, recipe }: Calls["teach"]["in"]): Promise<Calls["teach"]["out"]> {
    const began = performance.now();
    this.#background?.abort(STOPPED);
    const data = taughtData(lesson);
    this.#hold(data);
    if (data.classes.length < 2) return { data: summarize(data), milliseconds: performance.now() - began };
    const model = await this.train({ recipe, pace: "full" });
    await this.#learnDoubt(this.#needSubject(), data, undefined);
    return { data: summarize(data), model, milliseconds: performance.now() - began };
  }

  async plainFilters(): Promise<PlainFilters> {
    const { set, y = [] } = this.#needData();
    if (set.form !== "matrix") throw new RanksimError("unsupported", "A page of its own takes pictures.");
    const model = await new RankSimilarityClassifier().fit(set.x, y as readonly Label[], {
      backend: await this.#open(),
    });
    const { bank, filterClass } = model;
    const weights = new Float32Array(bank.filters * bank.features);
    const own = new Float64Array(bank.features);
    for (let f = 0; f < bank.filters; f++) {
      expandFilter(bank, f, own);
      weights.set(
        own.map((weight) => weight / bank.norm[f]),
        f * bank.features,
      );
    }
    return { weights, classes: Array.from(filterClass, (c) => String(model.classes[c])) };
  }

  async onnx(): Promise<Uint8Array<ArrayBuffer>> {
    const { exportOnnx } = await import("@ranksim/export");
    return exportOnnx(this.#needSubject().parts.whole).slice();
  }

  go({ pace }: { pace: Pace }): null {
    this.#run?.gate.go(pace);
    return null;
  }

  stop(): null {
    this.#run?.stop.abort(STOPPED);
    this.#run?.gate.go("full");
    return null;
  }

  rows({ rows }: { rows: readonly number[] }): RowView[] {
    const data = this.#needData();
    return rows.filter((row) => row >= 0 && row < data.rows).map((row) => viewRow(data, row));
  }

  async explain({ sample }: Calls["explain"]["in"]): Promise<Calls["explain"]["out"]> {
    const subject = this.#needSubject();
    const explanation = await subject.explain(sample, await this.#open());
    return subject === this.#subject && sample.form === "dense"
      ? this.#weighed(explanation, sample.values)
      : explanation;
  }

  async evaluate(): Promise<Calls["evaluate"]["out"]> {
    const subject = this.#needSubject();
    const data = this.#data;
    if (!data) return null;
    const rows = this.#heldOut ?? allRows(data);
    const judged = this.#judged ?? (await this.#judge(subject, data, rows));
    // Another model may have taken this one's place meanwhile.
    if (subject === this.#subject && judged !== this.#judged) {
      this.#judged = judged;
      await this.#learnDoubt(subject, data, judged);
    }
    return structuredClone(judged?.evaluation) ?? null;
  }

  async mistakes(cell: Calls["mistakes"]["in"]): Promise<Calls["mistakes"]["out"]> {
    if (!this.#judged) await this.evaluate();
    if (!this.#judged) return { total: 0, shown: [] };
    return mistakesOf(this.#needSubject(), this.#needData(), this.#judged, cell, await this.#open());
  }

  wall({ most }: Calls["wall"]["in"]): Calls["wall"]["out"] {
    return this.#needSubject().wall(most);
  }

  gallery({ group, from, count }: Calls["gallery"]["in"]): Calls["gallery"]["out"] {
    const subject = this.#needSubject();
    return Array.from(subject.groups()[group]?.subarray(from, from + count) ?? [], (filter) => subject.view(filter));
  }

  filter({ filter, rows }: Calls["filter"]["in"]): Calls["filter"]["out"] {
    const subject = this.#needSubject();
    const { filters } = subject.filters.bank;
    if (!(filter >= 0 && filter < filters)) {
      throw new RanksimError("bad-params", `expected a filter from 0 below ${filters}, found ${filter}`);
    }
    const members = this.#data ? subject.membersOf(filter).slice(0, rows) : [];
    return { view: subject.view(filter), rows: this.rows({ rows: members }) };
  }

  async study({ group, features }: Calls["study"]["in"]): Promise<Calls["study"]["out"]> {
    const data = this.#needData();
    const { set } = data;
    const x = set.form === "matrix" ? set.x : await this.#needSubject().parts.prepare(set);
    const label = data.classes[group];
    const all = Array.from({ length: data.rows }, (_, row) => row);
    const has = (row: number) => [data.y?.[row]].flat().includes(label);
    const study = studyFeatures(x, group < 0 ? all : all.filter(has), features, rangeOf(x).whole);
    const names = set.form === "matrix" ? set.featureNames : this.#subject?.featureNames;
    return names ? { ...study, names: Array.from(study.features, (feature) => names[feature]) } : study;
  }

  async patches({ sample }: Calls["patches"]["in"]): Promise<Calls["patches"]["out"]> {
    return this.#needSubject().foundPatches(sample, await this.#open());
  }

  async spikes({ sample }: Calls["spikes"]["in"]): Promise<Calls["spikes"]["out"]> {
    const { followSpikes } = await import("./spikes.ts");
    return followSpikes(this.#needSubject(), sample);
  }

  async spikeSavings(): Promise<Calls["spikeSavings"]["out"]> {
    const { saveSpikes } = await import("./spikes.ts");
    const [subject, data] = [this.#needSubject(), this.#needData()];
    const heldOut = this.#heldOut?.length ? this.#heldOut : undefined;
    return this.#listening((listen) =>
      saveSpikes(subject, data, heldOut ?? allRows(data), heldOut !== undefined, listen),
    );
  }

  async report({ imageSize, provenance }: Calls["report"]["in"]): Promise<string> {
    const { reportOf } = await import("./report.ts");
    const subject = this.#needSubject();
    const rows = this.#heldOut?.length ? this.#heldOut : undefined;
    return reportOf(subject, this.#needData(), rows, imageSize, provenance, { backend: await this.#open() });
  }

  save(): Uint8Array<ArrayBuffer> {
    return this.#needSubject().bytes.slice();
  }

  async saveOnAll({ recipe }: { recipe: Recipe }): Promise<Uint8Array<ArrayBuffer>> {
    const data = this.#needData();
    const everything = { ...recipe, heldOut: 0 };
    const gate = new Gate("full");
    try {
      this.#background = new AbortController();
      const { signal } = this.#background;
      const parts = await this.#fit(data, everything, splitRows(data, everything), { gate, signal, tell: () => {} });
      return new Subject(parts).bytes;
    } finally {
      gate.close();
    }
  }

  /** Answers to pictures are weighed by the training rows most like them. */
  async #learnDoubt({ parts }: Subject, data: LoadedData, judged: Judged | undefined): Promise<void> {
    const { set, y } = data;
    if (!parts.trainingRows || set.form !== "matrix" || !imageSizeOf(set).imageSize || !y || data.multilabel) return;
    const doubt = new Doubt(set.x, parts.trainingRows, y as readonly Label[]);
    if (judged?.answers && this.#heldOut) {
      const truth = Array.from(judged.rows, (row) => y[row] as Label);
      doubt.learn(set.x.gather(judged.rows), judged.answers, truth);
    }
    this.#doubt = doubt;
  }

  /** Probabilities go towards all being equal as far as the answer is not to be believed. */
  #weighed(explanation: Explanation, values: Float64Array): Explanation {
    const { probabilities, labels, isEmpty } = explanation;
    const answer = this.#subject?.classes.find((label) => String(label) === labels[0]);
    if (!this.#doubt || !probabilities || isEmpty || answer === undefined) return explanation;
    const { share, isUnlike, nearest } = this.#doubt.trust(values, answer);
    const alone = Math.max(...probabilities);
    const weighed = probabilities.map((one) => share * one + (1 - share) / probabilities.length);
    return { ...explanation, probabilities: weighed, trust: { alone, share, isUnlike, nearest } };
  }

  /** Trains a recipe on this worker's back end. */
  async #fit(
    data: LoadedData,
    recipe: Recipe,
    rows: { train: Uint32Array; test: Uint32Array },
    run: Omit<TrainingRun, "backend">,
  ): Promise<SubjectParts> {
    return fit(data, recipe, rows, { ...run, backend: await this.#open() });
  }

  /** Judges a model, letting other calls in between: a drawing must not wait for it. */
  async #judge(subject: Subject, data: LoadedData, rows: Uint32Array): Promise<Judged | undefined> {
    const basis = this.#heldOut ? "held-out" : await basisOf(subject.parts, data);
    const backend = await this.#open();
    return this.#listening((listen) => judge(subject, data, rows, basis, { backend, onProgress: listen }));
  }

  /** Work at full pace that lets other calls in between. */
  async #listening<T>(work: (listen: () => Promise<void>) => Promise<T>): Promise<T> {
    const gate = new Gate("full");
    try {
      return await work(() => gate.listen());
    } finally {
      gate.close();
    }
  }

  /** Takes data in. A model that was trained on other data goes, and so does one that does not take these rows. */
  #hold(data: LoadedData): void {
    this.stop();
    this.#data = data;
    this.#judged = undefined;
    this.#doubt = undefined;
    if (this.#heldOut || (this.#subject && !this.#subject.takes(data.set))) this.#subject = undefined;
    this.#heldOut = undefined;
    this.#nameFeatures();
  }

  /** Takes a model in. Data that it does not take goes. */
  #look(subject: Subject, heldOut: Uint32Array | undefined): void {
    this.#subject = subject;
    this.#heldOut = heldOut;
    this.#judged = undefined;
    this.#doubt = undefined;
    if (this.#data && !subject.takes(this.#data.set)) this.#data = undefined;
    this.#nameFeatures();
  }

  /** A model from a file knows no names of columns; data that fits it may. */
  #nameFeatures(): void {
    const [subject, data] = [this.#subject, this.#data];
    if (!subject) return;
    subject.columnNames = data && namesOf(data.set).featureNames;
    if (!subject.parts.featureNames && data?.set.form === "matrix") subject.featureNames = data.set.featureNames;
  }

  #open(): Promise<Backend> {
    this.#backend ??= openBackend("auto", {
      openers: { gpu: async (openProcessor) => (await import("@ranksim/gpu")).openGpu(openProcessor) },
    });
    return this.#backend;
  }

  #needData(): LoadedData {
    if (this.#data) return this.#data;
    throw new RanksimError("empty-input", "There is no data yet: choose the digits or drop a file.");
  }

  #needSubject(): Subject {
    if (this.#subject) return this.#subject;
    throw new RanksimError("unsupported", "There is no model yet: train one or drop a model file.");
  }
}

/** What is known of rows that a model from a file is judged on. */
async function basisOf({ whole }: SubjectParts, data: LoadedData): Promise<Basis> {
  const { seenAmong } = await import("./pipeline.ts");
  const seen = seenAmong(whole, data);
  return seen === undefined ? "unknown" : seen > 0 ? "training" : "new";
}

/** Large images were read in several sizes, one of which the model chose. */
function atSize(data: LoadedData, { width, height }: ImageSize): LoadedData {
  const { read } = data;
  if (read.form !== "matrix" || !read.scaled) return data;
  const { scaled, ...rest } = read;
  const size = scaled.sizes.find(({ imageSize }) => imageSize.width === width && imageSize.height === height);
  return size ? { ...data, set: { ...rest, ...size } } : data;
}
