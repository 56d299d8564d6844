/** What the page knows at any moment, as signals. Changed only by the controllers; shown by the views. */

import { computed, signal } from "@preact/signals";
import type {
  Explanation,
  FilterView,
  NamedFile,
  Pace,
  Preview,
  ReadChoices,
  Recipe,
  RowView,
  RunPoint,
  Sample,
  TrainingStep,
} from "../protocol.ts";
import type { Tab } from "./address.ts";
import type { Kept } from "./kept-files.ts";
import { FIRST_RECIPE } from "./recipe.ts";
import { dataOf, modelOf, NOTHING, type Situation } from "./situation.ts";

/** A run that is under way. */
export interface RunState {
  readonly pace: Pace;
  readonly step?: TrainingStep;
  readonly history: readonly RunPoint[];
  /** The newest filters of each class (or of all rows), in the order in which classes came up. */
  readonly wall: ReadonlyMap<string, readonly FilterView[]>;
  /** Of each class, the share of its rows that stayed with their filter in the newest iteration. */
  readonly atRest: ReadonlyMap<string, number>;
}

/** The sample that is looked at. */
export interface SampleState {
  readonly sample: Sample;
  /** The row it came from. */
  readonly origin: RowView | undefined;
  readonly edited: boolean;
  /** For data that counts ink in blocks: the drawing from which the sample was counted. */
  readonly drawing: Float64Array | undefined;
  /** What was answered for the row as it was, while the sample is edited. */
  readonly before: Explanation | undefined;
}

/** An answer for a sample, or why there is none, and the model that gave it. */
export type Answer = { readonly model: number } & ({ readonly explanation: Explanation } | { readonly error: string });

/** What is open below the sample. */
export interface View {
  readonly tab: Tab;
  readonly cell: { readonly truth: number; readonly answer: number } | undefined;
  readonly filter: number | undefined;
}

/** Files that could not be read, how that was tried, and their first rows where they are a table. */
interface Unread {
  readonly files: readonly NamedFile[];
  readonly choices: ReadChoices;
  readonly preview: Preview | undefined;
}

interface RunNotice {
  readonly kind: "error" | "stopped";
  readonly text: string;
  /** The parameter that is at fault, where the message names one. */
  readonly parameter?: string;
}

export class PageState {
  readonly situation = signal<Situation>(NOTHING);
  /** What the page waits for before it can show anything else, in words. */
  readonly busy = signal<string | undefined>("Opening the embedded digits…");
  readonly dataError = signal<string | undefined>(undefined);
  /** Files that could not be read as they were; they can be read again with other choices. */
  readonly unread = signal<Unread | undefined>(undefined);
  /** What became of what was open before, where that has to be said. */
  readonly dataNotice = signal<string | undefined>(undefined);
  /** Files of an earlier visit that this browser keeps. */
  readonly kept = signal<Kept | undefined>(undefined);
  readonly recipe = signal<Recipe>(FIRST_RECIPE);
  readonly run = signal<RunState | undefined>(undefined);
  readonly runNotice = signal<RunNotice | undefined>(undefined);
  readonly sample = signal<SampleState | undefined>(undefined);
  /** Samples that undo goes back to, the newest last. All are of the same data and, but for the first, of the same row. */
  readonly undo = signal<readonly SampleState[]>([]);
  readonly answer = signal<Answer | undefined>(undefined);
  readonly view = signal<View>({ tab: "filters", cell: undefined, filter: undefined });

  readonly openData = computed(() => dataOf(this.situation.value));
  readonly openModel = computed(() => modelOf(this.situation.value));
  readonly data = computed(() => this.openData.value?.summary);
  readonly model = computed(() => this.openModel.value?.summary);
  readonly modelRecipe = computed(() => this.openModel.value?.recipe);
  readonly imageSize = computed(() => (this.openData.value ?? this.openModel.value)?.imageSize);
  readonly browsed = computed(() => {
    const now = this.situation.value;
    return "browsed" in now ? now.browsed : undefined;
  });
  readonly judged = computed(() => {
    const now = this.situation.value;
    return now.is === "both" ? now.judged : undefined;
  });
  readonly evaluation = computed(() => {
    const judged = this.judged.value;
    return judged?.is === "judged" ? judged.evaluation : undefined;
  });
  /** Names what is open: answers asked under one owner are not shown under another. */
  readonly owner = computed(() => `${this.openData.value?.id ?? "-"}/${this.openModel.value?.id ?? "-"}`);
  readonly explanation = computed(() => {
    const answer = this.answer.value;
    return answer && "explanation" in answer && answer.model === this.openModel.value?.id
      ? answer.explanation
      : undefined;
  });
  readonly explainError = computed(() => {
    const answer = this.answer.value;
    return answer && "error" in answer && answer.model === this.openModel.value?.id ? answer.error : undefined;
  });
}
