/** The sample as spikes: pixels arrive, the more ink the sooner, the potentials of the classes race, and at some moment the answer is certain. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { drawInk, inkOf } from "../drawing/picture.ts";
import type { SpikeView } from "../protocol.ts";
import { useAnswer, usePage, useSampleAnswer } from "./context.ts";
import { Notice } from "./notice.tsx";
import { SpikeCurve } from "./spike-curve.tsx";
import { percent } from "./text.ts";

/** Seconds from the first spike to the end. */
const SECONDS = 6;

/** Classes in the race. */
const MOST_RACERS = 10;

/** Steps of the slider. */
const STEPS = 1000;

/** Dots drawn at most, evenly among the spikes, where the sample is no picture. */
const MOST_DOTS = 500;

export function SpikesView() {
  const { model } = usePage();
  if (!model.value) return <p class="muted">No filters yet: train a model, or drop a model file.</p>;
  if (model.value.kind !== "classifier") {
    return <p class="muted">Potentials race between classes: train a classifier to watch them.</p>;
  }
  return (
    <>
      <p class="hint">
        {model.value.patches
          ? "Patches that were found spike into the second layer, the sooner the more of them there are."
          : "Every number spikes once, the sooner the larger it is."}{" "}
        A spike adds its weight to the current of each filter for good, and potentials grow. At the end they are the
        responses; the class is certain before, once no other can catch up.
      </p>
      <Race />
      <Savings />
    </>
  );
}

function Race() {
  const { sample } = usePage();
  const { answer, error } = useSampleAnswer("spikes");
  const { time, isPlaying, play, pause, seek } = usePlayer(answer, sample.value?.edited ?? false);
  if (error) return <Notice kind="note" text={`This cannot be shown as spikes: ${error}`} />;
  if (!answer) return <p class="muted">Following the spikes…</p>;
  if (answer.features.length === 0) return <p class="muted">An empty sample has no spikes.</p>;
  const certain = answer.end > 0 ? answer.settledAt / answer.end : 1;
  const arrived = countUntil(answer, time);
  const isCertain = time >= certain;
  const saved = answer.features.length - answer.settledAfter;
  return (
    <div class="spikes" data-testid="spikes">
      <div class="race-pair">
        <Arriving trace={answer} time={time} />
        <Racers trace={answer} time={time} isCertain={isCertain} />
      </div>
      <div class="spike-clock">
        <button type="button" class="primary" onClick={isPlaying ? pause : play}>
          {isPlaying ? "Pause" : "Play"}
        </button>
        <span class="clock-track">
          <input
            type="range"
            min="0"
            max={STEPS}
            value={Math.round(time * STEPS)}
            aria-label="Time"
            aria-valuetext={`${arrived} of ${answer.features.length} spikes${isCertain ? ", certain" : ""}`}
            onInput={(event) => seek(Number(event.currentTarget.value) / STEPS)}
          />
          <i class="certain-mark" style={{ left: `${100 * certain}%` }} aria-hidden="true" />
        </span>
        <button type="button" class="quiet" onClick={() => seek(certain)}>
          To where it is certain
        </button>
      </div>
      <p class="spike-state">
        <b>
          {arrived} of {answer.features.length} spikes
        </b>
        {isCertain ? (
          <>
            {" "}
            <span class="right">certain: {answer.racers[0].label}</span>{" "}
            {saved > 0
              ? `from spike ${answer.settledAfter} on; ${percent(saved / answer.features.length)} were not needed.`
              : "with the last of them."}
          </>
        ) : (
          <span class="muted"> another class could still win</span>
        )}
      </p>
    </div>
  );
}

/** The time of the race, 0..1. A new row plays by itself, unless reduced motion is preferred; an edited one stays where the time is. */
function usePlayer(trace: SpikeView | undefined, isEdited: boolean) {
  const [time, setTime] = useState(1);
  const [isPlaying, setPlaying] = useState(false);
  const now = useRef(1);
  const seek = (to: number) => {
    now.current = to;
    setTime(to);
    setPlaying(false);
  };
  const play = () => {
    if (now.current >= 1) now.current = 0;
    setPlaying(true);
  };
  useEffect(() => {
    if (!trace || isEdited || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    now.current = 0;
    setTime(0);
    setPlaying(true);
  }, [trace]);
  useEffect(() => {
    if (!isPlaying) return;
    let frame = 0;
    let before: number | undefined;
    const step = (clock: number) => {
      now.current = Math.min(1, now.current + (clock - (before ?? clock)) / (1000 * SECONDS));
      before = clock;
      setTime(now.current);
      if (now.current < 1) frame = requestAnimationFrame(step);
      else setPlaying(false);
    };
    frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying]);
  return { time, isPlaying, play, pause: () => setPlaying(false), seek };
}

/** Spikes that have arrived at a share of the time. */
function countUntil({ times, end }: SpikeView, time: number): number {
  let count = 0;
  while (count < times.length && times[count] <= time * end) count++;
  return count;
}

/** What has arrived: the picture as far as it is known, or a dot for each spike. */
function Arriving({ trace, time }: { trace: SpikeView; time: number }) {
  const { sample, imageSize, data } = usePage();
  const canvas = useRef<HTMLCanvasElement>(null);
  const shown = sample.value?.sample;
  const size = imageSize.value;
  const values = shown?.form === "dense" ? shown.values : undefined;
  const isPicture = size && values && !trace.isPooled && size.width * size.height === values.length;
  const arrived = countUntil(trace, time);
  useLayoutEffect(() => {
    if (!canvas.current || !isPicture) return;
    const seen = new Float64Array(values.length);
    for (const feature of trace.features.subarray(0, arrived)) seen[feature] = values[feature];
    drawInk(canvas.current, inkOf(seen, Math.min(0, data.value?.low ?? 0), data.value?.high ?? 255), size);
  }, [trace, arrived, isPicture]);
  return (
    <figure>
      <figcaption>{trace.isPooled ? "Spikes of the second layer" : "Spikes arriving"}</figcaption>
      {isPicture ? (
        <span class="paper" style={{ aspectRatio: `${size.width} / ${size.height}` }}>
          <canvas ref={canvas} class="ink" role="img" aria-label={`${arrived} pixels have arrived`} />
        </span>
      ) : (
        <Dots trace={trace} arrived={arrived} />
      )}
    </figure>
  );
}

/** A dot for each spike: its time to the right, its feature downwards. */
function Dots({ trace, arrived }: { trace: SpikeView; arrived: number }) {
  const last = trace.features.reduce((most, feature) => Math.max(most, feature), 1);
  const step = Math.max(1, trace.features.length / MOST_DOTS);
  const shown = Array.from({ length: Math.ceil(trace.features.length / step) }, (_, d) => Math.floor(d * step));
  return (
    <svg class="paper spike-dots" viewBox="0 0 100 100" role="img" aria-label={`${arrived} spikes have arrived`}>
      {shown.map((j) => (
        <circle
          key={j}
          cx={3 + (94 * trace.times[j]) / Math.max(1, trace.end)}
          cy={3 + (94 * trace.features[j]) / last}
          r="1.1"
          class={j < arrived ? "arrived" : ""}
        />
      ))}
    </svg>
  );
}

/** The potentials of the strongest filter of each class. */
function Racers({ trace, time, isCertain }: { trace: SpikeView; time: number; isCertain: boolean }) {
  const racers = trace.racers.slice(0, MOST_RACERS);
  const potentials = racers.map(({ potentials: own }) => potentialAt(trace, own, time));
  const most = Math.max(...racers.map(({ potentials: own }) => own[own.length - 1]), 1);
  const leader = potentials.indexOf(Math.max(...potentials));
  return (
    <figure>
      <figcaption>Potentials racing</figcaption>
      <ul class="bars race">
        {racers.map(({ label, filter }, j) => (
          <li
            key={label}
            class={j === leader && time > 0 ? `bar chosen${isCertain ? " certain" : ""}` : "bar"}
            title={`Filter ${filter}`}
          >
            <span class="bar-name" title={label}>
              {label}
            </span>
            <span class="bar-track">
              <i style={{ transform: `scaleX(${Math.max(0, potentials[j] / most).toFixed(4)})` }} />
            </span>
            <span class="bar-value">{percent(Math.max(0, potentials[j] / most))}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

/** A potential at a share of the time, between the moments at which it was noted. */
function potentialAt({ moments, end }: SpikeView, potentials: Float64Array, time: number): number {
  const at = time * end;
  let m = 0;
  while (m < moments.length - 1 && moments[m] < at) m++;
  const [from, to] = [m === 0 ? 0 : moments[m - 1], moments[m]];
  const [before, after] = [m === 0 ? 0 : potentials[m - 1], potentials[m]];
  return to > from ? before + (after - before) * Math.min(1, Math.max(0, (at - from) / (to - from))) : after;
}

/** How soon it is on many rows. */
function Savings() {
  const { data } = usePage();
  const { answer } = useAnswer("spikeSavings", data.value ? {} : undefined, "");
  return answer ? <SpikeCurve savings={answer} /> : null;
}
