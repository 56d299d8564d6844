/** All filters, class by class, those that stand for most rows first; one of them opened. */

import { useEffect, useRef, useState } from "preact/hooks";
import { useAnswer, useController, useField } from "./context.ts";
import { FilterPicture, RowPicture, sharesText } from "./pictures.tsx";
import { count, counted, featureName } from "./text.ts";

/** Filters of a class at first, and how many more at a time. */
const FIRST = { pictures: 15, words: 6 };
const MORE = 60;

/** Classes that are listed at once. */
const MOST_GROUPS = 30;

export function Gallery() {
  const model = useField("model");
  const filter = useField("filter");
  const size = useField("imageSize");
  const [groups, setGroups] = useState(MOST_GROUPS);
  if (!model) return <p class="muted">No filters yet: train a model, or drop a model file.</p>;
  const names = model.classes.length === 0 ? ["all filters"] : model.classes;
  return (
    <>
      <p class="hint">
        {size
          ? "The more ink, the more a pixel weighs: a filter is the rank order of the rows it stands for."
          : "Each filter by what it weighs most: a filter is the rank order of the rows it stands for."}
      </p>
      {filter !== undefined && filter < model.filters && <FilterDetail filter={filter} />}
      {names.slice(0, groups).map((name, group) => (
        <Group key={name} name={name} group={group} total={model.filtersPerClass[group] ?? 0} />
      ))}
      {names.length > groups && (
        <button type="button" class="quiet" onClick={() => setGroups(groups + MOST_GROUPS)}>
          {count(names.length - groups)} more classes
        </button>
      )}
    </>
  );
}

function Group({ name, group, total }: { name: string; group: number; total: number }) {
  const controller = useController();
  const size = useField("imageSize");
  const models = useField("modelCount");
  const first = size ? FIRST.pictures : FIRST.words;
  const [shown, setShown] = useState(first);
  const [seen, setSeen] = useState(false);
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    // Filters that nobody has scrolled to are not asked for.
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
  const { answer } = useAnswer("gallery", asked, `${models} ${seen} ${shown} ${group}`);
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

/** One filter in full, with rows it was made from. */
function FilterDetail({ filter }: { filter: number }) {
  const controller = useController();
  const models = useField("modelCount");
  const size = useField("imageSize");
  const element = useRef<HTMLElement>(null);
  const { answer, error } = useAnswer("filter", { filter, rows: 12 }, `${models} ${filter}`);
  useEffect(() => {
    element.current?.scrollIntoView({ block: "nearest" });
  }, [filter]);
  if (error || !answer) return null;
  const { view, rows } = answer;
  return (
    <section ref={element} class="detail" aria-label={`Filter ${filter}`}>
      <div class="detail-head">
        <h3>
          Filter {filter} <span class="muted">{sharesText(view)}</span>
        </h3>
        <button
          type="button"
          class="quiet"
          aria-label="Close the filter"
          onClick={() => controller.openFilter(undefined)}
        >
          Close
        </button>
      </div>
      <div class="detail-body">
        {size && <FilterPicture view={view} />}
        <div>
          <p class="hint">
            {size
              ? `Made from ${counted(view.rows, "training row")}.`
              : `Weighs most: ${view.top.map(({ feature, name }) => featureName(name, feature)).join(", ")}. Made from ${counted(view.rows, "training row")}.`}
          </p>
          <div class={size ? "thumbs" : "thumbs in-words"}>
            {rows.map((row) => (
              <button
                type="button"
                key={row.row}
                class="thumb"
                aria-label={`Training row ${row.row}${row.label === undefined ? "" : `, labelled ${row.label}`}: take it as the sample`}
                onClick={() => controller.pickRow(row.row)}
              >
                <RowPicture row={row} />
              </button>
            ))}
          </div>
        </div>
      </div>
    </section>
  );
}
