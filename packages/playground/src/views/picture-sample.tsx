/** A sample that is a picture: the painter with its tools, and what carried the decision beside it. */

import { useState } from "preact/hooks";
import type { ImageSize, Sample } from "../protocol.ts";
import { useController, useField } from "./context.ts";
import { HeatMap } from "./heat-map.tsx";
import { Painter } from "./painter.tsx";

/** Strokes that can be taken back. */
const MOST_UNDONE = 40;

const BRUSHES = [
  { size: 0.6, title: "Fine" },
  { size: 1, title: "Middle" },
  { size: 1.8, title: "Broad" },
];

export function PictureSample({ sample, size }: { sample: Sample & { form: "dense" }; size: ImageSize }) {
  const controller = useController();
  const data = useField("data");
  const model = useField("model");
  const edited = useField("edited");
  const origin = useField("origin");
  const [erase, setErase] = useState(false);
  const [brush, setBrush] = useState(1);
  const [undo, setUndo] = useState<readonly Float64Array[]>([]);
  const fits = data && (!model || model.fitsData);
  const ink = fits
    ? { low: Math.min(data.low, 0), high: data.high, whole: data.whole }
    : { low: 0, high: 255, whole: true };
  const change = (values: Float64Array) => controller.edit({ form: "dense", values });
  return (
    <div class="sample-pair">
      <figure class="sample-figure">
        <figcaption>
          Draw on it
          {edited && <span class="badge">{origin ? "changed" : "drawn"}</span>}
        </figcaption>
        <Painter
          values={sample.values}
          size={size}
          ink={ink}
          erase={erase}
          brush={brush}
          onBegin={(before) => setUndo((known) => [...known.slice(1 - MOST_UNDONE), before])}
          onChange={change}
        />
      </figure>
      <HeatMap sample={sample} size={size} />
      <div class="tools" role="toolbar" aria-label="Drawing tools">
        <button type="button" class="tool" aria-pressed={!erase} onClick={() => setErase(false)}>
          Draw
        </button>
        <button type="button" class="tool" aria-pressed={erase} onClick={() => setErase(true)}>
          Erase
        </button>
        <select
          aria-label="Brush"
          value={String(brush)}
          onChange={(event) => setBrush(Number(event.currentTarget.value))}
        >
          {BRUSHES.map(({ size: brushSize, title }) => (
            <option key={title} value={String(brushSize)}>
              {title}
            </option>
          ))}
        </select>
        <button
          type="button"
          class="quiet"
          disabled={undo.length === 0}
          onClick={() => {
            change(undo[undo.length - 1]);
            setUndo(undo.slice(0, -1));
          }}
        >
          Undo
        </button>
        <button type="button" class="quiet" onClick={() => controller.clearSample()}>
          Clear
        </button>
        <button type="button" class="quiet" disabled={!edited || !origin} onClick={() => controller.resetSample()}>
          Reset
        </button>
      </div>
      <p id="painter-keys" class="hint keys">
        Keys: arrows move, space draws, delete erases, shift + arrow draws along.
      </p>
    </div>
  );
}
