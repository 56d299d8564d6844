/** The sample and its answer: choosing a row, drawing, clearing, going back, and asking the worker why. */

import { centred, DIGITS_FRAME } from "../drawing/centre.ts";
import { countInk, drawingSize, spreadInk } from "../drawing/ink-blocks.ts";
import type { Sample } from "../protocol.ts";
import { type Client, latest } from "./client.ts";
import type { PageState, SampleState } from "./state.ts";

/** A blank sample of more numbers than this is not offered. */
const MOST_BLANK = 65_536;

/** Steps that can be taken back. */
const MOST_UNDONE = 60;

export class Sampling {
  readonly #state: PageState;
  readonly #client: Client;
  readonly #explain: () => void;
  /** What the newest edit was made with: edits of one stroke, or of one slider, are taken back together. */
  #tool: string | undefined;

  constructor(state: PageState, client: Client) {
    this.#state = state;
    this.#client = client;
    this.#explain = latest<void>(() => this.#explainNow());
  }

  /** Takes a row of the data as the sample. What was drawn before stays with the row it was drawn on. */
  async pickRow(row: number): Promise<void> {
    const { owner } = this.#state;
    const asked = owner.value;
    const [origin] = await this.#client.call("rows", { rows: [row] });
    if (!origin || owner.value !== asked) return;
    this.#state.undo.value = [];
    this.#show({ sample: origin.sample, origin, edited: false, drawing: undefined, before: undefined });
  }

  /** Changes the sample by hand. Edits with the same `tool` in a row are one step to undo. */
  edit(sample: Sample, tool: string, drawing?: Float64Array): void {
    const now = this.#state.sample.peek();
    if (now && tool !== this.#tool) this.#remember(now);
    this.#tool = tool;
    const before = now?.edited ? now.before : now?.origin ? this.#state.explanation.peek() : undefined;
    this.#show({ sample, origin: now?.origin, edited: true, drawing, before });
  }

  /** Changes the drawing behind the sample, from which it is counted. */
  draw(drawing: Float64Array, tool: string): void {
    const { inkBlocks } = this.#state.data.peek() ?? {};
    const size = this.#state.imageSize.peek();
    if (!inkBlocks || !size) return;
    // What is drawn from nothing may be anywhere and of any size; a row that is changed stays where it is.
    const fine = drawingSize(size, inkBlocks);
    const isRow = this.#state.sample.peek()?.origin !== undefined;
    const counted = isRow ? drawing : centred(drawing, fine, fine, DIGITS_FRAME);
    this.edit({ form: "dense", values: countInk(counted, size, inkBlocks) }, tool, drawing);
  }

  /** The drawing behind the sample: the one that was made, or one that the numbers of the row count from. */
  drawingOf({
    sample,
    drawing,
  }: SampleState): { values: Float64Array; size: { width: number; height: number } } | undefined {
    const { inkBlocks } = this.#state.data.peek() ?? {};
    const size = this.#state.imageSize.peek();
    if (!inkBlocks || !size || sample.form !== "dense") return undefined;
    return { values: drawing ?? spreadInk(sample.values, size, inkBlocks), size: drawingSize(size, inkBlocks) };
  }

  /** Starts from nothing: an empty picture, zeros, or no words. */
  clear(): void {
    const sample = this.#blank();
    if (!sample) return;
    const now = this.#state.sample.peek();
    if (now && !isBlank(now.sample)) this.#remember(now);
    this.#tool = undefined;
    this.#show({ sample, origin: undefined, edited: false, drawing: undefined, before: undefined });
  }

  /** The first stroke on a row begins an empty picture; taken back, the row is there again. */
  begin(tool: string): void {
    const now = this.#state.sample.peek();
    const sample = this.#blank();
    if (!sample || !now) return;
    this.#remember(now);
    this.#tool = tool;
    this.#show({ sample, origin: undefined, edited: false, drawing: undefined, before: undefined });
  }

  /** Takes what a camera sees as the sample. */
  look(values: Float64Array): void {
    this.#tool = undefined;
    this.#show({
      sample: { form: "dense", values },
      origin: undefined,
      edited: true,
      drawing: undefined,
      before: undefined,
    });
  }

  /** Shows the row as it is. */
  reset(): void {
    const now = this.#state.sample.peek();
    if (!now?.origin || !now.edited) return;
    this.#remember(now);
    this.#tool = undefined;
    this.#show({ ...now, sample: now.origin.sample, edited: false, drawing: undefined, before: undefined });
  }

  /** Goes back by one stroke, or to what was there before it was cleared. */
  undo(): void {
    const steps = this.#state.undo.peek();
    const last = steps.at(-1);
    if (!last) return;
    this.#state.undo.value = steps.slice(0, -1);
    this.#tool = undefined;
    this.#show(last);
  }

  /** Forgets the sample: it belongs to data or a model that is gone. */
  forget(): void {
    this.#tool = undefined;
    this.#state.undo.value = [];
    this.#state.sample.value = undefined;
    this.#state.answer.value = undefined;
  }

  /** Asks about the current sample. */
  ask(): void {
    if (this.#state.sample.peek() && this.#state.openModel.peek()) this.#explain();
  }

  #remember(step: SampleState): void {
    this.#state.undo.value = [...this.#state.undo.peek().slice(1 - MOST_UNDONE), step];
  }

  #show(sample: SampleState): void {
    this.#state.sample.value = sample;
    this.ask();
  }

  async #explainNow(): Promise<void> {
    const { sample, openModel, answer } = this.#state;
    const [shown, asked] = [sample.peek(), openModel.peek()];
    if (!shown || !asked) return;
    const result = await this.#client.call("explain", { sample: shown.sample }).then(
      (explanation) => ({ model: asked.id, explanation }),
      (error: Error) => ({ model: asked.id, error: error.message }),
    );
    if (openModel.peek()?.id === asked.id && sample.peek()) answer.value = result;
  }

  #blank(): Sample | undefined {
    const { data, model } = this.#state;
    if (model.peek()?.text || data.peek()?.form === "text") return { form: "text", text: "" };
    const { form, features } = data.peek() ?? {};
    if (form === "table") return { form, cells: new Array(features).fill(null) };
    const inputs = model.peek()?.inputs ?? data.peek()?.features ?? 0;
    if (inputs === 0 || inputs > MOST_BLANK) return undefined;
    return { form: "dense", values: new Float64Array(inputs) };
  }
}

/** Whether a sample holds nothing at all. */
export function isBlank(sample: Sample): boolean {
  if (sample.form === "text") return sample.text.trim() === "";
  if (sample.form === "table") return sample.cells.every((cell) => cell === null);
  return sample.values.every((value) => value === 0);
}
