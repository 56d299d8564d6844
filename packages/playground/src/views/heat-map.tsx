/** The features that carried the decision, as a picture over the faint sample. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { drawInk, drawParts, inkOf } from "../drawing/picture.ts";
import type { ImageSize, Sample } from "../protocol.ts";
import { usePage } from "./context.ts";
import { sharesText } from "./pictures.tsx";

export function HeatMap({ sample, size }: { sample: Sample & { form: "dense" }; size: ImageSize }) {
  const explanation = usePage().explanation.value;
  const data = usePage().data.value;
  const under = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    if (under.current) drawInk(under.current, inkOf(sample.values, data?.low ?? 0, data?.high ?? 255), size);
  }, [sample, size, data]);
  useLayoutEffect(() => {
    if (!over.current || !explanation) return;
    drawParts(over.current, explanation.features, explanation.parts, size);
  }, [explanation, size]);
  const isEmpty = explanation?.isEmpty;
  const rival = explanation?.rival;
  const first = explanation?.strongest[0];
  const [mine, other] = explanation?.between ?? [first && sharesText(first), rival && sharesText(rival)];
  return (
    <figure class="sample-figure">
      <figcaption>What decided it</figcaption>
      <div
        class="paper heat"
        style={{ aspectRatio: `${size.width} / ${size.height}` }}
        role="img"
        aria-label={
          mine && other
            ? `Pixels in favour of ${mine} in orange, for ${other} in blue`
            : "Pixels that carried the decision: none yet"
        }
      >
        <canvas ref={under} class="ink faint" />
        <canvas ref={over} class="parts" />
      </div>
      {mine && other ? (
        <p class="legend heat-legend" title="Value × difference of weights, between the strongest filters of both">
          <span>
            <i class="swatch against" /> for {other}
          </span>
          <span class="heat-scale" aria-hidden="true" />
          <span>
            for {mine} <i class="swatch for" />
          </span>
        </p>
      ) : (
        <p class="hint">
          {isEmpty
            ? "An empty sample excites no filter."
            : explanation
              ? "There is no other class to tell it from."
              : "\u00a0"}
        </p>
      )}
    </figure>
  );
}
