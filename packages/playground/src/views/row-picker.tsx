/** Which row of the data is the sample. */

import { useAnswer, useController, useField } from "./context.ts";
import { RowPicture } from "./pictures.tsx";
import { count } from "./text.ts";

/** Thumbnails beside each other. */
const STRIP = 10;

export function RowPicker() {
  const controller = useController();
  const browsed = useField("browsed");
  const origin = useField("origin");
  const model = useField("model");
  const modelRecipe = useField("modelRecipe");
  const data = useField("data");
  if (!data || browsed.length === 0 || (model && !model.fitsData)) return null;
  const at = origin ? browsed.indexOf(origin.row) : -1;
  const pick = (position: number) => {
    const wrapped = (position + browsed.length) % browsed.length;
    void controller.pickRow(browsed[wrapped]);
  };
  const heldOut = modelRecipe !== undefined && browsed.length < data.rows;
  return (
    <div class="row-picker">
      <div class="row-choice">
        <button type="button" class="quiet" aria-label="Previous row" onClick={() => pick(Math.max(at, 0) - 1)}>
          ‹
        </button>
        <label>
          <span class="muted">Row</span>
          <input
            type="number"
            min="0"
            max={data.rows - 1}
            value={origin?.row ?? ""}
            aria-label="Row of the data"
            onChange={(event) => controller.pickRow(Number(event.currentTarget.value))}
          />
        </label>
        <button type="button" class="quiet" aria-label="Next row" onClick={() => pick(at + 1)}>
          ›
        </button>
        <button type="button" class="quiet" onClick={() => pick(Math.floor(Math.random() * browsed.length))}>
          Random
        </button>
        <span class="hint">
          {origin?.label !== undefined && (
            <>
              labelled <b>{origin.label}</b> ·{" "}
            </>
          )}
          {heldOut ? `${count(browsed.length)} held-out rows` : `${count(browsed.length)} rows`}
        </span>
      </div>
      <Strip browsed={browsed} at={Math.max(at, 0)} />
    </div>
  );
}

/** Neighbours of the row, as pictures. */
function Strip({ browsed, at }: { browsed: Uint32Array; at: number }) {
  const controller = useController();
  const origin = useField("origin");
  const size = useField("imageSize");
  const from = Math.min(Math.floor(at / STRIP) * STRIP, Math.max(browsed.length - STRIP, 0));
  const rows = Array.from(browsed.subarray(from, from + STRIP));
  const { answer } = useAnswer("rows", size ? { rows } : undefined, rows.join());
  if (!size || !answer) return null;
  return (
    <div class="strip">
      {answer.map((row) => (
        <button
          type="button"
          key={row.row}
          class="thumb"
          aria-pressed={row.row === origin?.row}
          aria-label={`Row ${row.row}${row.label === undefined ? "" : `, labelled ${row.label}`}`}
          onClick={() => controller.pickRow(row.row)}
        >
          <RowPicture row={row} />
        </button>
      ))}
    </div>
  );
}
