/** A sample that is no picture: sliders for a few features, the cells of a table, and what carried the decision as bars. */

import type { Cell, ColumnSummary, Sample } from "../protocol.ts";
import { useController, usePage } from "./context.ts";
import { EditTools } from "./edit-tools.tsx";
import { featureName, value } from "./text.ts";

/** So many sliders can still be found by eye. */
const MOST_SLIDERS = 64;

/** Bars of parts that are shown. */
const MOST_BARS = 16;

export function NumberSample({ sample }: { sample: Exclude<Sample, { form: "text" }> }) {
  return (
    <div class="number-sample">
      <Parts />
      {sample.form === "table" ? (
        <Cells cells={sample.cells} />
      ) : sample.form === "dense" && sample.values.length <= MOST_SLIDERS ? (
        <Sliders values={sample.values} />
      ) : (
        <EditList sample={sample} />
      )}
    </div>
  );
}

/** Parts of the decision as bars to the left (against) and right (for). */
export function Parts() {
  const explanation = usePage().explanation.value;
  if (!explanation || explanation.features.length === 0)
    return <p class="muted">No feature sets the answer apart yet.</p>;
  const { features, parts, values, names } = explanation;
  const largest = Math.abs(parts[0]) || 1;
  return (
    <figure class="parts-figure">
      <figcaption>What carried the decision</figcaption>
      <table class="parts-table">
        <thead>
          <tr>
            <th scope="col">feature</th>
            <th scope="col">value</th>
            <th scope="col">
              <span class="against-text">against</span> · <span class="for-text">for</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {Array.from(features.subarray(0, MOST_BARS), (feature, j) => (
            <tr key={feature}>
              <th scope="row">{featureName(names?.[j], feature)}</th>
              <td>{value(values[j])}</td>
              <td>
                <span class="diverging" role="img" aria-label={parts[j] > 0 ? "for" : "against"}>
                  <i
                    class={parts[j] > 0 ? "for" : "against"}
                    style={{ width: `${(50 * Math.abs(parts[j])) / largest}%` }}
                  />
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

function Sliders({ values }: { values: Float64Array }) {
  const { sampling } = useController();
  const data = usePage().data.value;
  const names = data?.featureNames;
  const low = Math.min(data?.low ?? 0, ...values);
  const high = Math.max(data?.high ?? 1, ...values);
  return (
    <fieldset class="sliders">
      <legend>What if? Move a feature.</legend>
      <EditTools clear="All zero" />
      {Array.from(values, (current, feature) => (
        <label key={feature} class="slider">
          <span class="slider-name">{featureName(names?.[feature], feature)}</span>
          <input
            type="range"
            min={low}
            max={high}
            step={data?.whole ? 1 : (high - low) / 200}
            value={current}
            onInput={(event) => {
              const changed = values.slice();
              changed[feature] = Number(event.currentTarget.value);
              sampling.edit({ form: "dense", values: changed }, `feature ${feature}`);
            }}
          />
          <output>{value(current)}</output>
        </label>
      ))}
    </fieldset>
  );
}

/** The cells of a row of a table: numbers and words, any of which may be missing. */
function Cells({ cells }: { cells: readonly Cell[] }) {
  const { sampling } = useController();
  const columns = usePage().data.value?.columns ?? [];
  const set = (c: number, cell: Cell) =>
    sampling.edit({ form: "table", cells: cells.with(c, cell) }, `column ${columns[c].name}`);
  return (
    <fieldset class="sliders">
      <legend>What if? Change a cell.</legend>
      <EditTools clear="All empty" />
      {columns.slice(0, MOST_SLIDERS).map((column, c) => (
        <div key={column.name} class="slider">
          <span class="slider-name" aria-hidden="true">
            {column.name}
          </span>
          <CellInput column={column} cell={cells[c]} onChange={(cell) => set(c, cell)} />
        </div>
      ))}
      {columns.length > MOST_SLIDERS && (
        <p class="hint">
          The first {MOST_SLIDERS} of {columns.length} columns.
        </p>
      )}
    </fieldset>
  );
}

interface CellProps {
  readonly column: ColumnSummary;
  readonly cell: Cell;
  readonly onChange: (cell: Cell) => void;
}

function CellInput({ column: { name, words, low, high }, cell, onChange }: CellProps) {
  if (!words) {
    return (
      <input
        type="number"
        step="any"
        aria-label={name}
        value={cell ?? ""}
        placeholder={low === undefined ? "none" : `${value(low)} … ${value(high ?? low)}`}
        onInput={({ currentTarget }) => onChange(currentTarget.value === "" ? null : Number(currentTarget.value))}
      />
    );
  }
  const offered = cell === null || words.includes(String(cell)) ? words : [String(cell), ...words];
  return (
    <select
      aria-label={name}
      value={cell ?? ""}
      onChange={({ currentTarget }) => onChange(currentTarget.value || null)}
    >
      <option value="">–</option>
      {offered.map((word) => (
        <option key={word} value={word}>
          {word}
        </option>
      ))}
    </select>
  );
}

/** Wide rows: the features that are not zero, each of which can be changed or taken out, and one more to set. */
function EditList({ sample }: { sample: Extract<Sample, { form: "dense" | "sparse" }> }) {
  const { sampling } = useController();
  const explanation = usePage().explanation.value;
  const model = usePage().model.value;
  const data = usePage().data.value;
  const width = model?.inputs ?? data?.features ?? 0;
  const names = data?.featureNames;
  const known = new Map<number, number>();
  if (sample.form === "dense") {
    sample.values.forEach((current, feature) => {
      if (current !== 0) known.set(feature, current);
    });
  } else {
    for (let j = 0; j < sample.indices.length; j++) known.set(sample.indices[j], sample.values[j]);
  }
  const set = (feature: number, number: number) => {
    if (sample.form === "dense") {
      const changed = sample.values.slice();
      changed[feature] = number;
      return sampling.edit({ form: "dense", values: changed }, `feature ${feature}`);
    }
    const changed = new Map(known).set(feature, number);
    const entries = [...changed].filter(([, kept]) => kept !== 0).sort(([a], [b]) => a - b);
    const indices = Uint32Array.from(entries, ([at]) => at);
    const values = Float64Array.from(entries, ([, kept]) => kept);
    sampling.edit({ form: "sparse", indices, values }, `feature ${feature}`);
  };
  const order = Array.from(explanation?.features ?? []).filter((feature) => known.has(feature));
  const shown = (order.length > 0 ? order : [...known.keys()]).slice(0, 24);
  return (
    <fieldset class="sliders">
      <legend>What if? Change a value, or set another feature.</legend>
      <EditTools clear="All zero" />
      {shown.map((feature) => (
        <label key={feature} class="slider">
          <span class="slider-name">{featureName(names?.[feature], feature)}</span>
          <input
            type="number"
            step="any"
            value={known.get(feature)}
            onChange={(event) => set(feature, Number(event.currentTarget.value))}
          />
        </label>
      ))}
      <form
        class="set-feature"
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget);
          const text = String(given.get("feature")).trim();
          const feature = names ? names.indexOf(text) : Number(text);
          if (feature >= 0 && feature < width) set(feature, Number(given.get("value")));
        }}
      >
        <input name="feature" aria-label="Feature" placeholder={names ? "name" : "number"} />
        <input name="value" type="number" step="any" aria-label="Value" placeholder="value" />
        <button type="submit">Set</button>
      </form>
      <p class="hint">
        {known.size} of {width} features are not zero; the {shown.length} that count most are listed.
      </p>
    </fieldset>
  );
}
