/** What a rank filter is, in three pictures of the current sample: its pixels, their rank order, the product with a filter. */

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { drawInk, inkOf } from "../drawing/picture.ts";
import { drawProduct, drawSorted, orderOf } from "../drawing/ranks.ts";
import type { ImageSize, ModelSummary } from "../protocol.ts";
import { useController, usePage } from "./context.ts";
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: on a phone the cards are scrolled, also by keyboard
    <section class="how" aria-labelledby="how-title" tabIndex={0}>
      <h2 id="how-title" class="visually-hidden">
        How it works
      </h2>
      <Pixels />
      {patches ? <Patches patches={patches} /> : <RankOrder />}
      <Product />
    </section>
  );
}

/** The pixel that is looked at, in all three pictures. */
const picked = signal<number | undefined>(undefined);

/** A drag of this many pixels of the screen takes a value through its whole range. */
const DRAG = 120;

/** Pixels that can be pulled up and down: with a pointer, or with the arrow keys. */
function usePulling(size: ImageSize | undefined) {
  const { sampling } = useController();
  const { values, low, high } = useValues();
  const from = useRef<{ y: number; value: number; tool: string }>();
  if (!values) return {};
  const at = picked.value ?? 0;
  const set = (value: number, tool: string) => {
    const changed = values.slice();
    const bounded = Math.min(high, Math.max(low, value));
    changed[at] = high - low > 1 ? Math.round(bounded) : bounded;
    sampling.edit({ form: "dense", values: changed }, tool);
  };
  const pixelAt = (event: PointerEvent): number => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const [across, down] = size ? [size.width, size.height] : [values.length, 1];
    // The picture stands in the middle of its place, as large as it fits.
    const cell = Math.min(box.width / across, size ? box.height / down : Number.POSITIVE_INFINITY);
    const x = Math.floor((event.clientX - box.left - (box.width - cell * across) / 2) / cell);
    const y = size ? Math.floor((event.clientY - box.top - (box.height - cell * down) / 2) / cell) : 0;
    return x >= 0 && x < across && y >= 0 && y < down ? y * across + x : -1;
  };
  return {
    tabIndex: 0,
    role: "slider" as const,
    "aria-label": `Number ${at}: arrows left and right choose another, up and down change it`,
    "aria-valuenow": values[at],
    "aria-valuemin": low,
    "aria-valuemax": high,
    onPointerDown: (event: PointerEvent) => {
      const pixel = pixelAt(event);
      if (pixel < 0) return;
      picked.value = pixel;
      (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      from.current = { y: event.clientY, value: values[pixel], tool: `pull ${event.timeStamp}` };
    },
    onPointerMove: (event: PointerEvent) => {
      const start = from.current;
      if (start) return set(start.value + ((start.y - event.clientY) / DRAG) * (high - low), start.tool);
      const pixel = pixelAt(event);
      if (pixel >= 0) picked.value = pixel;
    },
    onPointerUp: () => {
      from.current = undefined;
    },
    onPointerLeave: () => {
      if (!from.current) picked.value = undefined;
    },
    onKeyDown: (event: KeyboardEvent) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const change = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      if (by === undefined && change === undefined) return;
      event.preventDefault();
      if (by !== undefined) picked.value = (at + by + values.length) % values.length;
      else set(values[at] + ((change ?? 0) * (high - low)) / 16, `pull ${at}`);
    },
  };
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
  const pulling = usePulling(isPicture ? size : undefined);
  const at = picked.value;
  return (
    <Explained
      step={1}
      pulling={pulling}
      title={isPicture || !values ? "Pixels" : "Numbers"}
      draw={(canvas) => {
        if (!values) return;
        if (isPicture) drawInk(canvas, inkOf(values, low, high), size);
        else drawSorted(canvas, values, low, high, false);
      }}
      kind={isPicture ? "ink pixels" : "ink"}
      about="The numbers of the sample"
    >
      {data.value?.name === "digits" || !values
        ? "Your drawing becomes 64 numbers: how much ink is in each block. That is all the filters ever see."
        : `The sample is ${count(values.length)} numbers.${model.value?.patches ? "" : " That is all the filters ever see."}`}{" "}
      {at === undefined || !values ? (
        "Drag one up or down."
      ) : (
        <b>{`Number ${at} is ${Math.round(100 * values[at]) / 100}.`}</b>
      )}
    </Explained>
  );
}

function RankOrder() {
  const { values, low, high } = useValues();
  const at = picked.value;
  return (
    <Explained
      step={2}
      title="Rank order"
      draw={(canvas) => values && drawSorted(canvas, values, low, high, true, at)}
      kind="ink"
      about="The numbers sorted from least to most"
    >
      Sorted from least to most, they have an order. A filter is such an order and nothing else: the mean rank of each
      pixel over rows alike, as a ramp of weights.{" "}
      {at !== undefined && values && (
        <b>{`Number ${at} has rank ${orderOf(values).indexOf(at) + 1} of ${values.length}.`}</b>
      )}
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
  const at = picked.value;
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
        drawProduct(canvas, values, filters, data.value?.low ?? 0, data.value?.high ?? 255, at);
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
  readonly pulling?: object;
  readonly children: ComponentChildren;
}

/** A picture that is redrawn at each change, and two sentences. */
function Explained({ step, title, draw, kind, about, pulling, children }: ExplainedProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    if (canvas.current) draw(canvas.current);
  });
  return (
    <figure class="card">
      <span class="paper drawing">
        <canvas ref={canvas} class={kind} role="img" aria-label={about} {...pulling} />
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
