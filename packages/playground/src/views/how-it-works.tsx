/** What a rank filter is, in three pictures of the current sample: its pixels, their rank order, the product with a filter. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { drawInk, inkOf } from "../drawing/picture.ts";
import { drawProduct, drawSorted } from "../drawing/ranks.ts";
import type { ModelSummary } from "../protocol.ts";
import { usePage } from "./context.ts";
import { sharesText } from "./pictures.tsx";
import { count, counted, response } from "./text.ts";

/** Wider rows have bars too thin to be seen. */
const MOST_BARS = 4096;

export function HowItWorks() {
  const { sample: state, model } = usePage();
  const sample = state.value?.sample;
  const values = sample?.form === "dense" && sample.values.length <= MOST_BARS ? sample.values : undefined;
  if ((sample && !values) || model.value?.filters === 0) return null;
  const patches = model.value?.patches;
  if (!patches && model.value && values && model.value.features !== values.length) return null;
  return (
    <section class="how" aria-labelledby="how-title">
      <h2 id="how-title" class="visually-hidden">
        How it works
      </h2>
      <Pixels />
      {patches ? <Patches patches={patches} /> : <RankOrder />}
      <Product />
    </section>
  );
}

/** The numbers of the sample and their range; each picture follows only what it shows, as all are drawn at every stroke. */
function useValues(): { values: Float64Array | undefined; low: number; high: number } {
  const { sample, data } = usePage();
  const shown = sample.value?.sample;
  return {
    values: shown?.form === "dense" ? shown.values : undefined,
    low: data.value?.low ?? 0,
    high: data.value?.high ?? 255,
  };
}

function Pixels() {
  const { imageSize, data, model } = usePage();
  const { values, low, high } = useValues();
  const size = imageSize.value;
  const isPicture = size && values && size.width * size.height === values.length;
  return (
    <Explained
      step={1}
      title={isPicture || !values ? "Pixels" : "Numbers"}
      draw={(canvas) => {
        if (!values) return;
        if (isPicture) drawInk(canvas, inkOf(values, low, high), size);
        else drawSorted(canvas, values, low, high, false);
      }}
      kind={isPicture ? "ink pixels" : "ink"}
      about="The numbers of the sample"
    >
      {data.value?.inkBlocks || !values
        ? "Your drawing becomes 64 numbers: how much ink is in each block. That is all the filters ever see."
        : `The sample is ${count(values.length)} numbers.${model.value?.patches ? "" : " That is all the filters ever see."}`}
    </Explained>
  );
}

function RankOrder() {
  const { values, low, high } = useValues();
  return (
    <Explained
      step={2}
      title="Rank order"
      draw={(canvas) => values && drawSorted(canvas, values, low, high, true)}
      kind="ink"
      about="The numbers sorted from least to most"
    >
      Sorted from least to most, they have an order. A filter is such an order and nothing else: the mean rank of each
      pixel over rows alike, as a ramp of weights.
    </Explained>
  );
}

/** What the filters of classes see where patches come first. */
function Patches({ patches }: { patches: NonNullable<ModelSummary["patches"]> }) {
  const seen = usePage().explanation.value?.seen;
  const [{ width, height }] = patches.sizes;
  return (
    <Explained
      step={2}
      title="Patches"
      draw={(canvas) => seen && drawInk(canvas, seen.drawn.pixels, seen.drawn.size)}
      kind="ink pixels"
      about="The sample, drawn again from the patches that were found in it"
    >
      Every window of {width} × {height} pixels meets {counted(patches.filters, "small filter")}, each a rank order.
      What was found where{seen && `, ${count(seen.values.length)} numbers,`} draws the sample again; the filters of
      classes see nothing else.
    </Explained>
  );
}

function Product() {
  const { explanation: answered, data, sample } = usePage();
  const explanation = answered.value;
  const [winner] = explanation?.strongest ?? [];
  const rival = explanation?.rival;
  const name = winner && (sharesText(winner) || `filter ${winner.filter}`);
  return (
    <Explained
      step={3}
      title="Product with a filter"
      draw={(canvas) => {
        // Read without following it: the answer comes right after each change of the sample.
        const shown = sample.peek()?.sample;
        const filters = [winner, rival].flatMap((view) => (view?.picture ? [view.picture] : []));
        const seen = explanation?.seen?.values;
        if (seen) return drawProduct(canvas, seen, filters, 0, Math.max(...seen));
        const values = shown?.form === "dense" ? shown.values : undefined;
        drawProduct(canvas, values, filters, data.value?.low ?? 0, data.value?.high ?? 255);
      }}
      kind="ink"
      about="The numbers in the order of the strongest filter and of its rival"
    >
      Put in a filter's order, {explanation?.seen ? "what" : "ink that"} rises with the ramp adds up to a strong
      response.{" "}
      {winner ? (
        <>
          The strongest here is a <b>{name}</b> with <Response of={winner.response} />
          {rival && (
            <>
              ; below it, the best <b>{sharesText(rival)}</b>
            </>
          )}
          .
        </>
      ) : (
        "The strongest filter names the answer."
      )}
    </Explained>
  );
}

/** A number that changes at every stroke, in a place of its own so that the text around it need not be laid out again. */
function Response({ of }: { of: number }) {
  const text = response(of);
  return (
    <span class="response" style={{ "--figures": text.length }}>
      {text}
    </span>
  );
}

interface ExplainedProps {
  readonly step: number;
  readonly title: string;
  readonly draw: (canvas: HTMLCanvasElement) => void;
  readonly kind: string;
  readonly about: string;
  readonly children: ComponentChildren;
}

/** A picture that is redrawn at each change, and two sentences. */
function Explained({ step, title, draw, kind, about, children }: ExplainedProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    if (canvas.current) draw(canvas.current);
  });
  return (
    <figure class="card">
      <span class="paper drawing">
        <canvas ref={canvas} class={kind} role="img" aria-label={about} />
      </span>
      <figcaption>
        <h3>
          <span class="step-number">{step}</span> {title}
        </h3>
        <p>{children}</p>
      </figcaption>
    </figure>
  );
}
