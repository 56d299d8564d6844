/** The answer and why: one large answer with bars, what decided it, and the strongest filters. */

import { useMemo } from "preact/hooks";
import type { Explanation, Recipe, StrongFilter } from "../protocol.ts";
import { useController, usePage } from "./context.ts";
import { HeatMap } from "./heat-map.tsx";
import { Notice } from "./notice.tsx";
import { FilterPicture, sharesText } from "./pictures.tsx";
import { Share } from "./share.tsx";
import { counted, percent, response } from "./text.ts";

/** Classes that are shown when there are many. */
const MOST_CLASSES = 10;

/** Classes for which places are kept before any data is known: the page opens with the digits. */
const FIRST_CLASSES = Array.from("0123456789");

/** Strongest filters beside the heat map. */
const SHOWN_FILTERS = 4;

export function AnswerPanel() {
  const { explanation: answered, explainError, model: summary, imageSize, sample, data, busy, run } = usePage();
  const explanation = answered.value;
  const model = summary.value;
  const error = explainError.value;
  const size = imageSize.value;
  const shown = sample.value?.sample;
  // While the first model is being made its places are kept, so that nothing jumps when it answers.
  const isComing = !model && (busy.value !== undefined || run.value !== undefined);
  const classes = model?.classes ?? data.value?.classes ?? FIRST_CLASSES;
  const isPicture = size && shown?.form === "dense" && shown.values.length === size.width * size.height;
  return (
    <section class="card answer-panel" aria-labelledby="answer-title">
      <div class="panel-head">
        <h2 id="answer-title">{classes.length > 0 ? "It reads" : "Answer"}</h2>
        <Share />
      </div>
      {error && <Notice kind="error" text={error} />}
      {!model && !isComing && <NoModel />}
      {(model || isComing) && !error && (
        <>
          <div class="verdict-pair">
            <Verdict explanation={explanation} />
            {classes.length > 0 && <Probabilities explanation={explanation} classes={classes} />}
          </div>
          <div class="why-pair">
            {isComing || !shown ? (
              <figure class="sample-figure">
                <figcaption>What decided it</figcaption>
                <div class="paper heat" style={{ aspectRatio: "1" }} />
                <p class="hint">&nbsp;</p>
              </figure>
            ) : (
              isPicture && shown.values.length === model?.inputs && <HeatMap sample={shown} size={size} />
            )}
            {(isComing || (model?.filters ?? 0) > 0) && <Strongest filters={explanation?.strongest ?? []} />}
          </div>
        </>
      )}
    </section>
  );
}

/** What to do first with data that was just opened: the buttons of the training panel may be below the screen. */
function NoModel() {
  const controller = useController();
  const { data, recipe } = usePage();
  const taught = controller.teaching.taught.value;
  const train = (wanted: Recipe) => {
    controller.setRecipe(wanted);
    void controller.train("full");
  };
  return (
    <>
      <p class="muted">
        {taught ? "Teach it two things, and it answers here." : "Train a model, and it answers here."}
      </p>
      {data.value && !taught && (
        <div class="buttons">
          <button type="button" class="primary" onClick={() => train(recipe.peek())}>
            Train now
          </button>
        </div>
      )}
    </>
  );
}

function Verdict({ explanation }: { explanation: Explanation | undefined }) {
  const { model: summary, sample } = usePage();
  const model = summary.value;
  const { origin, edited, before } = sample.value ?? {};
  if (!explanation || !model) return <p class="verdict" aria-live="polite" />;
  const { labels, probabilities, strongest, isEmpty, trust } = explanation;
  if (isEmpty) {
    return (
      <p class="verdict" aria-live="polite" data-testid="verdict">
        <span class="answer muted">?</span>
        <span class="muted">No filter responds: the sample is empty.</span>
      </p>
    );
  }
  if (!probabilities) {
    return (
      <p class="verdict" aria-live="polite">
        <span class="answer">{strongest[0].filter}</span>
        <span>
          Most like <b>filter {strongest[0].filter}</b>
        </span>
      </p>
    );
  }
  const probability = Math.max(...labels.map((label) => probabilities[model.classes.indexOf(label)] ?? 0), 0);
  const right = !edited && origin?.label !== undefined ? labels.join(", ") === origin.label : undefined;
  const isDoubtful = trust !== undefined && probability < SURE;
  const text = labels.length === 0 ? "no label" : labels.join(", ");
  return (
    <p class="verdict" aria-live="polite" data-testid="verdict">
      <span class={`answer${text.length > 2 ? " in-words" : ""}${isDoubtful ? " doubtful" : ""}`}>{text}</span>
      <span>
        {labels.length > 0 && <b class="probability">{percent(probability)}</b>}
        {trust && <Doubt trust={trust} probability={probability} />}
        {right === true && <span class="right">right</span>}
        {right === false && <span class="wrong">wrong, labelled {origin?.label}</span>}
        {edited && before && <span class="muted">before your change: {before.labels.join(", ") || "none"}</span>}
      </span>
    </p>
  );
}

/** Below this an answer is a guess, and is said as one. */
const SURE = 0.6;

/** Why an answer is not to be believed: nothing seen is like it, or what is most like it is something else. */
function Doubt({ trust, probability }: { trust: NonNullable<Explanation["trust"]>; probability: number }) {
  if (probability >= SURE || trust.share > 0.9) return null;
  const why = trust.isUnlike ? "unlike anything it has seen" : "the rows most like it are of other classes";
  return (
    <span class="doubt" title={`By the model alone ${percent(trust.alone)}`}>
      {why}
    </span>
  );
}

function Probabilities({ explanation, classes }: { explanation: Explanation | undefined; classes: readonly string[] }) {
  const before = usePage().sample.value?.before;
  const answered = explanation && !explanation.isEmpty ? explanation : undefined;
  const probabilities = answered?.probabilities;
  const order = Array.from(classes.keys());
  const few = classes.length <= MOST_CLASSES;
  if (!few && probabilities) order.sort((a, b) => probabilities[b] - probabilities[a]);
  const share = (c: number) => probabilities?.[c] ?? 0;
  return (
    <figure>
      <figcaption class="visually-hidden">Class probabilities</figcaption>
      <ul class="bars">
        {order.slice(0, MOST_CLASSES).map((c) => (
          <li key={c} class={answered?.labels.includes(classes[c]) ? "bar chosen" : "bar"}>
            <span class="bar-name" title={classes[c]}>
              {classes[c]}
            </span>
            <span class="bar-track">
              <i style={{ transform: `scaleX(${share(c).toFixed(4)})` }} />
              {before?.probabilities && <b class="ghost" style={{ left: `${100 * before.probabilities[c]}%` }} />}
            </span>
            <span class="bar-value">{probabilities ? percent(share(c)) : "–"}</span>
          </li>
        ))}
      </ul>
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
  const { imageSize, owner } = usePage();
  const size = imageSize.value;
  const shown = filters.slice(0, SHOWN_FILTERS).map(usePictures(owner.value));
  return (
    <figure>
      <figcaption>Strongest filters</figcaption>
      <ul class={size ? "strongest" : "strongest in-words"}>
        {shown.map((filter) => (
          <li key={filter.filter}>
            <button
              type="button"
              class="strong-filter"
              title={`Response ${response(filter.response)}; made from ${counted(filter.rows, "row")}`}
              onClick={() => controller.openFilter(filter.filter)}
            >
              <span class="visually-hidden">Filter {filter.filter}:</span>
              <FilterPicture view={filter} />
              <span class="strong-name">{sharesText(filter) || `filter ${filter.filter}`}</span>
              <span class="activation" aria-hidden="true">
                <i style={{ transform: `scaleX(${filter.similarity.toFixed(4)})` }} />
              </span>
              <span class="strong-value">{percent(filter.similarity)}</span>
            </button>
          </li>
        ))}
      </ul>
    </figure>
  );
}

/** The same filter comes with each answer; its picture is kept, so that it is not drawn again at every stroke. */
function usePictures(owner: string): (view: StrongFilter) => StrongFilter {
  const known = useMemo(() => new Map<number, Uint8Array>(), [owner]);
  return (view) => {
    const { picture: given, ...rest } = view;
    if (!given) return view;
    const picture = known.get(view.filter) ?? given;
    known.set(view.filter, picture);
    return { ...rest, picture };
  };
}
