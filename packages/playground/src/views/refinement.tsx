/** What refinement would do to the filters: scores before and after, class by class, and the filters that changed most. */

import { CLASSIFIER_PARAMETERS } from "@ranksim/core";
import type { RefinementView } from "../protocol.ts";
import { withParam } from "../state/recipe.ts";
import { useController, usePage } from "./context.ts";
import { Notice } from "./notice.tsx";
import { FilterPicture, sharesText } from "./pictures.tsx";
import { accuracyTitle, count, counted, duration, score } from "./text.ts";

const REFINE = CLASSIFIER_PARAMETERS.find(({ name }) => name === "refine");

export function Refinement() {
  const controller = useController();
  const { refinement, modelRecipe, data, situation } = usePage();
  const recipe = modelRecipe.value;
  const state = refinement.value;
  const isClassifier = recipe?.estimator === "classifier" || recipe?.estimator === "patches";
  if (situation.value.is !== "both" || !isClassifier || (data.value?.classes.length ?? 0) < 2) {
    return (
      <p class="muted">
        Refinement is for a classifier that was trained here, on rows with labels of two classes or more.
      </p>
    );
  }
  return (
    <>
      <p class="hint">
        Filters can learn from the rows they get wrong: the filter that should have won moves towards the row, the one
        that won moves away, and both are ranked again. It is kept only if rows it did not learn from show that it
        helps. Here the model's recipe is trained without refinement and with it.
      </p>
      {state?.is === "running" ? (
        <div class="run">
          <progress max="1" value={state.share} aria-label="Refining" />
          <div class="buttons">
            <button type="button" onClick={() => controller.stopRefinement()}>
              Stop refining
            </button>
          </div>
        </div>
      ) : (
        <div class="buttons">
          <button type="button" onClick={() => controller.refine()}>
            {state?.is === "done" ? "Compare again" : "Refine and compare"}
          </button>
        </div>
      )}
      {state?.is === "failed" && <p class="field-error">{state.text}</p>}
      {state?.is === "done" && <Comparison view={state.view} />}
    </>
  );
}

function Comparison({ view }: { view: RefinementView }) {
  const controller = useController();
  const recipe = usePage().recipe.value;
  const isOn = recipe.params.refine === true || recipe.estimator === "patches";
  const rows = counted(view.rows, view.heldOut ? "held-out row" : "row");
  return (
    <div class="refinement" data-testid="refinement">
      <dl class="numbers">
        <Change
          title={accuracyTitle(view.heldOut ? "held-out" : "training")}
          before={view.before.accuracy}
          after={view.after.accuracy}
        />
        <Change title="Macro F1" before={view.before.macroF1} after={view.after.macroF1} />
      </dl>
      {view.refined ? (
        <p class="hint">
          {count(view.changed)} of {counted(view.filters, "filter")} changed
          {view.epochs === undefined
            ? ""
            : ` in ${count(view.epochs)} ${view.epochs === 1 ? "pass" : "passes"} over the rows`}
          , {duration(view.seconds)}. Of {rows}, {count(view.corrected)} are now right that were wrong,{" "}
          {count(view.spoiled)} wrong that were right.
        </p>
      ) : (
        <Notice
          kind="note"
          text="Nothing was gained on rows held back from learning, so the filters stay as they are."
        />
      )}
      {view.refined && (
        <>
          <ClassChanges view={view} />
          <Pairs view={view} />
          {!isOn && REFINE && (
            <div class="buttons">
              <button
                type="button"
                class="primary"
                onClick={() => {
                  controller.setRecipe(withParam(recipe, REFINE, true));
                  void controller.train("full");
                }}
              >
                Train with refinement
              </button>
            </div>
          )}
        </>
      )}
    </div>
  );
}

function Change({ title, before, after }: { title: string; before: number; after: number }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        <span class="muted">{score(before)}</span> → {score(after)}
      </dd>
    </div>
  );
}

/** F1 of each class as two dots on a line: hollow before, full after. */
function ClassChanges({ view }: { view: RefinementView }) {
  const low = Math.min(...view.classes.flatMap(({ before, after }) => [before, after]));
  const floor = Math.max(0, Math.floor(low * 20) / 20 - 0.05);
  const at = (f1: number) => `${((f1 - floor) / (1 - floor)) * 100}%`;
  return (
    <figure class="refinement">
      <figcaption>F1 of each class, without refinement and with it</figcaption>
      <ul class="class-changes">
        {view.classes.slice(0, 40).map(({ label, before, after }) => (
          <li key={label}>
            <span class="class-name">{label}</span>
            <span class="track" aria-hidden="true">
              <i
                class={after < before ? "span worse" : "span"}
                style={{ left: at(Math.min(before, after)), right: `calc(100% - ${at(Math.max(before, after))})` }}
              />
              <i class="dot" style={{ left: at(before) }} />
              <i class={after < before ? "dot full worse" : "dot full"} style={{ left: at(after) }} />
            </span>
            <span class="figures">
              <span class="visually-hidden">from {score(before)} to</span> {score(after)}
            </span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

/** The filters that changed most, before above after. */
function Pairs({ view }: { view: RefinementView }) {
  const size = usePage().imageSize.value;
  return (
    <figure class="pairs-of-filters">
      <div class={size ? "thumbs pairs-row" : "thumbs in-words"}>
        {view.pairs.map(({ before, after }) => (
          <div key={before.filter} class="pair" title={`Filter ${before.filter} of ${sharesText(before)}`}>
            <FilterPicture view={before} />
            <FilterPicture view={after} />
          </div>
        ))}
      </div>
      <figcaption class="hint">The filters that changed most: as trained above, refined below.</figcaption>
    </figure>
  );
}
