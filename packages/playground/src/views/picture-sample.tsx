/** A sample that is a picture: the painter with its tools. */

import { useMemo, useState } from "preact/hooks";
import { drawnSide } from "../drawing/ink-blocks.ts";
import type { ImageSize } from "../protocol.ts";
import { isBlank } from "../state/sampling.ts";
import type { SampleState } from "../state/state.ts";
import { useController, usePage } from "./context.ts";
import { Painter } from "./painter.tsx";
import { Toolbar } from "./toolbar.tsx";

const BRUSHES = [
  { size: 0.6, title: "Fine" },
  { size: 1, title: "Middle" },
  { size: 1.6, title: "Broad" },
];

export function PictureSample({ shown, values, size }: { shown: SampleState; values: Float64Array; size: ImageSize }) {
  const { sampling } = useController();
  const { data: summary, undo } = usePage();
  const data = summary.value;
  const [erase, setErase] = useState(false);
  const [brush, setBrush] = useState(1);
  // Where numbers count ink, one draws on the finer picture that they count.
  const fine = useMemo(() => sampling.drawingOf(shown), [shown, sampling]);
  const ink = fine
    ? { low: 0, high: 1, whole: true }
    : data
      ? { low: Math.min(data.low, 0), high: data.high, whole: data.whole }
      : { low: 0, high: 255, whole: true };
  const change = (changed: Float64Array, stroke: string) =>
    fine ? sampling.draw(changed, stroke) : sampling.edit({ form: "dense", values: changed }, stroke);
  const blank = isBlank(shown.sample);
  return (
    <>
      <Painter
        values={fine?.values ?? values}
        size={fine?.size ?? size}
        step={fine ? drawnSide(data?.inkBlocks ?? 1) : 1}
        ink={ink}
        erase={erase}
        brush={brush}
        prompt={blank ? (data?.name === "digits" ? "Draw a digit here" : "Draw here") : undefined}
        onChange={change}
        onClear={() => sampling.clear()}
        onBegin={shown.origin && !shown.edited ? (stroke) => sampling.begin(stroke) : undefined}
      />
      <Toolbar label="Drawing tools">
        <button
          type="button"
          class={shown.origin && !shown.edited ? "primary" : ""}
          disabled={blank}
          onClick={() => sampling.clear()}
        >
          Clear
        </button>
        <button type="button" disabled={undo.value.length === 0} onClick={() => sampling.undo()}>
          Undo
        </button>
        <button type="button" class="tool" aria-pressed={erase} onClick={() => setErase(!erase)}>
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
      </Toolbar>
      <p id="painter-keys" class="hint keys">
        Keys: arrows move, space draws, delete erases, shift + arrow draws along, c clears.
      </p>
    </>
  );
}
