/** The address of the page as it stands now. */

import { MOST_DRAWN, writeAddress } from "./address.ts";
import { isBlank } from "./sampling.ts";
import type { PageState } from "./state.ts";

/** What the address should say; undefined while something is being opened or trained, as that is no view to come back to. */
export function addressOf(state: PageState): string | undefined {
  const { data, model, modelRecipe, recipe, sample, view, run, busy } = state;
  if (run.value || busy.value !== undefined) return undefined;
  if (!data.value && !model.value) return undefined;
  const served = model.value?.origin === "file" ? /^model-[\w.-]+$/.exec(model.value.name)?.[0] : undefined;
  const shown = sample.value;
  const { tab, cell, filter } = view.value;
  return writeAddress({
    data: data.value?.name ?? "digits",
    recipe: modelRecipe.value ?? recipe.value,
    tab,
    ...(served !== undefined ? { model: served } : {}),
    ...(shown?.origin ? { row: shown.origin.row } : {}),
    ...drawnOf(state),
    ...(cell ? { cell } : {}),
    ...(filter === undefined ? {} : { filter }),
  });
}

function drawnOf({ sample }: PageState): { ink?: Uint8Array; drawn?: Uint8Array } {
  const shown = sample.value;
  if (shown?.sample.form !== "dense") return {};
  // A blank sample is said too: a link to it must not open with the first row.
  if (!shown.edited && (shown.origin || !isBlank(shown.sample))) return {};
  if (shown.drawing) return { ink: Uint8Array.from(shown.drawing) };
  const { values } = shown.sample;
  const isBytes = values.every((value) => Number.isInteger(value) && value >= 0 && value <= 255);
  return values.length <= MOST_DRAWN && isBytes ? { drawn: Uint8Array.from(values) } : {};
}
