/** A run while it goes on, in figures (the wall shows its filters), and what became of it. */

import type { ModelSummary, RunPoint } from "../protocol.ts";
import type { RunState } from "../state/state.ts";
import { usePage } from "./context.ts";
import { Curve } from "./curve.tsx";
import { Notice } from "./notice.tsx";
import { RestView, restOf } from "./rest-view.tsx";
import { accuracyTitle, bytes, count, counted, duration, percent, score } from "./text.ts";

const STAGES: { readonly [stage: string]: string } = {
  prepare: "Preparing rows",
  score: "Trying recipes on rows held out",
  patches: "Spreading patch filters over windows",
  transform: "Looking for patches in all images",
  distribution: "Measuring the features",
  initialize: "Choosing first filters",
  spread: "Spreading filters over rows",
  label: "Naming the filters",
  refine: "Refining filters",
  fit: "Putting the model together",
  calibrate: "Fitting probabilities",
};

export function RunView({ run }: { run: RunState }) {
  const { step } = run;
  if (!step) return <p class="muted">Starting…</p>;
  return (
    <div class="run">
      <progress max="1" value={step.share} aria-label="Training" />
      <p class="run-stage">
        {STAGES[step.stage] ?? step.stage}
        {step.label !== undefined && (
          <>
            {" "}
            of class <b>{step.label}</b>
          </>
        )}
      </p>
      <dl class="numbers">
        <Figure title="Iteration" value={step.iteration === 0 ? "–" : count(step.iteration)} />
        <Figure title="Rows moved" value={step.iteration === 0 ? "–" : `${count(step.moved)} of ${count(step.rows)}`} />
        <Figure title="Empty filters" value={step.iteration === 0 ? "–" : count(step.empty)} />
        <Figure
          title={step.label === undefined ? "Held-out accuracy" : "Accuracy, classes so far"}
          value={step.accuracy === undefined ? "–" : score(step.accuracy)}
        />
      </dl>
      <RestView atRest={run.atRest} atWork={step.label ?? ""} />
    </div>
  );
}

export function Figure({ title, value }: { title: string; value: string }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** The model that is shown, in figures. */
export function RunResult() {
  const model = usePage().model.value;
  const evaluation = usePage().evaluation.value;
  const judging = usePage().judged.value?.is === "judging";
  if (!model) return null;
  // Classes that train apart take turns; a curve over the whole run would show the turns, not the learning.
  const isApart = model.kind === "classifier";
  return (
    <div class="run" data-testid="result">
      <dl class="numbers">
        {evaluation && (
          <>
            <Figure title={accuracyTitle(evaluation.basis)} value={score(evaluation.accuracy)} />
            <Figure title="Macro F1" value={score(evaluation.macroF1)} />
          </>
        )}
        {judging && <Figure title="Accuracy" value="being judged…" />}
        {model.filters > 0 && <Figure title="Filters" value={count(model.filters)} />}
        {model.seconds === undefined ? (
          <Figure title="Model file" value={bytes(model.byteLength)} />
        ) : (
          <Figure title="Trained in" value={duration(model.seconds)} />
        )}
      </dl>
      {isApart ? (
        <RestView atRest={restOf(model.steps)} />
      ) : (
        model.history.some(({ accuracy, moved }) => accuracy !== undefined || moved !== undefined) && (
          <Curve history={withLast(model.history, evaluation?.accuracy)} />
        )
      )}
      {evaluation?.basis === "training" && (
        <p class="hint">The model was trained on these rows: new rows will do worse.</p>
      )}
      {evaluation?.basis === "unknown" && (
        <p class="hint">The model does not say what it was trained on: if on these rows, new rows will do worse.</p>
      )}
      <p class="hint">{resultText(model)}</p>
      {model.tried && model.tried.length > 0 && <Tried tried={model.tried} />}
      {model.notes.map((note) => (
        <Notice key={note} kind="note" text={note} />
      ))}
    </div>
  );
}

/** What was tried, and how it did on rows held out. */
function Tried({ tried }: { tried: NonNullable<ModelSummary["tried"]> }) {
  return (
    <details>
      <summary>What was tried</summary>
      <ul class="tried">
        {tried.map(({ name, accuracy, reason, weight }) => (
          <li key={name} class={weight === undefined ? "" : "chosen"}>
            {name}
            <span class="muted">{accuracy === undefined ? (reason ?? "") : percent(accuracy, 1)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The run, ended by what the finished model scores. */
function withLast(history: readonly RunPoint[], accuracy: number | undefined): readonly RunPoint[] {
  return accuracy === undefined ? history : [...history, { share: 1, accuracy }];
}

function resultText(model: ModelSummary): string {
  const from = counted(model.trainingRows, "row");
  const by =
    model.explained === undefined
      ? ""
      : ` Explained is “${model.explained}”, the heaviest of several that answer together.`;
  if (model.about !== undefined)
    return `${model.origin === "file" ? `${model.name}: ` : ""}${model.about}; from ${from}.${by}`;
  if (model.kind === "linear")
    return `${model.name}: weights of ${counted(model.features, "feature")} from ${from}.${by}`;
  const rest = model.converged ? "converged" : "had not converged when iterations ended";
  const trained = `${counted(model.filters, "filter")} from ${from} ${rest}.`;
  if (model.origin === "file") return `${model.name}: ${trained}`;
  const pruned = model.pruned && model.pruned > 0 ? `, ${percent(model.pruned)} of the products saved` : "";
  return `${trained} Back end: ${model.backend ?? "?"}${pruned}.`;
}
