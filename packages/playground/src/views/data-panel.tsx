/** What the model learns from: the embedded digits, or files of one's own. */

import { useRef } from "preact/hooks";
import type { DataSummary } from "../protocol.ts";
import { useController, useField } from "./context.ts";
import { filesOfInput } from "./dropping.ts";
import { Notice } from "./notice.tsx";
import { count, counted } from "./text.ts";

export function DataPanel() {
  const controller = useController();
  const data = useField("data");
  const error = useField("dataError");
  const busy = useField("busy");
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const take = (input: HTMLInputElement) => {
    void controller.openFiles(filesOfInput(input));
    input.value = "";
  };
  return (
    <section class="card" aria-labelledby="data-title">
      <h2 id="data-title">
        <span class="step-number">1</span> Data
      </h2>
      <div aria-live="polite">
        {busy ? <p class="muted">{busy}</p> : data ? <DataFacts data={data} /> : <p class="muted">No data yet.</p>}
      </div>
      {error && <Notice kind="error" text={error} />}
      <ReadingChoices />
      <PictureWidth />
      <div class="buttons">
        <button type="button" onClick={() => controller.openDigits()}>
          Digits
        </button>
        <button type="button" onClick={() => files.current?.click()}>
          Files…
        </button>
        <button type="button" onClick={() => folder.current?.click()}>
          Folder…
        </button>
      </div>
      <p class="hint drop-hint">
        Or drop them anywhere: CSV, NPY, NPZ, IDX, svmlight, Parquet, a folder of images, or a model of the command
        line. Nothing leaves this page.
      </p>
      <input
        ref={files}
        type="file"
        multiple
        hidden
        onChange={(event) => take(event.currentTarget)}
        data-testid="files"
      />
      <input
        ref={(element) => {
          folder.current = element;
          element?.setAttribute("webkitdirectory", "");
        }}
        type="file"
        hidden
        onChange={(event) => take(event.currentTarget)}
      />
    </section>
  );
}

function DataFacts({ data }: { data: DataSummary }) {
  const { classes } = data;
  const shown = classes.slice(0, 12).join(", ") + (classes.length > 12 ? ", …" : "");
  return (
    <>
      <p class="data-name" title={data.name}>
        {data.name}
      </p>
      <p class="facts">
        {counted(data.rows, data.form === "text" ? "text" : "row")}
        {data.form !== "text" && ` × ${counted(data.features, "feature")}`}
        {data.form === "sparse" && ", sparse"}
        {data.imageSize && `, pictures of ${data.imageSize.width}\u00a0×\u00a0${data.imageSize.height}`}
      </p>
      <p class="facts">
        {classes.length === 0
          ? "no labels: only a transform can be trained"
          : `${count(classes.length)} ${data.multilabel ? "labels, several a row" : "classes"}: ${shown}`}
      </p>
    </>
  );
}

const TABLE = /\.(csv|tsv|tab|txt|jsonl|ndjson|json|parquet|arrow|feather)(\.gz)?$/i;

/** How files are to be read, where they do not say it themselves: tables, and folders of old texts. */
function ReadingChoices() {
  const controller = useController();
  const choices = useField("choices");
  const canReread = useField("canReread");
  const data = useField("data");
  const error = useField("dataError");
  if (!canReread || !(error || data?.form === "text" || TABLE.test(data?.name ?? ""))) return null;
  return (
    <details open={error !== undefined || data?.classes.length === 0}>
      <summary>How to read it</summary>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget);
          const field = (name: string) => String(given.get(name) ?? "").trim();
          const [labelColumn, textColumn] = [field("labelColumn"), field("textColumn")];
          void controller.reread({
            ...(labelColumn ? { labelColumn } : {}),
            ...(textColumn ? { textColumn } : {}),
            ...(given.get("latin1") ? { encoding: "latin1" } : {}),
          });
        }}
      >
        <label>
          Label column
          <input name="labelColumn" defaultValue={choices.labelColumn ?? ""} placeholder="name, or -1 for the last" />
        </label>
        <label>
          Text column
          <input name="textColumn" defaultValue={choices.textColumn ?? ""} placeholder="none: numbers" />
        </label>
        <label class="check">
          <input type="checkbox" name="latin1" defaultChecked={choices.encoding === "latin1"} />
          Old texts in Latin-1, not UTF-8
        </label>
        <button type="submit">Read again</button>
      </form>
    </details>
  );
}

/** Rows whose width has a divisor can be looked at as pictures. */
function PictureWidth() {
  const controller = useController();
  const data = useField("data");
  const model = useField("model");
  const size = useField("imageSize");
  const fits = !model || model.fitsData;
  const features = fits ? (data?.features ?? 0) : model.features;
  const isKnown = fits && (data?.imageSize || data?.featureNames || data?.form !== "dense");
  if (features < 4 || features > 65_536 || model?.text || isKnown) return null;
  return (
    <label class="inline-field">
      Draw rows as pictures, width
      <input
        type="number"
        min="0"
        max={features}
        value={size?.width ?? 0}
        aria-describedby="width-hint"
        onChange={(event) => {
          const width = Number(event.currentTarget.value);
          const divides = Number.isInteger(width) && width > 1 && features % width === 0;
          controller.setImageSize(divides ? { width, height: features / width } : undefined);
        }}
      />
      <span id="width-hint" class="hint">
        {size ? `${size.width} × ${size.height}` : `a divisor of ${features}; 0 for none`}
      </span>
    </label>
  );
}
