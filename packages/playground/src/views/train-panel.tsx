/** The recipe and the buttons that run it: at once, slowly, or step by step. */

import type { EstimatorName } from "../protocol.ts";
import { ESTIMATORS, sameRecipe, withEstimator } from "../state/recipe.ts";
import { useController, usePage } from "./context.ts";
import { Notice } from "./notice.tsx";
import { ParameterControls } from "./parameter-controls.tsx";
import { RunResult, RunView } from "./run-view.tsx";
import { count, percent } from "./text.ts";

export function TrainPanel() {
  const notice = usePage().runNotice.value;
  const run = usePage().run.value;
  const data = usePage().data.value;
  return (
    <section class="card" aria-labelledby="train-title">
      <h2 id="train-title">Train</h2>
      <RunButtons />
      {notice && !notice.parameter && <Notice kind={notice.kind} text={notice.text} />}
      {run ? <RunView run={run} /> : <RunResult />}
      {data && (
        <details class="recipe" open={notice?.parameter !== undefined}>
          <summary>Parameters</summary>
          <Recipe />
        </details>
      )}
    </section>
  );
}

function Recipe() {
  const controller = useController();
  const recipe = usePage().recipe.value;
  const data = usePage().data.value;
  const labelled = (data?.classes.length ?? 0) > 0;
  const possible = (name: EstimatorName) =>
    name === "transform" || (labelled && (name !== "classifier" || !data?.multilabel));
  return (
    <>
      <div class="parameter">
        <label for="estimator">Estimator</label>
        <select
          id="estimator"
          value={recipe.estimator}
          aria-describedby="estimator-about"
          onChange={(event) => controller.setRecipe(withEstimator(recipe, event.currentTarget.value as EstimatorName))}
        >
          {(Object.keys(ESTIMATORS) as EstimatorName[]).map((name) => (
            <option key={name} value={name} disabled={!possible(name)}>
              {ESTIMATORS[name].title}
            </option>
          ))}
        </select>
        <span id="estimator-about" class="about">
          {ESTIMATORS[recipe.estimator].about}
        </span>
      </div>
      {data?.testRows !== undefined && <p class="hint">Held out: the {count(data.testRows)} rows of the test files.</p>}
      {labelled && data?.testRows === undefined && (
        <div class="parameter">
          <label for="held-out">Held out</label>
          <span class="range-control">
            <input
              id="held-out"
              type="range"
              min="0"
              max="0.9"
              step="0.05"
              value={recipe.heldOut}
              aria-describedby="held-out-about"
              aria-valuetext={percent(recipe.heldOut)}
              onInput={(event) => controller.setRecipe({ ...recipe, heldOut: Number(event.currentTarget.value) })}
            />
            <output for="held-out">{percent(recipe.heldOut)}</output>
          </span>
          <span id="held-out-about" class="about">
            rows kept back to judge the model by
          </span>
        </div>
      )}
      <ParameterControls />
    </>
  );
}

function RunButtons() {
  const controller = useController();
  const run = usePage().run.value;
  const data = usePage().data.value;
  const recipe = usePage().recipe.value;
  const modelRecipe = usePage().modelRecipe.value;
  const changed = modelRecipe !== undefined && !sameRecipe(recipe, modelRecipe);
  const paused = run?.pace === "step";
  // Each button keeps its place and its meaning, so that a second click never does another thing.
  return (
    <>
      <div class="buttons run-buttons">
        <button
          type="button"
          class="primary"
          disabled={!data || (run !== undefined && !paused)}
          onClick={() => controller.go("full")}
        >
          {paused ? "Finish" : "Train"}
        </button>
        <button
          type="button"
          disabled={!data || run?.pace === "full"}
          onClick={() => controller.go(run?.pace === "watch" ? "step" : "watch")}
        >
          {run?.pace === "watch" ? "Pause" : "Watch"}
        </button>
        <button type="button" disabled={!data || run?.pace === "full"} onClick={() => controller.go("step")}>
          Step
        </button>
        <button type="button" disabled={!run} onClick={() => controller.stop()}>
          Stop
        </button>
      </div>
      {changed && !run && <p class="hint">The model shown was trained with other parameters.</p>}
    </>
  );
}
