/** Which classes are taken for which; each cell opens its rows with the filters behind the answers. */

import { useState } from "preact/hooks";
import type { Evaluation, Mistake, StrongFilter } from "../protocol.ts";
import { useAnswer, useController, useField } from "./context.ts";
import { FilterPicture, RowPicture, sharesText } from "./pictures.tsx";
import { count, counted, percent, score } from "./text.ts";

/** Classes that a matrix can show; beyond, the most mistaken pairs are listed. */
const MOST_CLASSES = 26;

/** Mistakes at a time. */
const PAGE = 8;

export function Mistakes() {
  const evaluation = useField("evaluation");
  const model = useField("model");
  if (!model) return <p class="muted">No model yet.</p>;
  if (!evaluation) {
    return (
      <p class="muted">
        {model.kind === "transform"
          ? "A transform gives no answers that could be wrong."
          : model.fitsData
            ? "Nothing to judge the model by: hold out some rows, and see that they have labels."
            : "Drop labelled data of the width that the model takes, and its mistakes appear here."}
      </p>
    );
  }
  const right = Math.round(evaluation.accuracy * evaluation.rows);
  return (
    <>
      <p class="hint">
        {count(right)} of {counted(evaluation.rows, evaluation.heldOut ? "held-out row" : "row")} right (
        {percent(evaluation.accuracy, 1)}), macro F1 {score(evaluation.macroF1)}
        {evaluation.logLoss !== undefined && `, log loss ${evaluation.logLoss.toFixed(2)}`}.
        {evaluation.confusion && " Choose a cell to see its rows."}
      </p>
      {evaluation.confusion ? (
        <Confusion evaluation={evaluation} classes={model.classes} />
      ) : (
        <Scores evaluation={evaluation} />
      )}
    </>
  );
}

function Confusion({ evaluation, classes }: { evaluation: Evaluation; classes: readonly string[] }) {
  const cell = useField("cell");
  const confusion = evaluation.confusion ?? new Uint32Array(0);
  return (
    <>
      {classes.length <= MOST_CLASSES ? (
        <Matrix confusion={confusion} classes={classes} />
      ) : (
        <Pairs confusion={confusion} classes={classes} />
      )}
      {cell && cell.truth < classes.length && cell.answer < classes.length && (
        <Cell key={`${cell.truth}-${cell.answer}`} cell={cell} classes={classes} />
      )}
    </>
  );
}

interface CountsProps {
  readonly confusion: Uint32Array;
  readonly classes: readonly string[];
}

function Matrix({ confusion, classes }: CountsProps) {
  const controller = useController();
  const cell = useField("cell");
  const c = classes.length;
  const largestWrong = Math.max(1, ...confusion.filter((_, j) => Math.floor(j / c) !== j % c));
  const tint = (truth: number, answer: number) => {
    const found = confusion[truth * c + answer];
    if (found === 0) return {};
    const support = confusion.subarray(truth * c, (truth + 1) * c).reduce((a, b) => a + b, 0);
    const strength = truth === answer ? 0.1 + 0.3 * (found / support) : 0.25 + 0.6 * (found / largestWrong);
    return { "--strength": `${Math.round(100 * strength)}%` };
  };
  return (
    <div class="matrix-scroll">
      <table class="matrix">
        <caption class="visually-hidden">Rows by their class (down) and the answer they got (across)</caption>
        <thead>
          <tr>
            <td class="corner">
              is ↓<br />
              read as →
            </td>
            {classes.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {classes.map((name, truth) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {classes.map((other, answer) => {
                const found = confusion[truth * c + answer];
                return (
                  <td key={other} class={truth === answer ? "diagonal" : "off"} style={tint(truth, answer)}>
                    {found === 0 ? (
                      <span class="none">·</span>
                    ) : (
                      <button
                        type="button"
                        aria-pressed={cell?.truth === truth && cell.answer === answer}
                        aria-label={`${counted(found, "row")} of class ${name} read as ${other}`}
                        onClick={() => controller.openCell({ truth, answer })}
                      >
                        {count(found)}
                      </button>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** For many classes: the pairs that are mistaken most. */
function Pairs({ confusion, classes }: CountsProps) {
  const controller = useController();
  const c = classes.length;
  const pairs = Array.from(confusion, (found, j) => ({ found, truth: Math.floor(j / c), answer: j % c }))
    .filter(({ found, truth, answer }) => found > 0 && truth !== answer)
    .sort((a, b) => b.found - a.found)
    .slice(0, 30);
  return (
    <ul class="pairs">
      {pairs.map(({ found, truth, answer }) => (
        <li key={`${truth}-${answer}`}>
          <button type="button" class="quiet" onClick={() => controller.openCell({ truth, answer })}>
            {classes[truth]} read as {classes[answer]}: {counted(found, "row")}
          </button>
        </li>
      ))}
    </ul>
  );
}

function Cell({ cell, classes }: { cell: { truth: number; answer: number }; classes: readonly string[] }) {
  const controller = useController();
  const models = useField("modelCount");
  const [from, setFrom] = useState(0);
  const { answer, error } = useAnswer(
    "mistakes",
    { ...cell, from, count: PAGE },
    `${models} ${cell.truth} ${cell.answer} ${from}`,
  );
  const wrong = cell.truth !== cell.answer;
  return (
    <section class="detail" aria-live="polite">
      <div class="detail-head">
        <h3>
          {classes[cell.truth]} read as {classes[cell.answer]}
          {answer && <span class="muted"> {counted(answer.total, "row")}</span>}
        </h3>
        <button type="button" class="quiet" aria-label="Close the cell" onClick={() => controller.openCell(undefined)}>
          Close
        </button>
      </div>
      {error && <p class="field-error">{error}</p>}
      <ul class="mistakes">
        {answer?.shown.map((mistake) => (
          <MistakeView key={mistake.row.row} mistake={mistake} wrong={wrong} />
        ))}
      </ul>
      {answer && answer.total > PAGE && (
        <div class="buttons">
          <button type="button" disabled={from === 0} onClick={() => setFrom(Math.max(0, from - PAGE))}>
            Previous
          </button>
          <button type="button" disabled={from + PAGE >= answer.total} onClick={() => setFrom(from + PAGE)}>
            Next
          </button>
        </div>
      )}
    </section>
  );
}

function MistakeView({ mistake, wrong }: { mistake: Mistake; wrong: boolean }) {
  const controller = useController();
  const { row, strongest, missed } = mistake;
  return (
    <li class="mistake">
      <button
        type="button"
        class="thumb"
        aria-label={`Row ${row.row}: take it as the sample`}
        onClick={() => controller.pickRow(row.row)}
      >
        <RowPicture row={row} />
      </button>
      <Cause filter={strongest} text={wrong ? "caused it" : "strongest"} />
      {wrong &&
        (missed ? <Cause filter={missed} text="came short" /> : <span class="hint">no {row.label} filter near</span>)}
    </li>
  );
}

function Cause({ filter, text }: { filter: StrongFilter; text: string }) {
  const controller = useController();
  return (
    <button type="button" class="thumb cause" onClick={() => controller.openFilter(filter.filter)}>
      <span class="visually-hidden">Filter {filter.filter}:</span>
      <FilterPicture view={filter} />
      <span class="hint">
        <b>{sharesText(filter)}</b> {percent(filter.similarity)}
        <br />
        {text}
      </span>
    </button>
  );
}

/** Several labels a row: no matrix, but scores by label. */
function Scores({ evaluation }: { evaluation: Evaluation }) {
  return (
    <table class="scores">
      <thead>
        <tr>
          <th scope="col">label</th>
          <th scope="col">precision</th>
          <th scope="col">recall</th>
          <th scope="col">F1</th>
          <th scope="col">rows</th>
        </tr>
      </thead>
      <tbody>
        {evaluation.classes.slice(0, 200).map((row) => (
          <tr key={row.label}>
            <th scope="row">{row.label}</th>
            <td>{score(row.precision)}</td>
            <td>{score(row.recall)}</td>
            <td>{score(row.f1)}</td>
            <td>{count(row.support)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
