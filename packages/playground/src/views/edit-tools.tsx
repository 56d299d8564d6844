/** What can be done to any sample that is typed or set by sliders. */

import { useController, usePage } from "./context.ts";
import { Toolbar } from "./toolbar.tsx";

/** Buttons for a sample that is edited. `clear`: what its first button says. */
export function EditTools({ clear }: { readonly clear: string }) {
  const { sampling } = useController();
  const { sample, undo } = usePage();
  return (
    <Toolbar label="Editing">
      <button type="button" onClick={() => sampling.clear()}>
        {clear}
      </button>
      <button type="button" disabled={undo.value.length === 0} onClick={() => sampling.undo()}>
        Undo
      </button>
      <button
        type="button"
        class="quiet"
        disabled={!sample.value?.edited || !sample.value.origin}
        onClick={() => sampling.reset()}
      >
        Reset
      </button>
    </Toolbar>
  );
}
