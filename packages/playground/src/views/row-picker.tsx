/** Which row of the data is the sample. */

import { useState } from "preact/hooks";
import { useAnswer, useController, usePage } from "./context.ts";
import { RowPicture } from "./pictures.tsx";
import { count, counted } from "./text.ts";

/** Thumbnails beside each other. */
const STRIP = 16;

export function RowPicker() {
  const { sampling } = useController();
  const page = usePage();
  const [error, setError] = useState("");
  const data = page.data.value;
  const browsed = page.browsed.value ?? new Uint32Array(0);
  const origin = page.sample.value?.origin;
  if (!data || browsed.length === 0) {
    // The place is kept while data is being opened, and not for a model that has none.
    return page.busy.value === undefined ? null : <section class="card rows" aria-label="Rows of the data" />;
  }
  const at = origin ? browsed.indexOf(origin.row) : -1;
  const pick = (position: number) => {
    setError("");
    void sampling.pickRow(browsed[(position + browsed.length) % browsed.length]);
  };
  const pickNamed = (text: string) => {
    const row = Number(text);
    const exists = text !== "" && Number.isInteger(row) && row >= 0 && row < data.rows;
    setError(exists ? "" : `Expected a row from 0 to ${count(data.rows - 1)}.`);
    if (exists) void sampling.pickRow(row);
  };
  const heldOut = page.modelRecipe.value !== undefined && browsed.length < data.rows;
  return (
    <section class="card rows" aria-label="Rows of the data">
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
            aria-invalid={error !== ""}
            aria-errormessage="row-error"
            onChange={(event) => pickNamed(event.currentTarget.value)}
          />
        </label>
        <button type="button" class="quiet" aria-label="Next row" onClick={() => pick(at + 1)}>
          ›
        </button>
        <button type="button" class="quiet" onClick={() => pick(Math.floor(Math.random() * browsed.length))}>
          Random
        </button>
        {page.imageSize.value && (
          <button
            type="button"
            class="quiet"
            disabled={!page.sample.value?.edited || !origin}
            onClick={() => sampling.reset()}
          >
            Reset
          </button>
        )}
        <span class="hint">
          {origin?.label !== undefined && (
            <>
              labelled <b>{origin.label}</b> ·{" "}
            </>
          )}
          {counted(browsed.length, heldOut ? "held-out row" : "row")}
        </span>
      </div>
      <Strip browsed={browsed} at={Math.max(at, 0)} />
      <p id="row-error" class="field-error" role="alert">
        {error}
      </p>
    </section>
  );
}

/** Neighbours of the row, as pictures. */
function Strip({ browsed, at }: { browsed: Uint32Array; at: number }) {
  const { sampling } = useController();
  const origin = usePage().sample.value?.origin;
  const size = usePage().imageSize.value;
  const from = Math.min(Math.floor(at / STRIP) * STRIP, Math.max(browsed.length - STRIP, 0));
  const rows = Array.from(browsed.subarray(from, from + STRIP));
  const { answer } = useAnswer("rows", size ? { rows } : undefined, rows.join());
  if (!size) return null;
  return (
    <div class="strip">
      {answer?.map((row) => (
        <button
          type="button"
          key={row.row}
          class="thumb"
          aria-pressed={row.row === origin?.row}
          aria-label={`Row ${row.row}${row.label === undefined ? "" : `, labelled ${row.label}`}`}
          onClick={() => sampling.pickRow(row.row)}
        >
          <RowPicture row={row} />
        </button>
      ))}
    </div>
  );
}
