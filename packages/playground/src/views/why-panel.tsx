/** The answer and why: class probabilities and the strongest filters with their activations. */

import type { Explanation, StrongFilter } from "../protocol.ts";
import { useController, useField } from "./context.ts";
import { Notice } from "./notice.tsx";
import { FilterPicture, sharesText } from "./pictures.tsx";
import { counted, percent, score } from "./text.ts";

/** Classes that are shown when there are many. */
const MOST_CLASSES = 12;

export function WhyPanel() {
  const explanation = useField("explanation");
  const error = useField("explainError");
  const model = useField("model");
  return (
    <section class="card" aria-labelledby="why-title">
      <h2 id="why-title">
        <span class="step-number">4</span> Why
      </h2>
      {error && <Notice kind="error" text={error} />}
      {!model && <p class="muted">Train a model, and it answers here.</p>}
      {model && explanation && !error && (
        <>
          <Verdict explanation={explanation} />
          <div class="why-pair">
            {explanation.probabilities && <Probabilities explanation={explanation} classes={model.classes} />}
            <Strongest filters={explanation.strongest} />
          </div>
        </>
      )}
    </section>
  );
}

function Verdict({ explanation }: { explanation: Explanation }) {
  const model = useField("model");
  const origin = useField("origin");
  const edited = useField("edited");
  const before = useField("before");
  const { labels, probabilities, strongest } = explanation;
  if (strongest.length === 0) {
    return (
      <p class="verdict" aria-live="polite">
        <span class="muted">No filter responds: the sample is empty.</span>
      </p>
    );
  }
  if (!probabilities || !model) {
    return (
      <p class="verdict" aria-live="polite">
        Most like <b>filter {strongest[0].filter}</b>
      </p>
    );
  }
  const probability = Math.max(...labels.map((label) => probabilities[model.classes.indexOf(label)] ?? 0), 0);
  const right = !edited && origin?.label !== undefined ? labels.join(", ") === origin.label : undefined;
  return (
    <p class="verdict" aria-live="polite" data-testid="verdict">
      <span class="answer">{labels.length === 0 ? "no label" : labels.join(", ")}</span>
      <span>
        {labels.length > 0 && `with probability ${percent(probability)}`}
        {right === true && <span class="right"> · right</span>}
        {right === false && <span class="wrong"> · wrong, labelled {origin?.label}</span>}
        {edited && before && <span class="muted"> · before your change: {before.labels.join(", ") || "none"}</span>}
      </span>
    </p>
  );
}

function Probabilities({ explanation, classes }: { explanation: Explanation; classes: readonly string[] }) {
  const before = useField("before");
  const { probabilities, labels } = explanation;
  if (!probabilities) return null;
  const order = Array.from(classes.keys());
  const few = classes.length <= MOST_CLASSES;
  if (!few) order.sort((a, b) => probabilities[b] - probabilities[a]);
  return (
    <figure>
      <figcaption>Class probabilities</figcaption>
      <ul class="bars">
        {order.slice(0, MOST_CLASSES).map((c) => (
          <li key={c} class={labels.includes(classes[c]) ? "bar chosen" : "bar"}>
            <span class="bar-name" title={classes[c]}>
              {classes[c]}
            </span>
            <span class="bar-track">
              <i style={{ width: `${100 * probabilities[c]}%` }} />
              {before?.probabilities && <b class="ghost" style={{ left: `${100 * before.probabilities[c]}%` }} />}
            </span>
            <span class="bar-value">{percent(probabilities[c])}</span>
          </li>
        ))}
      </ul>
      {before && <p class="hint">A dark mark shows the probability before your change.</p>}
      {!few && (
        <p class="hint">
          The {MOST_CLASSES} most probable of {classes.length} classes.
        </p>
      )}
    </figure>
  );
}

function Strongest({ filters }: { filters: readonly StrongFilter[] }) {
  const controller = useController();
  const size = useField("imageSize");
  return (
    <figure>
      <figcaption>Strongest filters</figcaption>
      <ul class={size ? "strongest" : "strongest in-words"}>
        {filters.map((filter) => (
          <li key={filter.filter}>
            <button
              type="button"
              class="strong-filter"
              title={`Response ${score(filter.response)}; made from ${counted(filter.rows, "row")}`}
              onClick={() => controller.openFilter(filter.filter)}
            >
              <span class="visually-hidden">Filter {filter.filter}:</span>
              <FilterPicture view={filter} />
              <span class="strong-name">{sharesText(filter) || `filter ${filter.filter}`}</span>
              <span class="activation" aria-hidden="true">
                <i style={{ width: `${100 * filter.similarity}%` }} />
              </span>
              <span class="strong-value">{percent(filter.similarity)}</span>
            </button>
          </li>
        ))}
      </ul>
    </figure>
  );
}
