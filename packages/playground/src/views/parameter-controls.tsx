/** Controls for the parameters of an estimator, made from the library's own table: a new parameter there is a control here. */

import type { Json, ParameterInfo } from "@ranksim/core";
import { useState } from "preact/hooks";
import { parameterGroups, withParam } from "../state/recipe.ts";
import { useController, usePage } from "./context.ts";

export function ParameterControls() {
  const controller = useController();
  const { recipe: chosen, runNotice } = usePage();
  const recipe = chosen.value;
  const wrong = runNotice.value?.parameter;
  return (
    <>
      {parameterGroups(recipe.estimator).map(({ title, infos: own }, j) => {
        const changed = own.filter(({ name }) => name in recipe.params).length;
        const isOpen = j === 0 || own.some(({ name }) => name === wrong);
        return (
          <details key={title} open={isOpen}>
            <summary>
              {title}
              {changed > 0 && <span class="badge">{changed} changed</span>}
            </summary>
            <div class="parameters">
              {own.map((info) => (
                <Control
                  key={`${recipe.estimator}-${info.name}`}
                  info={info}
                  given={recipe.params[info.name]}
                  error={info.name === wrong ? runNotice.value?.text : undefined}
                  onChange={(value) => controller.setRecipe(withParam(controller.state.recipe.peek(), info, value))}
                />
              ))}
            </div>
          </details>
        );
      })}
    </>
  );
}

interface ControlProps {
  readonly info: ParameterInfo;
  /** Absent while the parameter has its default. */
  readonly given: Json | undefined;
  /** What is wrong with it. */
  readonly error: string | undefined;
  readonly onChange: (value: Json | undefined) => void;
}

/** "confusionRows" as people write it. */
function parameterTitle(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words[0].toUpperCase() + words.slice(1);
}

function Control({ info, given, error, onChange }: ControlProps) {
  const id = `parameter-${info.name}`;
  const value = given ?? info.default;
  const shared = { id, "aria-describedby": `${id}-about`, "aria-invalid": error !== undefined };
  return (
    <div class={given === undefined ? "parameter" : "parameter changed"}>
      <label for={id}>{parameterTitle(info.name)}</label>
      {info.form === "flag" ? (
        <input
          {...shared}
          type="checkbox"
          checked={value === true}
          onChange={(e) => onChange(e.currentTarget.checked)}
        />
      ) : info.form === "choice" ? (
        <select {...shared} value={String(value)} onChange={(e) => onChange(e.currentTarget.value)}>
          {info.choices?.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      ) : info.form === "special" ? (
        <SpecialControl info={info} value={value} onChange={onChange} shared={shared} />
      ) : (
        <NumberControl info={info} value={value} onChange={onChange} shared={shared} />
      )}
      <span id={`${id}-about`} class="about">
        {info.about}
      </span>
      {error && (
        <span class="field-error" role="alert">
          {error}
        </span>
      )}
    </div>
  );
}

interface InnerProps {
  readonly info: ParameterInfo;
  readonly value: Json;
  readonly onChange: ControlProps["onChange"];
  readonly shared: { readonly id: string; readonly "aria-describedby": string; readonly "aria-invalid": boolean };
}

function NumberControl({ info, value, onChange, shared }: InnerProps) {
  const mayBeAuto = info.form.endsWith("-or-auto");
  const least = info.form === "seed" || info.form === "share" ? 0 : 1;
  return (
    <span class="number-control">
      <input
        {...shared}
        type="number"
        min={least}
        {...(info.form === "share" ? { max: 1, step: 0.01 } : { step: 1 })}
        value={typeof value === "number" ? value : ""}
        placeholder={mayBeAuto ? "auto" : String(info.default ?? "none")}
        onInput={(event) => {
          const text = event.currentTarget.value;
          onChange(text === "" ? undefined : Number(text));
        }}
      />
      {mayBeAuto && (
        <button type="button" class="quiet" disabled={value === "auto"} onClick={() => onChange("auto")}>
          auto
        </button>
      )}
      {info.form === "seed" && (
        <button type="button" class="quiet" onClick={() => onChange(Math.floor(Math.random() * 1e6))}>
          another
        </button>
      )}
    </span>
  );
}

const CUSTOM = "custom…";

/** A choice of words, or numbers of one's own as JSON. */
function SpecialControl({ info, value, onChange, shared }: InnerProps) {
  const [error, setError] = useState("");
  const choices = info.choices ?? ["none"];
  const [custom, setCustom] = useState(typeof value === "object" && value !== null);
  // Functions cannot be typed in here.
  const takesJson = info.name !== "filterFunction";
  return (
    <span class="special-control">
      <select
        {...shared}
        value={custom ? CUSTOM : String(value ?? "none")}
        onChange={(event) => {
          const chosen = event.currentTarget.value;
          setCustom(chosen === CUSTOM);
          if (chosen !== CUSTOM) onChange(chosen === "none" ? undefined : chosen);
        }}
      >
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
        {takesJson && <option value={CUSTOM}>{CUSTOM}</option>}
      </select>
      {custom && (
        <textarea
          rows={2}
          aria-label={`${parameterTitle(info.name)} as JSON`}
          placeholder={info.name === "classWeight" ? '{"1": 2, "7": 1}' : "[0, 1, 2]"}
          defaultValue={typeof value === "object" && value !== null ? JSON.stringify(value) : ""}
          onInput={(event) => {
            try {
              onChange(JSON.parse(event.currentTarget.value) as Json);
              setError("");
            } catch {
              setError("Expected JSON.");
            }
          }}
        />
      )}
      {error && <span class="field-error">{error}</span>}
    </span>
  );
}
