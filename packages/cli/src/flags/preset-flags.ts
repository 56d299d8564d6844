/** `--preset`: recipes that the command chooses by what the data is, and what flags given by hand change of them. */

import { type Model, PatchTransform, Pipeline } from "@ranksim/core";
import { type AnyRows, type DataSet, PRESETS, type Preset, recipeFor, type TableLike } from "@ranksim/data";
import { type Command, Option } from "commander";
import type { Recipe } from "../model/recipe.ts";
import { givenParams } from "./estimator-flags.ts";
import { addPatchFlags, givenPatches, givenPatchFlags } from "./patch-flags.ts";
import { usageError } from "./usage-error.ts";
import { givenVectorizerFlags, vectorizerOf } from "./vectorizer-flags.ts";

/** Adds --preset, and the flags of its patches. */
export function addPresetFlag(command: Command): Command {
  return addPatchFlags(
    command.addOption(
      new Option(
        "--preset <name>",
        "recipe by what the data is (default: balanced, unless --estimator or --vectorizer says what to train)",
      ).choices(PRESETS),
    ),
  );
}

/** What presets mean, for the help. */
export const PRESET_NOTES = `
Presets:
  paper     the paper's plain method
  fast      less time to train and to answer, a little less accurate
  balanced  patches for images, weighted words for text, refined filters, fitted probabilities (default)
  best      nine times the time to train and four times that to answer (images), for the last percent
  A parameter given by hand takes the place of its part.
`;

/** The preset that holds: the one given; none where the estimator or the vectoriser was chosen by hand; else balanced. */
export function presetOf(options: { readonly [name: string]: unknown }): Preset | undefined {
  const given = options.preset as Preset | undefined;
  const byHand = options.estimator === undefined ? undefined : "--estimator";
  if (given !== undefined && byHand) throw usageError(`${byHand} chooses by hand what --preset ${given} would choose`);
  if (given !== undefined) return given;
  if (byHand === undefined && options.vectorizer === undefined) return "balanced";
  const [stray] = givenPatchFlags(options);
  if (stray) throw usageError(`${stray} belongs to a preset, which ${byHand ?? "--vectorizer"} takes the place of`);
  return undefined;
}

/** A recipe with the preset that chose it. */
type PresetRecipe = Recipe & { readonly preset: Preset; readonly about: string };

/** The preset's recipe for the data, with the parameters that flags give and the encoder of a table that was planned by hand. */
export async function presetRecipe(
  preset: Preset,
  data: AnyRows,
  options: { readonly [name: string]: unknown },
  cwd: string,
  byHand?: Recipe,
): Promise<PresetRecipe> {
  const { params } = await givenParams(options, cwd);
  const { seed, ...others } = params;
  const patches = givenPatches(options);
  const recipe = recipeFor(data, { preset, ...(typeof seed === "number" ? { seed } : {}), params: others, patches });
  const { about } = recipe;
  if (byHand?.takes === "table") {
    const [encode] = byHand.estimator.estimators;
    const [, classify] = (recipe.estimator as unknown as Pipeline).estimators;
    const { columns } = byHand;
    return { preset, about, takes: "table", columns, estimator: new Pipeline<TableLike>([encode, classify] as never) };
  }
  if (recipe.takes !== "text") {
    return { preset, about, takes: "numbers", estimator: recipe.estimator as unknown as Pipeline };
  }
  const estimator = recipe.estimator as unknown as Pipeline<readonly string[]>;
  if (givenVectorizerFlags(options).length === 0 && options.vectorizer === undefined) {
    return { preset, about, takes: "text", estimator };
  }
  const words = await vectorizerOf({ vectorizer: "tfidf", ...options }, cwd);
  const own = new Pipeline<readonly string[], Model>([
    ["words", words],
    ["classify", estimator.estimators[1] as never],
  ]);
  return { preset, about, takes: "text", estimator: own };
}

/** Bytes that the preset's recipe makes of all rows in training: those of pooled patches, where rows are images. */
export async function madeByPreset(
  preset: Preset,
  set: DataSet,
  options: { readonly [name: string]: unknown },
  cwd: string,
): Promise<number> {
  if (set.form !== "matrix" || set.imageSize === undefined || options.table === true) return 0;
  const { estimator } = await presetRecipe(preset, set, options, cwd);
  const [first] = estimator instanceof Pipeline ? estimator.estimators : [];
  return first instanceof PatchTransform ? set.x.rows * first.trainingBytes(set.x.features) : 0;
}
