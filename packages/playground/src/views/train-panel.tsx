/** The recipe and the buttons that run it: at once, slowly, or step by step. */

import type { EstimatorName } from "../protocol.ts";
import { ESTIMATORS, sameRecipe, withEstimator } from "../state/recipe.ts";
import { useController, useField } from "./context.ts";
import { Notice } from "./notice.tsx";
import { ParameterControls } from "./parameter-controls.tsx";
import { RunResult, RunView } from "./run-view.tsx";
import { percent } from "./text.ts";

export function TrainPanel() {
  const notice = useField("runNotice");
  const run = useField("run");
  const data = useField("data");
  return (
    <section class="card" aria-labelledby="train-title">
      <h2 id="train-title">
        <span class="step-number">2</span> Train
      </h2>
      <RunButtons />
      {notice && <Notice kind={notice.kind} text={notice.text} />}
      {run ? <RunView run={run} /> : <RunResult />}
      {data && (
        <details class="recipe" open={matchMedia("(min-width: 761px)").matches}>
          <summary>Parameters</summary>
          <Recipe />
        </details>
      )}
    </section>
  );
}

function Recipe() {
  const controller = useController();
  const recipe = useField("recipe");
  const data = useField("data");
  const labelled = (data?.classes.length ?? 0) > 0;
  const possible = (name: EstimatorName) =>
    name === "transform" || (labelled && (name === "probabilistic" || !data?.multilabel));
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
      {labelled && (
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
  const run = useField("run");
  const data = useField("data");
  const recipe = useField("recipe");
  const modelRecipe = useField("modelRecipe");
  const changed = modelRecipe !== undefined && !sameRecipe(recipe, modelRecipe);
  if (!run) {
    return (
      <>
        <div class="buttons run-buttons">
          <button type="button" class="primary" disabled={!data} onClick={() => controller.go("full")}>
            Train
          </button>
          <button type="button" disabled={!data} onClick={() => controller.go("watch")}>
            Play slowly
          </button>
          <button type="button" disabled={!data} onClick={() => controller.go("step")}>
            Step
          </button>
        </div>
        {changed && <p class="hint">The model shown was trained with other parameters.</p>}
      </>
    );
  }
  const paused = run.pace === "step";
  return (
    <div class="buttons run-buttons">
      {paused ? (
        <>
          <button type="button" class="primary" onClick={() => controller.go("step")}>
            Step
          </button>
          <button type="button" onClick={() => controller.go("watch")}>
            Play
          </button>
          <button type="button" onClick={() => controller.go("full")}>
            Finish
          </button>
        </>
      ) : (
        <button type="button" class="primary" onClick={() => controller.go("step")}>
          Pause
        </button>
      )}
      <button type="button" onClick={() => controller.stop()}>
        Stop
      </button>
    </div>
  );
}
