/** Which patches were found where in the image: for the answer, and for the runner-up. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { drawInk, drawTint, inkOf } from "../drawing/picture.ts";
import type { FoundPatch, ImageSize, PatchSide } from "../protocol.ts";
import { withEstimator } from "../state/recipe.ts";
import { useController, usePage, useSampleAnswer } from "./context.ts";
import { Notice } from "./notice.tsx";
import { Picture } from "./pictures.tsx";
import { counted } from "./text.ts";

export function PatchesView() {
  const { model, sample } = usePage();
  const patches = model.value?.patches;
  if (!patches) return <NoPatches />;
  const sizes = patches.sizes.map(({ width, height }) => `${width} × ${height}`).join(" and ");
  const isDrawn = sample.value?.sample.form === "dense";
  return (
    <>
      <p class="hint">
        Two layers. Every window of {sizes} pixels is compared with {counted(patches.filters, "patch filter")}, each a
        rank order of its own; what was found is added up in the cells of a grid, and filters of classes weigh those
        sums.
      </p>
      {isDrawn && <Decision />}
    </>
  );
}

function NoPatches() {
  const controller = useController();
  const { data, model, recipe, run } = usePage();
  const possible = data.value?.imageSize !== undefined && data.value.classes.length > 0 && !data.value.multilabel;
  return (
    <>
      <p class="hint">
        {model.value ? "The filters of this model look at rows as a whole. " : ""}
        Patch filters look at small windows of a picture, wherever in a part of it they lie: a first layer, before the
        filters of classes. They tell more about pictures of things, such as clothes.
      </p>
      {possible ? (
        <div class="buttons">
          <button
            type="button"
            disabled={run.value !== undefined}
            onClick={() => {
              // What is trained first where nothing is tried: of pictures, patches.
              controller.setRecipe({ ...withEstimator(recipe.peek(), "chosen"), params: { preset: "fast" } });
              void controller.train("full");
            }}
          >
            Train with patches
          </button>
        </div>
      ) : (
        <p class="muted">They need labelled pictures, one class each.</p>
      )}
    </>
  );
}

function Decision() {
  const { answer, error } = useSampleAnswer("patches");
  if (error) return <Notice kind="error" text={error} />;
  if (answer === undefined) return <p class="muted">Looking for patches…</p>;
  if (answer === null)
    return <p class="muted">No patch was found: the picture is empty, or there is one class only.</p>;
  const { given, rival, size, banks } = answer;
  const most = Math.max(...[given, rival].flatMap((side) => side?.found.map(({ part }) => part) ?? []), 0);
  return (
    <>
      <div class="patch-sides" data-testid="patches">
        <Side side={given} size={size} most={most} tint="for" title={`For ${given.label}`} />
        {rival && (
          <Side side={rival} size={size} most={most} tint="against" title={`For ${rival.label}, the runner-up`} />
        )}
      </div>
      {banks.map(({ patch, filters }) => (
        <figure key={`${patch.width}x${patch.height}`} class="patch-bank">
          <figcaption>
            All {filters.length} patch filters of {patch.width} × {patch.height} pixels
          </figcaption>
          <div class="patch-thumbs">
            {filters.map((pixels, j) => (
              <Picture key={j} pixels={pixels} size={patch} />
            ))}
          </div>
        </figure>
      ))}
    </>
  );
}

interface SideProps {
  readonly side: PatchSide;
  readonly size: ImageSize;
  /** The largest part of a patch on either side. */
  readonly most: number;
  readonly tint: "for" | "against";
  readonly title: string;
}

/** One class: the image tinted where it was found, and its patches; the one pointed at is framed in the image. */
function Side({ side, size, most, tint, title }: SideProps) {
  const { sample, data } = usePage();
  const [pointed, setPointed] = useState<FoundPatch>();
  const under = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const shown = sample.value?.sample;
  useLayoutEffect(() => {
    if (!under.current || shown?.form !== "dense") return;
    drawInk(under.current, inkOf(shown.values, data.value?.low ?? 0, data.value?.high ?? 255), size);
  }, [shown, size, data.value]);
  useLayoutEffect(() => {
    if (over.current) drawTint(over.current, side.where, tint, size);
  }, [side, size, tint]);
  const cell = pointed?.cell;
  const frame = (cell ?? side.found[0]?.cell) && {
    left: `${(100 * (cell ?? side.found[0].cell).x) / size.width}%`,
    top: `${(100 * (cell ?? side.found[0].cell).y) / size.height}%`,
    width: `${(100 * (cell ?? side.found[0].cell).width) / size.width}%`,
    height: `${(100 * (cell ?? side.found[0].cell).height) / size.height}%`,
  };
  return (
    <figure class="patch-side" data-side={tint}>
      <figcaption>{title}</figcaption>
      <div
        class="paper heat"
        style={{ aspectRatio: `${size.width} / ${size.height}` }}
        role="img"
        aria-label={`Where in the picture ${side.label} was found`}
      >
        <canvas ref={under} class="ink faint" />
        <canvas ref={over} class="parts" />
        {frame && <span class="cell-frame" style={frame} />}
      </div>
      <ul class="found-patches">
        {side.found.map((patch, j) => (
          <li key={j}>
            <button
              type="button"
              class={patch === (pointed ?? side.found[0]) ? "found-patch pointed" : "found-patch"}
              aria-label={`Patch ${j + 1} for ${side.label}, found ${placeOf(patch, size)}`}
              onPointerEnter={() => setPointed(patch)}
              onFocus={() => setPointed(patch)}
            >
              <Picture pixels={patch.drawn.pixels} size={patch.drawn.size} />
              <span class="activation" aria-hidden="true">
                <i style={{ transform: `scaleX(${(most > 0 ? patch.part / most : 0).toFixed(4)})` }} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {side.found.length === 0 && <p class="muted">Nothing spoke for it.</p>}
    </figure>
  );
}

/** Where in the picture a patch was found, in words. */
function placeOf({ cell }: FoundPatch, size: ImageSize): string {
  const third = (middle: number, length: number) => Math.min(2, Math.floor((3 * middle) / length));
  const line = ["at the top", "in the middle", "at the bottom"][third(cell.y + cell.height / 2, size.height)];
  const column = [" left", "", " right"][third(cell.x + cell.width / 2, size.width)];
  return `${line}${column}`;
}
