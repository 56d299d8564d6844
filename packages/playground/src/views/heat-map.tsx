/** The features that carried the decision, as a picture over the faint sample. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { drawInk, drawParts, inkOf } from "../drawing/picture.ts";
import type { ImageSize, Sample } from "../protocol.ts";
import { useField } from "./context.ts";
import { sharesText } from "./pictures.tsx";

export function HeatMap({ sample, size }: { sample: Sample & { form: "dense" }; size: ImageSize }) {
  const explanation = useField("explanation");
  const data = useField("data");
  const under = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    if (under.current) drawInk(under.current, inkOf(sample.values, data?.low ?? 0, data?.high ?? 255), size);
  }, [sample, size, data]);
  useLayoutEffect(() => {
    if (over.current && explanation) drawParts(over.current, explanation.features, explanation.parts, size);
  }, [explanation, size]);
  const rival = explanation?.rival;
  const first = explanation?.strongest[0];
  const [mine, other] = [first && sharesText(first), rival && sharesText(rival)];
  return (
    <figure class="sample-figure">
      <figcaption>What decided it</figcaption>
      <div
        class="paper heat"
        style={{ aspectRatio: `${size.width} / ${size.height}` }}
        role="img"
        aria-label={
          mine && other
            ? `Pixels that speak for ${mine} in orange, for ${other} in blue`
            : "Pixels that carried the decision: none yet"
        }
      >
        <canvas ref={under} class="ink faint" />
        <canvas ref={over} class="parts" />
      </div>
      {mine && other ? (
        <p
          class="legend heat-legend"
          title={`Value × difference of weights: filter ${first?.filter} against filter ${rival?.filter}, the strongest of another class`}
        >
          <span>
            <i class="swatch against" /> for {other}
          </span>
          <span class="heat-scale" aria-hidden="true" />
          <span>
            for {mine} <i class="swatch for" />
          </span>
        </p>
      ) : (
        <p class="hint">An empty sample excites no filter.</p>
      )}
    </figure>
  );
}
