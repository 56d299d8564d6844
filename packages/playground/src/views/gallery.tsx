/** All filters, class by class, those that stand for most rows first. */

import { useEffect, useRef, useState } from "preact/hooks";
import { withEstimator } from "../state/recipe.ts";
import { useAnswer, useController, usePage } from "./context.ts";
import { FilterPicture, sharesText } from "./pictures.tsx";
import { count, counted } from "./text.ts";

/** Filters of a class at first, and how many more at a time. */
const FIRST = { pictures: 15, words: 6 };
const MORE = 60;

/** Classes that are listed at once. */
const MOST_GROUPS = 30;

export function Gallery() {
  const model = usePage().model.value;
  const size = usePage().imageSize.value;
  const [groups, setGroups] = useState(MOST_GROUPS);
  if (!model) return <p class="muted">No filters yet: train a model, or drop a model file.</p>;
  if (model.filters === 0) return <NoFilters />;
  const names = model.classes.length === 0 ? ["all filters"] : model.classes;
  return (
    <>
      <p class="hint">
        {size
          ? "The more ink, the more a pixel weighs: a filter is the rank order of the rows it stands for."
          : "Each filter by what it weighs most: a filter is the rank order of the rows it stands for."}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls on a phone must be reached by keyboard */}
      <div class={names.length > 1 ? "groups" : ""} tabIndex={0}>
        {names.slice(0, groups).map((name, group) => (
          <Group key={name} name={name} group={group} total={model.filtersPerClass[group] ?? 0} />
        ))}
      </div>
      {names.length > groups && (
        <button type="button" class="quiet" onClick={() => setGroups(groups + MOST_GROUPS)}>
          {counted(names.length - groups, "more class", "more classes")}
        </button>
      )}
    </>
  );
}

/** Planes were chosen; the paper's method is one click away. */
function NoFilters() {
  const controller = useController();
  const { recipe, run, data } = usePage();
  return (
    <>
      <p class="hint">
        What suits this data best weighs its columns and has no filters. The paper's method makes filters of the same
        rows: each a rank order of rows alike.
      </p>
      {data.value && (
        <div class="buttons">
          <button
            type="button"
            disabled={run.value !== undefined}
            onClick={() => {
              const estimator = data.peek()?.multilabel ? "probabilistic" : "classifier";
              controller.setRecipe(withEstimator(recipe.peek(), estimator));
              void controller.train("full");
            }}
          >
            Show the paper's method
          </button>
        </div>
      )}
    </>
  );
}

function Group({ name, group, total }: { name: string; group: number; total: number }) {
  const controller = useController();
  const size = usePage().imageSize.value;
  const first = size ? FIRST.pictures : FIRST.words;
  const [shown, setShown] = useState(first);
  const [seen, setSeen] = useState(false);
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    // Filters that were not scrolled to are not asked for.
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) setSeen(true);
      },
      { rootMargin: "200px" },
    );
    if (element.current) observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  const asked = seen ? { group, from: 0, count: shown } : undefined;
  const { answer } = useAnswer("gallery", asked, `${seen} ${shown} ${group}`);
  return (
    <section ref={element} class="group">
      <h3>
        {name} <span class="muted">{counted(total, "filter")}</span>
      </h3>
      <div class={size ? "thumbs" : "thumbs in-words"}>
        {answer?.map((view) => (
          <button
            type="button"
            key={view.filter}
            class="thumb"
            title={`Filter ${view.filter}: ${counted(view.rows, "row")}`}
            aria-label={`Filter ${view.filter} of ${sharesText(view) || name}, made from ${counted(view.rows, "row")}`}
            onClick={() => controller.openFilter(view.filter)}
          >
            <FilterPicture view={view} />
          </button>
        ))}
        {total > shown && (
          <button type="button" class="quiet more" onClick={() => setShown(shown + MORE)}>
            {count(Math.min(total - shown, MORE))} more
          </button>
        )}
      </div>
    </section>
  );
}
