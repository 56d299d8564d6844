/** Images: rank filters of windows, pooled, then refined filters of classes. */

import {
  type MatrixLike,
  type PatchParams,
  PatchTransform,
  RankSimilarityClassifier,
  RanksimError,
} from "@ranksim/core";
import type { ImageSize, MatrixRows } from "@ranksim/data";
import { type Chosen, filtersFor, given, named, type Preset, probabilities, type Task } from "../task.ts";
import { type Candidate, type Cost, entriesOf, filtersCost } from "./candidate.ts";
import { hasFilters } from "./columns.ts";

/** Below this side windows are 3 pixels wide, not 5. */
const SMALL_SIDE = 16;
/** Windows across are kept near this number by a stride: photographs have more pixels than their content needs. */
const MOST_WINDOWS = 48;
/**
 * Sizes of the layers of windows. `best` was chosen on training images of Fashion-MNIST and KMNIST, 4,000 of each to train on and 12,000
 * others, seed 0: 1,218 and 277 wrong with finer grids (6, 5, 4) and no copies, 1,208 and 248 with finer grids and a copy, 1,217 and 253 with
 * a copy and grids (5, 4, 3), which take two thirds of the memory and the time. Pooled values are bytes: in half the memory and less time
 * as many answers are right (the lab's BEYOND.md). A quarter of the usual windows is enough for `balanced`: trained on the first 20,000
 * training images of Fashion-MNIST and judged by the last 10,000, seeds 0 to 2, macro F1 was 0.9133, 0.9157 and 0.9164 with sums and all
 * windows, 0.9167, 0.9166 and 0.9152 with bytes and a quarter, in 0.87 of the time. `fast` lost 0.0016 by it and gained little time.
 */
const IMAGE_LAYERS: { readonly [preset in Exclude<Preset, "paper">]: Partial<PatchParams> } = {
  fast: { patch: 5, filters: 64, nBest: 5, grid: 5, bytes: true },
  balanced: { patch: 5, filters: 256, nBest: 8, grid: 5, bytes: true, sample: 50_000 },
  best: { patch: [3, 5, 8], filters: [128, 256, 256], nBest: 8, grid: [5, 4, 3], shiftedCopies: 1, bytes: true },
};
/**
 * The same for images of few pixels. Chosen in ten folds of 1,348 digits, three seeds: 0.9876 right with three banks of classes that vote,
 * 0.9852 with one, as one nearest neighbour. Windows of 4, grids of 2 and 4, and several sizes side by side did worse.
 */
const SMALL_LAYERS: typeof IMAGE_LAYERS = {
  fast: { patch: 3, filters: 64, nBest: 5, grid: 3, bytes: true },
  balanced: { patch: 3, filters: 128, nBest: 8, grid: 3 },
  best: { patch: [3, 4, 5], filters: [128, 128, 128], nBest: 8, grid: [3, 3, 2], bytes: true },
};

/** Images up to which copies moved by a pixel are learned from as well: with more, copies matter less, and time more. */
const MOST_COPIED = 65_000;

/**
 * Filters of each class, of all banks together, banks that vote, and epochs. Chosen for `best` on the last 10,000 training images of
 * Fashion-MNIST, trained on the first 20,000 with seed 0: one bank of 300, 24 epochs, 0.9200; three of 100, 24 epochs, 0.9286; five of
 * 100, 12 epochs, as many seconds, 0.9298.
 */
const IMAGE_BANKS: {
  readonly [preset in Exclude<Preset, "paper">]: { each: number; committee: number; refineEpochs: number };
} = {
  fast: { each: 10, committee: 1, refineEpochs: 12 },
  balanced: { each: 10, committee: 1, refineEpochs: 12 },
  best: { each: 50, committee: 5, refineEpochs: 12 },
};
const SMALL_BANKS: typeof IMAGE_BANKS = {
  fast: { each: 10, committee: 1, refineEpochs: 12 },
  balanced: { each: 30, committee: 3, refineEpochs: 12 },
  best: { each: 30, committee: 3, refineEpochs: 24 },
};

export const images: Candidate = {
  name: "windows of images, refined filters",
  isUsual: true,
  suits: (task) => task.kind === "images" && hasFilters(task),
  cost: costOfImages,
  purposes: ["onnx", "c", "spikes", "reject"],
  streams: true,
  make: recipeOfImages,
};

/** Windows are trained in the time of so many images, and of multiply-adds so many are done at once. */
const TRAINED_LIKE = 400;
const AT_ONCE = 8;

function costOfImages(task: Task, rows: number): Cost {
  const { patch, filters } = patchesOf(task).params;
  const counts = [filters].flat();
  const values = [patch].flat().reduce((sum, side, j) => sum + side * side * counts[Math.min(j, counts.length - 1)], 0);
  const { each, committee, refineEpochs } = banksOf(task);
  const pooled = ((rows + TRAINED_LIKE) * entriesOf(task) * values) / AT_ONCE;
  const after = filtersCost(rows, POOLED, {
    filters: each * task.classes * committee,
    epochs: refineEpochs,
    banks: committee,
  });
  return { once: 0, each: pooled + after.each };
}

/** Pooled values that are not zero, about. */
const POOLED = 500;

/** Windows and filters for images of this size and number. */
function recipeOfImages(task: Task): Chosen {
  const patches = patchesOf(task);
  const { each, committee, refineEpochs } = banksOf(task);
  const filters = filtersFor(task, each);
  const classify = new RankSimilarityClassifier(
    given(task, {
      filters,
      committee: Math.min(committee, Math.floor(filters / task.classes)),
      refine: true,
      refineEpochs,
      refineWindow: 0.04,
      ...probabilities(task),
    }),
  );
  const { patch, filters: ofPatches, nBest, grid } = patches.params;
  const counts = [ofPatches].flat();
  const sizes = Math.max(...[patch, ofPatches, nBest, grid].map((value) => [value].flat().length));
  const count = counts.length === 1 ? counts[0] * sizes : counts.reduce((a, b) => a + b, 0);
  return {
    estimator: named<MatrixLike>(["patches", patches], ["classify", classify]),
    what: `${count} patch filters, ${classify.params.filters} ${classify.params.refine ? "refined " : ""}filters of classes${classify.params.committee > 1 ? ` in ${classify.params.committee} banks` : ""}${patches.params.shiftedCopies ? ", images also moved by a pixel" : ""}`,
  };
}

const sizeOf = ({ data }: Task) => (data as MatrixRows & { readonly imageSize: ImageSize }).imageSize;
const isSmall = (task: Task): boolean => Math.min(sizeOf(task).width, sizeOf(task).height) < SMALL_SIDE;
const banksOf = (task: Task) => (isSmall(task) ? SMALL_BANKS : IMAGE_BANKS)[task.preset as Exclude<Preset, "paper">];

function patchesOf(task: Task): PatchTransform {
  const { x } = task.data as MatrixRows;
  const { width, height } = sizeOf(task);
  const own = (isSmall(task) ? SMALL_LAYERS : IMAGE_LAYERS)[task.preset as Exclude<Preset, "paper">];
  // Where rows may be added later there are no copies of the first ones.
  const hasCopies = x.rows <= MOST_COPIED && task.params.keepSums !== true;
  const layers = { ...own, ...(hasCopies ? {} : { shiftedCopies: undefined }), ...task.patches };
  const stride = Math.max(1, Math.ceil(Math.max(width, height) / MOST_WINDOWS));
  return patchesWith({ width, height, channels: x.features / (width * height), ...layers, stride, seed: task.seed });
}

/** The transform; a refusal names the parameter as one of the patches. */
function patchesWith(params: Partial<PatchParams>): PatchTransform {
  try {
    return new PatchTransform(params);
  } catch (error) {
    if (!(error instanceof RanksimError)) throw error;
    if (!error.facts) throw error;
    throw new RanksimError(error.code, { ...error.facts, parameter: `patches.${error.facts.parameter}` });
  }
}
