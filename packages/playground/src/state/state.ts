/** What the page knows at any moment. Changed only by `Controller`; shown by the views. */

import type {
  DataSummary,
  Evaluation,
  Explanation,
  ImageSize,
  ModelSummary,
  Pace,
  ReadChoices,
  Recipe,
  RowView,
  RunPoint,
  Sample,
  TrainingStep,
} from "../protocol.ts";
import type { Tab } from "./address.ts";
import { FIRST_RECIPE } from "./recipe.ts";

/** A run that is under way. */
export interface RunState {
  readonly pace: Pace;
  readonly step?: TrainingStep;
  readonly history: readonly RunPoint[];
}

export interface State {
  /** What the page waits for before it can show anything, in words. */
  readonly busy: string | undefined;
  readonly data: DataSummary | undefined;
  readonly dataError: string | undefined;
  readonly choices: ReadChoices;
  /** Whether the files that were dropped can be read again with other choices. */
  readonly canReread: boolean;
  /** How rows are drawn: as pictures of this size, or not. */
  readonly imageSize: ImageSize | undefined;
  readonly recipe: Recipe;
  readonly run: RunState | undefined;
  /** What became of the last run, where that is not a model. */
  readonly runNotice: { readonly kind: "error" | "stopped"; readonly text: string } | undefined;
  readonly model: ModelSummary | undefined;
  /** The recipe that made the model; absent for a model from a file. */
  readonly modelRecipe: Recipe | undefined;
  /** Grows with each model, so that views know when to ask again. */
  readonly modelCount: number;
  readonly evaluation: Evaluation | undefined;
  /** Whether the model is being judged. */
  readonly judging: boolean;
  /** Rows to browse: the held-out ones, or all. */
  readonly browsed: Uint32Array;
  readonly sample: Sample | undefined;
  /** The row the sample came from. */
  readonly origin: RowView | undefined;
  readonly edited: boolean;
  readonly explanation: Explanation | undefined;
  /** The explanation of the row as it was, while the sample is edited. */
  readonly before: Explanation | undefined;
  readonly explainError: string | undefined;
  readonly tab: Tab;
  readonly cell: { readonly truth: number; readonly answer: number } | undefined;
  readonly filter: number | undefined;
}

export const FIRST_STATE: State = {
  busy: "Opening the embedded digits…",
  data: undefined,
  dataError: undefined,
  choices: {},
  canReread: false,
  imageSize: undefined,
  recipe: FIRST_RECIPE,
  run: undefined,
  runNotice: undefined,
  model: undefined,
  modelRecipe: undefined,
  modelCount: 0,
  evaluation: undefined,
  judging: false,
  browsed: new Uint32Array(0),
  sample: undefined,
  origin: undefined,
  edited: false,
  explanation: undefined,
  before: undefined,
  explainError: undefined,
  tab: "filters",
  cell: undefined,
  filter: undefined,
};
