/**
 * The sample as a picture that can be drawn on: with a mouse, a pen or a finger, or with the keyboard (arrows move, space
 * draws, delete erases, shift with an arrow draws along, c clears).
 */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { brushRadius, type Ink, type Point, stroke } from "../drawing/brush.ts";
import { drawInk, inkOf } from "../drawing/picture.ts";
import type { ImageSize } from "../protocol.ts";

interface PainterProps {
  readonly values: Float64Array;
  readonly size: ImageSize;
  readonly ink: Ink;
  readonly erase: boolean;
  /** 1 is the middle brush. */
  readonly brush: number;
  /** Pixels that the keyboard's cursor covers and moves by. */
  readonly step: number;
  /** What to say on an empty picture. */
  readonly prompt: string | undefined;
  /** Called at most once a frame; all changes of one stroke come with the same name. */
  readonly onChange: (values: Float64Array, stroke: string) => void;
  readonly onClear: () => void;
  /** Set while a row is shown as it is: drawing on it begins an empty picture. */
  readonly onBegin: ((stroke: string) => void) | undefined;
}

const ARROWS: { readonly [key: string]: readonly [dx: number, dy: number] } = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Strokes of all painters are numbered, so that no two have the same name. */
let strokes = 0;

export function Painter({ values, size, ink, erase, brush, step, prompt, onChange, onClear, onBegin }: PainterProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawing = useRef<{ values: Float64Array; at: Point; erase: boolean; frame: number; name: string } | undefined>(
    undefined,
  );
  const [cursor, setCursor] = useState<{ x: number; y: number; shown: boolean }>({ x: 0, y: 0, shown: false });
  const radius = brushRadius(size, brush);

  useLayoutEffect(() => {
    if (canvas.current) drawInk(canvas.current, inkOf(values, ink.low, ink.high), size);
  }, [values, size, ink.low, ink.high]);

  // A stroke that is cut short by another view must not draw later.
  useEffect(() => () => cancelAnimationFrame(drawing.current?.frame ?? 0), []);

  const pointOf = (event: PointerEvent): Point => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return {
      x: ((event.clientX - box.left) / box.width) * size.width,
      y: ((event.clientY - box.top) / box.height) * size.height,
    };
  };

  /** What a stroke is drawn on. */
  const start = (name: string, erases: boolean): Float64Array => {
    if (!onBegin || erases) return values.slice();
    onBegin(name);
    return new Float64Array(values.length).fill(ink.low);
  };

  const tellSoon = () => {
    const now = drawing.current;
    if (now?.frame !== 0) return;
    now.frame = requestAnimationFrame(() => {
      now.frame = 0;
      onChange(now.values.slice(), now.name);
    });
  };

  const begin = (event: PointerEvent) => {
    if (event.button > 2) return;
    event.preventDefault();
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    // The right button and a pen's eraser always erase.
    const erases = erase || event.button === 2 || (event.buttons & 32) !== 0;
    const name = `stroke ${strokes++}`;
    drawing.current = { values: start(name, erases), at: pointOf(event), erase: erases, frame: 0, name };
    move(event);
  };

  const move = (event: PointerEvent) => {
    const now = drawing.current;
    if (!now) return;
    const to = pointOf(event);
    stroke(now.values, size, now.at, to, radius, ink, now.erase);
    now.at = to;
    tellSoon();
  };

  const end = () => {
    const now = drawing.current;
    if (!now) return;
    cancelAnimationFrame(now.frame);
    drawing.current = undefined;
    onChange(now.values, now.name);
  };

  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROWS[event.key];
    const dab = event.key === " " || event.key === "Enter";
    const rub = event.key === "Delete" || event.key === "Backspace" || event.key === "e";
    if (event.key === "c") return onClear();
    if (!arrow && !dab && !rub) return;
    event.preventDefault();
    const to = {
      x: Math.min(size.width - step, Math.max(0, cursor.x + step * (arrow?.[0] ?? 0))),
      y: Math.min(size.height - step, Math.max(0, cursor.y + step * (arrow?.[1] ?? 0))),
    };
    setCursor({ ...to, shown: true });
    if (arrow && !event.shiftKey) return;
    const name = `stroke ${strokes++}`;
    const changed = start(name, rub || erase);
    const centre = (cell: { x: number; y: number }) => ({ x: cell.x + step / 2, y: cell.y + step / 2 });
    stroke(changed, size, centre(arrow ? cursor : to), centre(to), radius, ink, rub || erase);
    onChange(changed, name);
  };

  return (
    <div
      class="painter paper"
      style={{ aspectRatio: `${size.width} / ${size.height}` }}
      role="application"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: an application takes keys, so it must take the focus
      tabIndex={0}
      aria-label={`Sample, ${size.width} by ${size.height} pixels, to draw on`}
      aria-describedby="painter-keys"
      onPointerDown={begin}
      onPointerMove={move}
      onPointerUp={end}
      onPointerCancel={end}
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={press}
      onFocus={(event) => setCursor({ ...cursor, shown: event.currentTarget.matches(":focus-visible") })}
      onBlur={() => setCursor({ ...cursor, shown: false })}
      data-testid="painter"
    >
      <canvas ref={canvas} class={step > 1 ? "ink smooth" : "ink"} />
      {prompt && <span class="prompt">{prompt}</span>}
      {cursor.shown && (
        <span
          class="cursor"
          style={{
            left: `${(100 * cursor.x) / size.width}%`,
            top: `${(100 * cursor.y) / size.height}%`,
            width: `${(100 * step) / size.width}%`,
            height: `${(100 * step) / size.height}%`,
          }}
        />
      )}
    </div>
  );
}
