/**
 * Everything a user can do, as methods. Each asks the worker, then changes the state; views call these and nothing else. What
 * goes wrong is put in the state beside what it concerns, never thrown at the page.
 */

import type {
  DataSummary,
  ImageSize,
  ModelSummary,
  NamedFile,
  Pace,
  ReadChoices,
  Recipe,
  Sample,
} from "../protocol.ts";
import { type Address, isServedData, MOST_DRAWN, readAddress, type Tab, writeAddress } from "./address.ts";
import { Client, latest, WorkerError } from "./client.ts";
import { FIRST_RECIPE, recipeFor, sameRecipe } from "./recipe.ts";
import { FIRST_STATE, type State } from "./state.ts";
import { Store } from "./store.ts";

/** A blank sample of more numbers than this is not offered. */
const MOST_BLANK = 65_536;

/** The address follows the view after this pause. */
const ADDRESS_MILLISECONDS = 250;

export class Controller {
  readonly store = new Store<State>(FIRST_STATE);
  readonly client: Client;
  readonly #explain: (sample: Sample) => void;
  #address: Address;
  #dropped: readonly NamedFile[] = [];
  #addressTimer = 0;
  #trainings = 0;

  constructor(hash: string) {
    this.client = new Client((step) => {
      const { run } = this.store.state;
      if (!run) return;
      this.store.update({ run: { ...run, step, history: [...run.history, ...step.points] } });
    });
    this.#explain = latest((sample) => this.#explainNow(sample));
    this.#address = readAddress(hash);
    this.store.listen(() => this.#followView());
  }

  /** Shows what the address says. */
  async start(): Promise<void> {
    const { recipe, tab, cell, filter, data, model } = this.#address;
    this.store.update({ recipe, tab, cell, filter });
    if (model !== undefined) return this.#openServed(isServedData(data) ? [model, data] : [model]);
    if (data === "digits") return this.openDigits(recipe);
    this.store.update({
      busy: undefined,
      dataError: `This link was made with “${data}”, which a link cannot carry. Drop that file here to see the view.`,
    });
  }

  /** The address was changed by hand or by the browser's buttons. */
  async addressChanged(hash: string): Promise<void> {
    const address = readAddress(hash);
    if (writeAddress(address) === this.#written()) return;
    this.#address = address;
    const { data, recipe, modelRecipe } = this.store.state;
    if (data?.name !== address.data || address.model !== undefined) return this.start();
    this.store.update({ recipe: address.recipe, tab: address.tab, cell: address.cell, filter: address.filter });
    if (!modelRecipe || !sameRecipe(recipe, address.recipe)) return this.train("full");
    await this.#showFirstSample();
  }

  async openDigits(recipe: Recipe = FIRST_RECIPE): Promise<void> {
    this.store.update({ busy: "Opening the embedded digits…", dataError: undefined });
    this.#dropped = [];
    await this.#guard("dataError", async () => {
      this.#showData(await this.client.call("openDigits", {}), recipe);
      await this.train("full");
    });
  }

  /** Reads what was dropped or chosen: data, a model, or both. */
  async openFiles(files: readonly NamedFile[], choices: ReadChoices = {}): Promise<void> {
    if (files.length === 0) return;
    const count = files.length === 1 ? files[0].file.name : `${files.length} files`;
    this.store.update({ busy: `Reading ${count}…`, dataError: undefined, choices });
    const before = this.#dropped;
    this.#dropped = files;
    await this.#guard("dataError", async () => {
      const { data, model } = await this.client.call("openFiles", { files, choices });
      if (data) {
        const kept = data.name === this.#address.data ? this.#address.recipe : undefined;
        this.#showData(data, kept ?? recipeFor(data.classes.length > 0, data.multilabel));
        await this.#browse();
      } else {
        this.#dropped = before;
      }
      if (model) await this.#showModel(model, undefined);
      else await this.#showFirstSample();
    });
    this.store.update({ canReread: this.#dropped.length > 0 });
  }

  /** Reads the same files again with other choices of columns. */
  reread(choices: ReadChoices): Promise<void> {
    return this.openFiles(this.#dropped, choices);
  }

  setImageSize(imageSize: ImageSize | undefined): void {
    this.store.update({ imageSize });
  }

  setRecipe(recipe: Recipe): void {
    this.store.update({ recipe });
  }

  /** Trains the recipe as it now stands. */
  async train(pace: Pace): Promise<void> {
    const { recipe, data } = this.store.state;
    if (!data) return;
    const training = ++this.#trainings;
    this.store.update({ run: { pace, history: [] }, runNotice: undefined });
    try {
      const model = await this.client.call("train", { recipe, pace });
      this.store.update({ run: undefined, busy: undefined });
      await this.#showModel(model, recipe);
    } catch (error) {
      // A run that a newer one has replaced has nothing more to say.
      if (training !== this.#trainings) return;
      const stopped = error instanceof WorkerError && error.code === "stopped";
      const kept = this.store.state.model ? " The model before it is still shown." : "";
      const text = stopped ? `Stopped before the end.${kept}` : messageOf(error);
      this.store.update({ run: undefined, busy: undefined, runNotice: { kind: stopped ? "stopped" : "error", text } });
    }
  }

  /** Changes the pace of the run, or takes one step of a run that waits; starts a run if there is none. */
  async go(pace: Pace): Promise<void> {
    const { run } = this.store.state;
    if (!run) return this.train(pace);
    const step = run.step && { ...run.step, waiting: false };
    this.store.update({ run: { ...run, pace, ...(step ? { step } : {}) } });
    await this.client.call("go", { pace });
  }

  async stop(): Promise<void> {
    await this.client.call("stop", {});
  }

  /** Takes a row of the data as the sample. */
  async pickRow(row: number): Promise<void> {
    await this.#guard("explainError", async () => {
      const [origin] = await this.client.call("rows", { rows: [row] });
      if (origin) this.#showSample({ origin, sample: origin.sample, edited: false, before: undefined });
    });
  }

  /** Changes the sample by hand. */
  edit(sample: Sample): void {
    const { origin, edited, explanation, before } = this.store.state;
    const kept = edited ? before : origin ? explanation : undefined;
    this.#showSample({ sample, edited: true, before: kept });
  }

  /** Starts from nothing: an empty picture, zeros, or no words. */
  clearSample(): void {
    const sample = this.#blank();
    if (sample) this.#showSample({ sample, origin: undefined, edited: true, before: undefined });
  }

  /** Undoes all edits. */
  resetSample(): void {
    const { origin } = this.store.state;
    if (origin) this.#showSample({ sample: origin.sample, edited: false, before: undefined });
  }

  openTab(tab: Tab): void {
    this.store.update({ tab });
  }

  openCell(cell: State["cell"]): void {
    this.store.update({ cell });
  }

  openFilter(filter: number | undefined): void {
    this.store.update(filter === undefined ? { filter } : { filter, tab: "filters" });
  }

  /** Opens files that `ranksim play` serves beside the page. */
  async #openServed(names: readonly string[]): Promise<void> {
    let files: readonly NamedFile[] = [];
    await this.#guard("dataError", async () => {
      files = await Promise.all(names.map(fetchServed));
    });
    await this.openFiles(files);
  }

  #showData(data: DataSummary, recipe: Recipe): void {
    const { model, modelRecipe } = this.store.state;
    const keepsModel = model && !modelRecipe;
    const { cell, filter } = data.name === this.#address.data ? this.#address : {};
    this.store.update({
      busy: undefined,
      data,
      imageSize: data.imageSize,
      recipe,
      evaluation: undefined,
      sample: undefined,
      origin: undefined,
      explanation: undefined,
      before: undefined,
      explainError: undefined,
      runNotice: undefined,
      browsed: new Uint32Array(0),
      canReread: false,
      ...(keepsModel ? {} : { model: undefined, modelRecipe: undefined, cell, filter }),
    });
  }

  async #showModel(model: ModelSummary, modelRecipe: Recipe | undefined): Promise<void> {
    const { modelCount, data, imageSize } = this.store.state;
    const square = Math.sqrt(model.features);
    const guess =
      !model.text && Number.isInteger(square) && square >= 6 ? { width: square, height: square } : undefined;
    this.store.update({
      busy: undefined,
      model,
      modelRecipe,
      modelCount: modelCount + 1,
      imageSize: model.fitsData && data ? imageSize : guess,
      evaluation: undefined,
      ...(model.filters > (this.store.state.filter ?? -1) ? {} : { filter: undefined }),
      ...(modelRecipe || model.fitsData ? {} : { sample: undefined, origin: undefined }),
    });
    await this.#browse();
    await this.#showFirstSample();
    this.store.update({ judging: true });
    await this.#guard("runNotice", async () => {
      const evaluation = await this.client.call("evaluate", {});
      if (this.store.state.model === model) this.store.update({ evaluation: evaluation ?? undefined });
    });
    if (this.store.state.model === model) this.store.update({ judging: false });
  }

  /** Finds the rows to browse: those the model has not seen, where there are any. */
  async #browse(): Promise<void> {
    const { data, recipe, modelRecipe } = this.store.state;
    if (!data) return this.store.update({ browsed: new Uint32Array(0) });
    const held = await this.client.call("heldOutRows", { recipe: modelRecipe ?? recipe });
    const browsed = held.length > 0 ? held : Uint32Array.from({ length: data.rows }, (_, row) => row);
    this.store.update({ browsed });
  }

  /** The sample of the address, or the one at hand, or the first row, or a blank one. */
  async #showFirstSample(): Promise<void> {
    const { sample, browsed, model, data } = this.store.state;
    const { row, drawn } = this.#address;
    this.#address = readAddress("");
    const fits = data !== undefined && (model?.fitsData ?? true);
    if (fits && row !== undefined && row < data.rows) await this.pickRow(row);
    else if (sample && row === undefined && drawn === undefined) return this.#showSample({});
    else if (fits && !drawn && browsed.length > 0) return this.pickRow(browsed[0]);
    if (drawn && drawn.length === (model?.features ?? data?.features)) {
      this.edit({ form: "dense", values: Float64Array.from(drawn) });
    } else if (!this.store.state.sample) this.clearSample();
  }

  #showSample(changes: Partial<State>): void {
    this.store.update(changes);
    const { sample, model } = this.store.state;
    if (sample && model) this.#explain(sample);
  }

  async #explainNow(sample: Sample): Promise<void> {
    try {
      const explanation = await this.client.call("explain", { sample });
      this.store.update({ explanation, explainError: undefined });
    } catch (error) {
      this.store.update({ explanation: undefined, explainError: messageOf(error) });
    }
  }

  #blank(): Sample | undefined {
    const { model, data } = this.store.state;
    if (model?.text || data?.form === "text") return { form: "text", text: "" };
    const features = model?.features ?? data?.features ?? 0;
    if (features === 0 || features > MOST_BLANK) return undefined;
    return { form: "dense", values: new Float64Array(features) };
  }

  async #guard(field: "dataError" | "explainError" | "runNotice", work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const text = messageOf(error);
      this.store.update({ busy: undefined, [field]: field === "runNotice" ? { kind: "error", text } : text });
    }
  }

  /** The address of the view as it is now. */
  #written(): string {
    const { data, model, recipe, origin, edited, sample, tab, cell, filter } = this.store.state;
    const served = readAddress(location.hash).model;
    const whole = edited && sample?.form === "dense" && sample.values.length <= MOST_DRAWN;
    const drawn = whole && sample.values.every((value) => Number.isInteger(value) && value >= 0 && value <= 255);
    return writeAddress({
      data: data?.name ?? "digits",
      recipe,
      tab,
      ...(served !== undefined && model?.origin === "file" ? { model: served } : {}),
      ...(origin ? { row: origin.row } : {}),
      ...(drawn ? { drawn: Uint8Array.from(sample.values) } : {}),
      ...(cell ? { cell } : {}),
      ...(filter === undefined ? {} : { filter }),
    });
  }

  #followView(): void {
    if (!this.store.state.data) return;
    clearTimeout(this.#addressTimer);
    this.#addressTimer = window.setTimeout(() => {
      history.replaceState(null, "", `#${this.#written()}`);
    }, ADDRESS_MILLISECONDS);
  }
}

async function fetchServed(name: string): Promise<NamedFile> {
  const response = await fetch(`./${name}`);
  if (!response.ok) throw new Error(`${name} could not be fetched: ${response.status} ${response.statusText}.`);
  return { path: name, file: new File([await response.blob()], name) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
