/** One filter in full, with rows it was made from: in a dialog, so that it opens in view wherever it was asked for. */

import { useEffect, useRef } from "preact/hooks";
import { useAnswer, useController, usePage } from "./context.ts";
import { FilterPicture, RowPicture, sharesText } from "./pictures.tsx";
import { counted, featureName } from "./text.ts";

/** Rows shown of those the filter was made from. */
const SHOWN_ROWS = 12;

export function FilterDialog() {
  const { view, model } = usePage();
  const { filter } = view.value;
  return filter !== undefined && filter < (model.value?.filters ?? 0) ? <Detail filter={filter} /> : null;
}

function Detail({ filter }: { filter: number }) {
  const controller = useController();
  const size = usePage().imageSize.value;
  const dialog = useRef<HTMLDialogElement>(null);
  const { answer, error } = useAnswer("filter", { filter, rows: SHOWN_ROWS }, `${filter}`);
  useEffect(() => dialog.current?.showModal(), []);
  const close = () => controller.openFilter(undefined);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself; the click is one beside it
    <dialog
      ref={dialog}
      class="filter-dialog"
      aria-label={`Filter ${filter}`}
      onClose={close}
      onClick={(event) => event.target === event.currentTarget && close()}
    >
      <div class="dialog-body">
        <div class="detail-head">
          <h2>
            Filter {filter}
            {answer && answer.view.shares.length > 0 && <span class="muted">for {sharesText(answer.view)}</span>}
          </h2>
          <button type="button" aria-label="Close the filter" onClick={close}>
            Close
          </button>
        </div>
        {error && <p class="field-error">{error}</p>}
        {answer && (
          <div class={size ? "detail-body pictured" : "detail-body"}>
            {size && <FilterPicture view={answer.view} />}
            <div>
              <p class="hint">
                {!size &&
                  `Weighs most: ${answer.view.top.map(({ feature, name }) => featureName(name, feature)).join(", ")}. `}
                Made from {counted(answer.view.rows, "training row")}
                {answer.rows.length > 0 ? "; some of them:" : "."}
              </p>
              <div class={size ? "thumbs" : "thumbs in-words"}>
                {answer.rows.map((row) => (
                  <button
                    type="button"
                    key={row.row}
                    class="thumb"
                    aria-label={`Training row ${row.row}${row.label === undefined ? "" : `, labelled ${row.label}`}: take it as the sample`}
                    onClick={() => {
                      close();
                      void controller.sampling.pickRow(row.row);
                    }}
                  >
                    <RowPicture row={row} />
                  </button>
                ))}
              </div>
            </div>
          </div>
        )}
      </div>
    </dialog>
  );
}
