/**
 * Everything a user can do with data and models, as methods; what can be done with the sample is `sampling.ts`'s part. Each
 * asks the worker, then changes the state. What goes wrong is put in the state beside what it concerns, never thrown.
 */

import { batch, effect } from "@preact/signals";
import { drawnSide } from "../drawing/ink-blocks.ts";
import type { ImageSize, ModelSummary, NamedFile, Pace, ReadChoices, Recipe } from "../protocol.ts";
import { type Address, isServedData, placeOf, readAddress, type Tab, writeAddress } from "./address.ts";
import { Client, WorkerError } from "./client.ts";
import { keepFiles, keptFacts, openKept, removeKept } from "./kept-files.ts";
import { FIRST_RECIPE, PARAMETERS, recipeFor, sameRecipe, TAUGHT_RECIPE } from "./recipe.ts";
import { Sampling } from "./sampling.ts";
import { type OpenData, withData, withFindings, withImageSize, withModel } from "./situation.ts";
import { PageState, type RunState } from "./state.ts";
import { addressOf } from "./state-address.ts";
import { Teaching } from "./teaching.ts";

/** The address follows the view after this pause. */
const ADDRESS_MILLISECONDS = 250;

const IDLE_RUN: Omit<RunState, "pace"> = { history: [], wall: new Map(), atRest: new Map() };

export class Controller {
  readonly state = new PageState();
  readonly client: Client;
  readonly sampling: Sampling;
  readonly teaching: Teaching;
  /** What the address asks for and is not shown yet. */
  #wanted: Address;
  #addressTimer = 0;
  #trainings = 0;
  #numbers = 0;

  constructor(hash: string) {
    const { state } = this;
    this.client = new Client((step) => {
      const run = state.run.peek();
      if (run) state.run.value = advanced(run, step);
    });
    this.sampling = new Sampling(state, this.client);
    this.teaching = new Teaching(() => this.#teach());
    this.#wanted = readAddress(hash);
    effect(() => {
      const written = addressOf(state);
      clearTimeout(this.#addressTimer);
      if (written !== undefined) this.#followView(written);
    });
  }

  /** Shows what the address says. */
  async start(): Promise<void> {
    const { recipe, tab, cell, filter, data, model } = this.#wanted;
    batch(() => {
      this.state.recipe.value = recipe;
      this.state.view.value = { tab, cell, filter };
    });
    if (model !== undefined) return this.#openServed(isServedData(data) ? [model, data] : [model]);
    void keptFacts().then((kept) => {
      this.state.kept.value ??= kept;
    });
    if (data === "digits") return this.openDigits(recipe);
    if (data === "taught") return this.openTaught();
    if ((await keptFacts())?.name === data) return this.openKept();
    batch(() => {
      this.state.busy.value = undefined;
      this.state.dataError.value = `This link was made with “${data}”, which a link cannot carry. Drop that file here to see the view.`;
    });
  }

  /** The address was changed by hand or by the browser's buttons. */
  async addressChanged(hash: string): Promise<void> {
    const address = readAddress(hash);
    if (writeAddress(address) === addressOf(this.state)) return;
    this.#wanted = address;
    const { data, modelRecipe } = this.state;
    if (data.peek()?.name !== address.data || address.model !== undefined) return this.start();
    batch(() => {
      this.state.recipe.value = address.recipe;
      this.state.view.value = { tab: address.tab, cell: address.cell, filter: address.filter };
    });
    const shown = modelRecipe.peek();
    if (!shown || !sameRecipe(shown, address.recipe)) return this.train("full");
    await this.#showWantedSample();
  }

  async openDigits(recipe: Recipe = FIRST_RECIPE): Promise<void> {
    this.teaching.close();
    this.state.busy.value = "Opening the embedded digits…";
    await this.#opening(async () => {
      const { data: summary, fits } = await this.client.call("openDigits", {});
      this.#setData({ id: ++this.#numbers, summary, imageSize: summary.imageSize, choices: {}, files: [] }, fits);
      this.state.recipe.value = recipe;
    });
    if (this.state.data.peek()?.name === "digits") await this.train("full");
  }

  /** Opens what was taught by hand, to go on with it. */
  async openTaught(): Promise<void> {
    this.sampling.forget();
    await this.#opening(() => this.teaching.open());
    if (!this.state.sample.peek()) this.sampling.clear();
  }

  /** Trains on what was taught, in place: the sample stays, and is asked about again. */
  async #teach(): Promise<void> {
    this.#trainings++;
    const lesson = this.teaching.lesson();
    const { data: summary, model, milliseconds } = await this.client.call("teach", { lesson, recipe: TAUGHT_RECIPE });
    const { imageSize } = lesson;
    const data = { id: ++this.#numbers, summary, imageSize, choices: {}, files: [] };
    const before = this.state.imageSize.peek();
    batch(() => {
      this.state.run.value = undefined;
      this.state.runNotice.value = undefined;
      this.state.recipe.value = TAUGHT_RECIPE;
      this.teaching.step.value = model && milliseconds;
      this.state.situation.value = model
        ? {
            ...{ is: "both", data, judged: { is: "judged", evaluation: undefined } },
            browsed: Uint32Array.from({ length: summary.rows }, (_, row) => row),
            model: { id: ++this.#numbers, summary: model, recipe: TAUGHT_RECIPE, imageSize },
          }
        : { is: "data", data, browsed: new Uint32Array(0) };
      if (before && before.width !== imageSize.width) this.sampling.forget();
    });
    if (!this.state.sample.peek()) this.sampling.clear();
    else this.sampling.ask();
  }

  /** Reads what was dropped or chosen: data, a model, or both. */
  async openFiles(files: readonly NamedFile[], asked: ReadChoices = {}): Promise<void> {
    if (files.length === 0) return;
    this.teaching.close();
    this.state.busy.value = `Reading ${files.length === 1 ? files[0].file.name : `${files.length} files`}…`;
    await this.#opening(async () => {
      const opened = await this.client.call("openFiles", { files, choices: asked });
      const { data: summary, model, fits, choices, refused } = opened;
      if (refused) {
        batch(() => {
          this.state.dataError.value = refused.message;
          this.state.unread.value = { files, choices, preview: refused.preview };
        });
        return;
      }
      if (summary) {
        this.#setData({ id: ++this.#numbers, summary, imageSize: summary.imageSize, choices, files }, fits);
        const kept = summary.name === this.#wanted.data ? this.#wanted.recipe : undefined;
        this.state.recipe.value = kept ?? recipeFor(summary.classes.length > 0);
        // Files that `ranksim play` serves are there as long as it is.
        if (!isServedData(summary.name)) void this.#keep(summary.name, files, choices);
      }
      if (model) await this.#setModel(model, undefined, fits);
      else if (this.state.situation.peek().is === "both") await this.#judge();
      await this.#showWantedSample();
    }, files);
  }

  /** Opens the files that this browser keeps from an earlier visit. */
  async openKept(): Promise<void> {
    const kept = await openKept();
    if (kept) await this.openFiles(kept.files, kept.choices);
  }

  async removeKept(): Promise<void> {
    await removeKept();
    this.state.kept.value = undefined;
  }

  /** Reads the same files again with other choices of columns. */
  async reread(choices: ReadChoices): Promise<void> {
    await this.openFiles(this.state.unread.peek()?.files ?? this.state.openData.peek()?.files ?? [], choices);
  }

  async #keep(name: string, files: readonly NamedFile[], choices: ReadChoices): Promise<void> {
    this.state.kept.value = await keepFiles(name, files, choices);
  }

  setImageSize(imageSize: ImageSize | undefined): void {
    this.state.situation.value = withImageSize(this.state.situation.peek(), imageSize);
  }

  setRecipe(recipe: Recipe): void {
    batch(() => {
      this.state.recipe.value = recipe;
      if (this.state.runNotice.peek()?.parameter) this.state.runNotice.value = undefined;
    });
  }

  /** Trains the recipe as it now stands. */
  async train(pace: Pace): Promise<void> {
    const { recipe, openData, run, runNotice, busy } = this.state;
    if (!openData.peek()) return;
    const asked = recipe.peek();
    const training = ++this.#trainings;
    batch(() => {
      run.value = { ...IDLE_RUN, pace };
      runNotice.value = undefined;
    });
    try {
      const model = await this.client.call("train", { recipe: asked, pace });
      if (training !== this.#trainings) return;
      await this.#setModel(model, asked, true);
      await this.#showWantedSample();
    } catch (error) {
      // A run that a newer one has replaced has nothing more to say.
      if (training !== this.#trainings) return;
      const stopped = error instanceof WorkerError && error.code === "stopped";
      const kept = this.state.openModel.peek() ? " The model before it is still shown." : "";
      const text = stopped ? `Stopped before the end.${kept}` : messageOf(error);
      const parameter = stopped ? undefined : parameterIn(text, asked);
      batch(() => {
        run.value = undefined;
        busy.value = undefined;
        runNotice.value = { kind: stopped ? "stopped" : "error", text, ...(parameter ? { parameter } : {}) };
      });
      if (!this.state.sample.peek()) await this.#showWantedSample();
    }
  }

  /** Changes the pace of the run, or takes one step of a run that waits; starts a run if there is none. */
  async go(pace: Pace): Promise<void> {
    const run = this.state.run.peek();
    if (!run) return this.train(pace);
    const step = run.step && { ...run.step, waiting: false };
    this.state.run.value = { ...run, pace, ...(step ? { step } : {}) };
    await this.client.call("go", { pace });
  }

  async stop(): Promise<void> {
    await this.client.call("stop", {});
  }

  openTab(tab: Tab): void {
    this.state.view.value = { ...this.state.view.peek(), tab };
  }

  openCell(cell: { truth: number; answer: number } | undefined): void {
    this.state.view.value = { ...this.state.view.peek(), cell };
  }

  openFilter(filter: number | undefined): void {
    this.state.view.value = { ...this.state.view.peek(), filter };
  }

  /** Opens files that `ranksim play` serves beside the page. */
  async #openServed(names: readonly string[]): Promise<void> {
    let files: readonly NamedFile[] = [];
    await this.#opening(async () => {
      files = await Promise.all(names.map(fetchServed));
    });
    await this.openFiles(files);
  }

  /** Runs what opens data or a model; what goes wrong is said, and all stays as it was. */
  async #opening(work: () => Promise<void>, files?: readonly NamedFile[]): Promise<void> {
    const { busy, dataError, dataNotice, unread } = this.state;
    batch(() => {
      dataError.value = undefined;
      dataNotice.value = undefined;
      unread.value = undefined;
    });
    try {
      await work();
    } catch (error) {
      batch(() => {
        dataError.value = messageOf(error);
        unread.value = files && { files, choices: {}, preview: undefined };
      });
    }
    if (!this.state.run.peek()) busy.value = undefined;
  }

  #setData(data: OpenData, fits: boolean): void {
    const { situation, runNotice, dataNotice, view } = this.state;
    const before = situation.peek();
    const now = withData(before, data, fits);
    batch(() => {
      this.sampling.forget();
      situation.value = now;
      runNotice.value = undefined;
      const isWanted = data.summary.name === this.#wanted.data;
      if (now.is === "data" && !isWanted) view.value = { ...view.peek(), cell: undefined, filter: undefined };
      if (before.is === "model" && now.is === "data") {
        dataNotice.value = `The model ${before.model.summary.name} does not take these rows and was closed.`;
      }
    });
  }

  async #setModel(summary: ModelSummary, recipe: Recipe | undefined, fits: boolean): Promise<void> {
    const { situation, run, busy, view, dataNotice, data } = this.state;
    const side = Math.sqrt(summary.inputs);
    const isSquare = !summary.text && Number.isInteger(side) && side >= 6;
    const model = {
      id: ++this.#numbers,
      summary,
      recipe,
      imageSize: isSquare ? { width: side, height: side } : undefined,
    };
    const aside = data.peek()?.name;
    batch(() => {
      const now = withModel(situation.peek(), model, fits);
      if (now.is === "model") {
        this.sampling.forget();
        if (aside !== undefined)
          dataNotice.value = `${aside} was closed: its rows are not what the model ${summary.name} takes.`;
      }
      situation.value = now;
      run.value = undefined;
      busy.value = undefined;
      const { filter, ...rest } = view.peek();
      view.value = { ...rest, filter: filter !== undefined && filter < summary.filters ? filter : undefined };
    });
    await this.#judge();
  }

  /** Finds the rows to browse and, without being waited for, how well the model does. */
  async #judge(): Promise<void> {
    const now = this.state.situation.peek();
    if (now.is !== "both") return;
    const { id, recipe } = now.model;
    const learn = (found: Parameters<typeof withFindings>[2]) => {
      this.state.situation.value = withFindings(this.state.situation.peek(), id, found);
    };
    if (recipe) {
      const held = await this.client.call("heldOutRows", { recipe });
      if (held.length > 0) learn({ browsed: held });
    }
    this.client.call("evaluate", {}).then(
      (evaluation) => learn({ judged: { is: "judged", evaluation: evaluation ?? undefined } }),
      (error: Error) => {
        learn({ judged: { is: "judged", evaluation: undefined } });
        if (this.state.openModel.peek()?.id !== id) return;
        this.state.runNotice.value = { kind: "error", text: `The model could not be judged: ${error.message}` };
      },
    );
  }

  /** The sample of the address, or the current one, or the first row, or a blank one. */
  async #showWantedSample(): Promise<void> {
    const { row, drawn, ink } = this.#wanted;
    this.#wanted = readAddress("");
    const { sample, data, browsed, model } = this.state;
    const rows = data.peek()?.rows ?? 0;
    const isAsked = row !== undefined || drawn !== undefined || ink !== undefined;
    if (row !== undefined && row < rows) await this.sampling.pickRow(row);
    else if (sample.peek() && !isAsked) return this.sampling.ask();
    else if (!drawn && !ink && browsed.peek()?.length) return this.sampling.pickRow(browsed.peek()?.[0] ?? 0);
    const blocks = data.peek()?.inkBlocks;
    const width = model.peek()?.inputs ?? data.peek()?.features;
    if (row === undefined && (drawn || ink)) this.sampling.clear();
    if (ink && blocks && ink.length === (width ?? 0) * drawnSide(blocks) ** 2) {
      this.sampling.draw(Float64Array.from(ink), "link");
    } else if (drawn && drawn.length === width) {
      this.sampling.edit({ form: "dense", values: Float64Array.from(drawn) }, "link");
    } else if (!sample.peek()) this.sampling.clear();
  }

  /** Writes the view to the address: as a new place to come back from where another thing is open, else in place. */
  #followView(written: string): void {
    this.#addressTimer = window.setTimeout(() => {
      const here = location.hash.replace(/^#/, "");
      if (here === written) return;
      const isNew = here !== "" && placeOf(here) !== placeOf(written);
      history[isNew ? "pushState" : "replaceState"](null, "", `#${written}`);
    }, ADDRESS_MILLISECONDS);
  }
}

/** A run with one step more. */
function advanced(run: RunState, step: NonNullable<RunState["step"]>): RunState {
  const name = step.label ?? "";
  const wall = step.shown.length > 0 ? new Map(run.wall).set(name, step.shown) : run.wall;
  const isIteration = step.stage === "spread" && step.iteration > 1;
  const atRest = isIteration ? new Map(run.atRest).set(name, 1 - step.moved / Math.max(1, step.rows)) : run.atRest;
  return { ...run, step, wall, atRest, history: [...run.history, ...step.points] };
}

/** The parameter that a message names. */
function parameterIn(text: string, { estimator }: Recipe): string | undefined {
  return PARAMETERS[estimator].find(({ name }) => new RegExp(`\\b${name}\\b`).test(text))?.name;
}

async function fetchServed(name: string): Promise<NamedFile> {
  const response = await fetch(`./${name}`);
  if (!response.ok) throw new Error(`${name} could not be fetched: ${response.status} ${response.statusText}.`);
  return { path: name, file: new File([await response.blob()], name) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
