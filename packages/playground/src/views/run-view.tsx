/** A run while it goes on (numbers, curve, the filters at work), and what became of it. */

import type { ModelSummary, RunPoint, TrainingStep } from "../protocol.ts";
import type { RunState } from "../state/state.ts";
import { useField } from "./context.ts";
import { Curve } from "./curve.tsx";
import { Notice } from "./notice.tsx";
import { FilterPicture, Sheet } from "./pictures.tsx";
import { bytes, count, counted, duration, percent, score } from "./text.ts";

const STAGES: { readonly [stage: string]: string } = {
  prepare: "Counting words",
  distribution: "Measuring the features",
  initialize: "Choosing first filters",
  spread: "Spreading filters over rows",
  label: "Naming the filters",
  refine: "Refining filters",
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
        <Figure title="Held-out accuracy" value={step.accuracy === undefined ? "–" : score(step.accuracy)} />
      </dl>
      {run.history.length > 0 && <Curve history={run.history} />}
      {step.shown.length > 0 && <FiltersAtWork step={step} />}
    </div>
  );
}

function FiltersAtWork({ step }: { step: TrainingStep }) {
  const size = useField("imageSize");
  const moving = step.changed.filter(Boolean).length;
  const pictures = step.shown.map(({ picture }) => picture).filter((picture) => picture !== undefined);
  const caption = `${counted(step.filters, "filter")}${step.label === undefined ? "" : ` of class ${step.label}`}${
    step.iteration > 0 ? `, ${moving} of the ${step.shown.length} shown changed` : ", as rows were drawn"
  }`;
  return (
    <figure class="at-work">
      {size && pictures.length === step.shown.length ? (
        <Sheet pictures={pictures} size={size} columns={8} label={caption} />
      ) : (
        <ul class="word-filters">
          {step.shown.slice(0, 6).map((view) => (
            <li key={view.filter}>
              <FilterPicture view={view} />
            </li>
          ))}
        </ul>
      )}
      <figcaption class="hint">{caption}</figcaption>
    </figure>
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
  const model = useField("model");
  const evaluation = useField("evaluation");
  const judging = useField("judging");
  if (!model) return null;
  return (
    <div class="run" data-testid="result">
      <dl class="numbers">
        {evaluation && (
          <>
            <Figure
              title={evaluation.heldOut ? "Held-out accuracy" : "Accuracy, all rows"}
              value={score(evaluation.accuracy)}
            />
            <Figure title="Macro F1" value={score(evaluation.macroF1)} />
          </>
        )}
        {judging && <Figure title="Accuracy" value="being judged…" />}
        <Figure title="Filters" value={count(model.filters)} />
        {model.seconds === undefined ? (
          <Figure title="Model file" value={bytes(model.byteLength)} />
        ) : (
          <Figure title="Trained in" value={duration(model.seconds)} />
        )}
      </dl>
      {model.history.length > 1 && <Curve history={withLast(model.history, evaluation?.accuracy)} />}
      <p class="hint">{resultText(model)}</p>
      {model.notes.map((note) => (
        <Notice key={note} kind="note" text={note} />
      ))}
    </div>
  );
}

/** The run, ended by what the finished model scores. */
function withLast(history: readonly RunPoint[], accuracy: number | undefined): readonly RunPoint[] {
  return accuracy === undefined ? history : [...history, { share: 1, accuracy }];
}

function resultText(model: ModelSummary): string {
  const rest = model.converged ? "converged" : "had not converged when iterations ended";
  const trained = `${count(model.filters)} filters from ${counted(model.trainingRows, "row")} ${rest}.`;
  if (model.origin === "file") return `${model.name}: ${trained}`;
  const pruned = model.pruned && model.pruned > 0 ? `, ${percent(model.pruned)} of the products saved` : "";
  return `${trained} Back end: ${model.backend ?? "?"}${pruned}.`;
}
