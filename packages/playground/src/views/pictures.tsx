/** Small pictures: a row, a filter, or the words and features a filter weighs most where there is no picture. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { drawInk, inkOf } from "../drawing/picture.ts";
import type { FilterView, ImageSize, RowView, Sample } from "../protocol.ts";
import { usePage } from "./context.ts";
import { featureName, value } from "./text.ts";

/** Bytes of ink as a picture. Decorative: what it shows is said beside it. */
export function Picture({ pixels, size }: { pixels: ArrayLike<number>; size: ImageSize }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    if (canvas.current) drawInk(canvas.current, pixels, size);
  }, [pixels, size]);
  return (
    <span class="paper" style={{ aspectRatio: `${size.width} / ${size.height}` }}>
      <canvas ref={canvas} class="ink" />
    </span>
  );
}

/** A filter as a picture, or as the features it weighs most. */
export function FilterPicture({ view }: { view: FilterView }) {
  const size = usePage().imageSize.value;
  if (view.drawn) return <Picture pixels={view.drawn.pixels} size={view.drawn.size} />;
  if (size && view.picture?.length === size.width * size.height) return <Picture pixels={view.picture} size={size} />;
  return (
    <span class="top-features">
      {view.top.slice(0, 5).map(({ feature, name }) => (
        <span key={feature}>{featureName(name, feature)}</span>
      ))}
    </span>
  );
}

/** A row as a picture, or in a few words. */
export function RowPicture({ row }: { row: RowView }) {
  return <SamplePicture sample={row.sample} />;
}

function SamplePicture({ sample }: { sample: Sample }) {
  const size = usePage().imageSize.value;
  const data = usePage().data.value;
  if (sample.form === "text") return <span class="row-words">{sample.text.slice(0, 90)}</span>;
  if (size && sample.form === "dense" && sample.values.length === size.width * size.height) {
    return <Picture pixels={inkOf(sample.values, data?.low ?? 0, data?.high ?? 255)} size={size} />;
  }
  if (sample.form === "table") {
    return (
      <span class="row-words">
        {sample.cells
          .slice(0, 6)
          .map((cell) => cell ?? "–")
          .join(", ")}
      </span>
    );
  }
  return <span class="row-words">{Array.from(sample.values.slice(0, 6), value).join(", ")}…</span>;
}

/** The class or classes of a filter in words. */
export function sharesText({ shares }: FilterView): string {
  if (shares.length === 0) return "";
  if (shares.length === 1) return shares[0].label;
  return shares.map(({ label, share }) => `${label} ${Math.round(share * 100)} %`).join(", ");
}
