/** Which classes are taken for which; each cell opens its rows with the filters behind the answers. */

import { useState } from "preact/hooks";
import type { Evaluation, Mistake, StrongFilter } from "../protocol.ts";
import { useAnswer, useController, usePage } from "./context.ts";
import { FilterPicture, RowPicture, sharesText } from "./pictures.tsx";
import { count, counted, judgedRows, percent, score } from "./text.ts";

/** Classes whose counts fit the cells of a matrix; beyond, it is a map of tints and the most mistaken pairs are listed. */
const COUNTED_CLASSES = 20;

/** Mistakes at a time. */
const PAGE = 8;

export function Mistakes() {
  const page = usePage();
  const evaluation = page.evaluation.value;
  const model = page.model.value;
  if (page.judged.value?.is === "judging") return <p class="muted">Being judged…</p>;
  if (!model) return <p class="muted">No model yet.</p>;
  if (!evaluation) {
    return (
      <p class="muted">
        {model.kind === "transform"
          ? "A transform gives no answers that could be wrong."
          : page.situation.value.is === "both"
            ? "Nothing to judge the model by: hold out some rows, and see that they have labels."
            : "Drop labelled data of the width that the model takes, and its mistakes appear here."}
      </p>
    );
  }
  const right = Math.round(evaluation.accuracy * evaluation.rows);
  return (
    <>
      <p class="hint">
        {count(right)} of {judgedRows(evaluation.rows, evaluation.basis)} right ({percent(evaluation.accuracy, 1)}),
        macro F1 {score(evaluation.macroF1)}
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
  const cell = usePage().view.value.cell;
  const confusion = evaluation.confusion ?? new Uint32Array(0);
  return (
    <>
      {classes.length <= COUNTED_CLASSES ? (
        <Matrix confusion={confusion} classes={classes} />
      ) : (
        <>
          <ConfusionMap confusion={confusion} classes={classes} />
          <Pairs confusion={confusion} classes={classes} />
        </>
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
  const cell = usePage().view.value.cell;
  const c = classes.length;
  const tint = tintsOf(confusion, c);
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
                  <td
                    key={other}
                    class={truth === answer ? "diagonal" : "off"}
                    style={{ "--strength": `${Math.round(100 * tint(truth, answer))}%` }}
                  >
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

/** How strong each cell is tinted, 0..1: by the square root, so that a single mistake is seen beside a hundred. */
function tintsOf(confusion: Uint32Array, c: number): (truth: number, answer: number) => number {
  let largestWrong = 1;
  const supports = new Float64Array(c);
  confusion.forEach((found, j) => {
    supports[Math.floor(j / c)] += found;
    if (Math.floor(j / c) !== j % c) largestWrong = Math.max(largestWrong, found);
  });
  return (truth, answer) => {
    const found = confusion[truth * c + answer];
    if (found === 0) return 0;
    return truth === answer ? 0.4 * Math.sqrt(found / supports[truth]) : 0.15 + 0.65 * Math.sqrt(found / largestWrong);
  };
}

/** For many classes: all cells as tints, in whatever width there is. */
function ConfusionMap({ confusion, classes }: CountsProps) {
  const c = classes.length;
  const tint = tintsOf(confusion, c);
  const cells = Array.from(confusion.keys()).filter((j) => confusion[j] > 0);
  return (
    <figure class="confusion-map">
      <svg
        viewBox={`0 0 ${c} ${c}`}
        role="img"
        aria-label={`Confusion of ${c} classes: true class down, answer across`}
      >
        {cells.map((j) => {
          const [truth, answer] = [Math.floor(j / c), j % c];
          return (
            <rect
              key={j}
              x={answer}
              y={truth}
              width="1"
              height="1"
              class={truth === answer ? "diagonal" : "off"}
              fill-opacity={tint(truth, answer).toFixed(2)}
            >
              <title>
                {classes[truth]} read as {classes[answer]}: {counted(confusion[j], "row")}
              </title>
            </rect>
          );
        })}
      </svg>
      <figcaption class="hint">True class down, answer across.</figcaption>
    </figure>
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
  if (pairs.length === 0) return <p class="muted">No row was mistaken.</p>;
  return (
    <>
      <p class="hint">The pairs mistaken most:</p>
      <ul class="pairs">
        {pairs.map(({ found, truth, answer }) => (
          <li key={`${truth}-${answer}`}>
            <button type="button" class="quiet" onClick={() => controller.openCell({ truth, answer })}>
              {classes[truth]} read as {classes[answer]}: {counted(found, "row")}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function Cell({ cell, classes }: { cell: { truth: number; answer: number }; classes: readonly string[] }) {
  const controller = useController();
  const [from, setFrom] = useState(0);
  const { answer, error } = useAnswer(
    "mistakes",
    { ...cell, from, count: PAGE },
    `${cell.truth} ${cell.answer} ${from}`,
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
        onClick={() => controller.sampling.pickRow(row.row)}
      >
        <RowPicture row={row} />
      </button>
      {strongest ? (
        <Cause filter={strongest} text={wrong ? "caused it" : "strongest"} />
      ) : (
        <span class="hint">no filter responds</span>
      )}
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
