/** What the model learns from: the embedded digits, or files of one's own. */

import { useRef } from "preact/hooks";
import type { DataSummary } from "../protocol.ts";
import { useController, usePage } from "./context.ts";
import { DataTable } from "./data-table.tsx";
import { filesOfInput } from "./dropping.ts";
import { Notice } from "./notice.tsx";
import { bytes, count, counted } from "./text.ts";

export function DataPanel() {
  const controller = useController();
  const page = usePage();
  const data = page.data.value;
  const busy = page.busy.value;
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const take = (input: HTMLInputElement) => {
    void controller.openFiles(filesOfInput(input));
    input.value = "";
  };
  return (
    <section class="card" aria-labelledby="data-title">
      <h2 id="data-title">Data</h2>
      <div aria-live="polite">
        {busy ? <p class="muted">{busy}</p> : data ? <DataFacts data={data} /> : <p class="muted">No data yet.</p>}
      </div>
      {data?.notes?.map((note) => (
        <Notice key={note} kind="note" text={note} />
      ))}
      <DataTable />
      <Encoding />
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
      <KeptFiles />
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

/** Files of an earlier visit: to be opened again, or removed. */
function KeptFiles() {
  const controller = useController();
  const { kept, data } = usePage();
  const found = kept.value;
  if (!found) return null;
  return (
    <p class="hint kept">
      <b>{found.name}</b> ({bytes(found.bytes)}) is kept in this browser.{" "}
      {data.value?.name !== found.name && (
        <>
          <button type="button" class="link" onClick={() => controller.openKept()}>
            Open it
          </button>{" "}
        </>
      )}
      <button type="button" class="link" onClick={() => controller.removeKept()}>
        Remove it
      </button>
    </p>
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
        {data.form !== "text" && ` × ${counted(data.features, data.form === "table" ? "column" : "feature")}`}
        {data.form === "sparse" && ", sparse"}
        {data.testRows !== undefined && `, ${count(data.testRows)} of them for testing`}
        {data.imageSize && `, pictures of ${data.imageSize.width}\u00a0×\u00a0${data.imageSize.height}`}
      </p>
      <p class="facts">
        {classes.length === 0
          ? data.preview
            ? "no labels: say “label” at the head of the column that holds them, or train filters alone"
            : "no labels: only a transform can be trained"
          : `${data.multilabel ? `${counted(classes.length, "label")}, several a row` : counted(classes.length, "class", "classes")}: ${shown}`}
      </p>
    </>
  );
}

/** How bytes become letters in folders of old texts, which do not say it themselves. */
function Encoding() {
  const controller = useController();
  const page = usePage();
  const unread = page.unread.value;
  const open = page.openData.value;
  const isText = open && open.files.length > 0 && open.summary.form === "text";
  if (!unread && !isText) return null;
  const choices = unread?.choices ?? open?.choices ?? {};
  const { encoding: _, ...others } = choices;
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={choices.encoding === "latin1"}
        onChange={(event) =>
          controller.reread(event.currentTarget.checked ? { ...others, encoding: "latin1" } : others)
        }
      />
      Old texts in Latin-1, not UTF-8
    </label>
  );
}

/** Rows whose width has a divisor can be looked at as pictures. */
function PictureWidth() {
  const controller = useController();
  const data = usePage().data.value;
  const model = usePage().model.value;
  const size = usePage().imageSize.value;
  const features = data?.features ?? model?.inputs ?? 0;
  const isKnown = data && (data.imageSize || data.featureNames || data.form !== "dense");
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
