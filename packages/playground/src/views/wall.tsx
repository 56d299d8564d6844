/**
 * The wall: the filters of the model, all in view. Each lights up by its response to the sample, the winner grows. While a
 * model trains the wall shows the filters as they are becoming, and rows on their way to them.
 */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { DataSummary, FilterView, TrainingStep } from "../protocol.ts";
import type { RunState } from "../state/state.ts";
import { useAnswer, useController, usePage } from "./context.ts";
import { flyRows } from "./flights.ts";
import { FilterPicture, sharesText } from "./pictures.tsx";
import { counted } from "./text.ts";

/** Places that are kept free while nothing is known yet. */
const FIRST_PLACES = 30;

/** Tiles, at most: all of them may change many times a second. Words take more room than pictures. */
const MOST_TILES = 60;
const MOST_IN_WORDS = 30;

/** More filters than this are shown smaller. */
const FEW_FILTERS = 36;

export function WallPanel() {
  const { run, model, data, imageSize } = usePage();
  const size = imageSize.value;
  const known = model.value;
  const inWords = (data.value !== undefined || known !== undefined) && !size;
  const most = inWords ? MOST_IN_WORDS : MOST_TILES;
  const { answer: trained } = useAnswer("wall", known ? { most } : undefined, String(most));
  if (known && known.filters === 0 && !run.value?.wall.size) return null;
  const inTraining = run.value && run.value.wall.size > 0 ? run.value : undefined;
  const isMany =
    !inWords && (inTraining ? expectedTiles(inTraining, data.value) : (trained?.length ?? 0)) > FEW_FILTERS;
  return (
    <section class="card wall-panel" aria-labelledby="wall-title">
      <div class="panel-head">
        <h2 id="wall-title">
          {inTraining?.step?.stage === "patches"
            ? "Patch filters in training"
            : inTraining
              ? "Filters in training"
              : "The filters"}
          {known && !inTraining && (
            <span class="badge">
              {trained && trained.length < known.filters
                ? `${trained.length} of ${counted(known.filters, "filter")}`
                : counted(known.filters, "filter")}
            </span>
          )}
        </h2>
        <WatchButton />
      </div>
      <div class={inWords ? "wall in-words" : isMany ? "wall many" : "wall"} data-testid="wall">
        {inTraining ? (
          <TrainingWall run={inTraining} before={trained} places={inWords || trained ? 0 : FIRST_PLACES} />
        ) : trained ? (
          <LitWall filters={trained} />
        ) : (
          Array.from({ length: FIRST_PLACES }, (_, j) => <span key={j} class="tile empty" />)
        )}
      </div>
    </section>
  );
}

/** Tiles that a run will show: as many of each class as of the first. */
function expectedTiles({ wall }: RunState, data: DataSummary | undefined): number {
  const classes = Math.max(1, data?.classes.length ?? 1);
  let tiles = wall.get("")?.length ?? 0;
  for (const [name, views] of wall) {
    if (name === "") continue;
    tiles += classes * Math.min(views.length, tilesOfClass(classes));
    break;
  }
  return tiles;
}

/** Tiles of each class, at most. */
const tilesOfClass = (classes: number): number => Math.max(1, Math.floor(MOST_TILES / Math.max(1, classes)));

/** Training is watched here, so it can be started and ended here. */
function WatchButton() {
  const controller = useController();
  const { run, situation } = usePage();
  const pace = run.value?.pace;
  if (situation.value.is !== "both" || pace === "full") return null;
  return (
    <button
      type="button"
      class="quiet"
      // The second click of a double click is not meant for what the button has become.
      onClick={({ detail }) => detail < 2 && controller.go(pace ? "full" : "watch")}
    >
      {pace ? "Finish now" : "Watch it train"}
    </button>
  );
}

/** Filters lit by their responses: the weakest dark, the strongest bright. */
function LitWall({ filters }: { filters: readonly FilterView[] }) {
  const controller = useController();
  const explanation = usePage().explanation.value;
  const lights = lightsOf(filters, explanation?.responses, explanation?.strongest ?? []);
  const [strongest] = explanation?.strongest ?? [];
  const winner = strongest?.filter;
  const stead = strongest ? steadOf(filters, strongest) : -1;
  if (stead >= 0) lights[stead] = 1;
  return filters
    .map((tile, j) => (j === stead ? strongest : tile))
    .map((view, j) => (
      <button
        type="button"
        key={view.filter}
        class={view.filter === winner ? "tile winner" : "tile"}
        style={{ "--light": lights[j].toFixed(2) }}
        title={`Filter ${view.filter}, ${sharesText(view) || "no class"}: made from ${counted(view.rows, "row")}`}
        aria-label={`Filter ${view.filter} of ${sharesText(view) || "no class"}${view.filter === winner ? ", the strongest" : ""}`}
        onClick={() => controller.openFilter(view.filter)}
      >
        <FilterPicture view={view} />
        <span class="tile-name" aria-hidden="true">
          {view.shares[0]?.label ?? view.filter}
        </span>
      </button>
    ));
}

/** The place that the strongest filter takes where a large bank leaves it off the wall: the last of its class. */
function steadOf(filters: readonly FilterView[], strongest: FilterView): number {
  if (filters.length === 0 || filters.some(({ filter }) => filter === strongest.filter)) return -1;
  const label = strongest.shares[0]?.label;
  const own = filters.findLastIndex(({ shares }) => shares[0]?.label === label);
  return own >= 0 ? own : filters.length - 1;
}

/** 0..1 for each filter. Squared, as all filters respond to all ink and only the last part of it tells them apart. */
function lightsOf(
  filters: readonly FilterView[],
  responses: Float64Array | undefined,
  strongest: readonly { readonly filter: number; readonly similarity: number }[],
): number[] {
  if (strongest.length === 0) return filters.map(() => 0);
  if (responses?.length !== filters.length) {
    const similarity = new Map(strongest.map((strong) => [strong.filter, strong.similarity]));
    return filters.map(({ filter }) => (similarity.get(filter) ?? 0) ** 2);
  }
  const low = Math.min(...responses);
  const span = Math.max(...responses) - low;
  return Array.from(responses, (response) => (span > 0 ? ((response - low) / span) ** 2 : 0));
}

interface TrainingWallProps {
  readonly run: RunState;
  readonly before: readonly FilterView[] | undefined;
  /** Places to keep free for filters that are still to come. */
  readonly places: number;
}

/** The filters of each class as they are now; classes that wait for their turn keep what was there, faint. */
function TrainingWall({ run, before, places }: TrainingWallProps) {
  const wall = useRef<HTMLSpanElement>(null);
  const size = usePage().imageSize.value;
  const { step } = run;
  const classes = usePage().data.value?.classes.length ?? 1;
  useLayoutEffect(() => {
    const place = wall.current?.parentElement;
    if (place && step && size && step.arrivals.length > 0) flyRows(place, step, size);
  }, [step, size]);
  const tiles = tilesOf(run, before, step, tilesOfClass(classes));
  return (
    <>
      <span ref={wall} hidden />
      {tiles.map(({ view, name, state, target }, j) => (
        <span key={j} class={`tile ${state}`} {...(target === undefined ? {} : { "data-target": target })}>
          <FilterPicture view={view} />
          <span class="tile-name">{name}</span>
        </span>
      ))}
      {Array.from({ length: Math.max(0, places - tiles.length) }, (_, j) => (
        <span key={tiles.length + j} class="tile empty" />
      ))}
    </>
  );
}

interface Tile {
  readonly view: FilterView;
  readonly name: string;
  readonly state: "" | "waiting" | "changed" | "working";
  readonly target?: number;
}

function tilesOf(
  run: RunState,
  before: readonly FilterView[] | undefined,
  step: TrainingStep | undefined,
  mostOfClass: number,
): Tile[] {
  const atWork = step?.label ?? "";
  const groups = new Map<string, readonly Tile[]>();
  for (const view of run.wall.has("") ? [] : (before ?? [])) {
    const name = view.shares[0]?.label ?? "";
    groups.set(name, [...(groups.get(name) ?? []), { view, name, state: "waiting" }]);
  }
  for (const [name, views] of run.wall) {
    const tiles = views.slice(0, name === "" ? MOST_TILES : mostOfClass).map((view, j): Tile => {
      if (name !== atWork || !step) return { view, name, state: "" };
      return { view, name, state: step.changed[j] ? "changed" : "working", target: j };
    });
    groups.set(name, tiles);
  }
  return [...groups.values()].flat();
}
