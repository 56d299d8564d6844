/** What can be taken along: the model, a report, and the lines that make it again. */

import { useState } from "preact/hooks";
import { download } from "../takeaway/download.ts";
import { commandLine, modelFileName, typescriptLines } from "../takeaway/lines.ts";
import { useController, usePage } from "./context.ts";
import { Notice } from "./notice.tsx";
import { bytes, count } from "./text.ts";

/** Put here by the build. */
declare const RANKSIM_VERSION: string;

export function TakeAway() {
  const controller = useController();
  const page = usePage();
  const model = page.model.value;
  const data = page.data.value;
  const recipe = page.modelRecipe.value;
  const choices = page.openData.value?.choices ?? {};
  const [error, setError] = useState("");
  const [busy, setBusy] = useState("");
  if (!model) return null;
  const lines = data && recipe ? typescriptLines(data, recipe, choices) : "";
  const command = data && recipe ? commandLine(data, recipe, choices) : "";
  const name = modelFileName(data?.name ?? model.name);
  const attempt = async (title: string, work: () => Promise<void>) => {
    setError("");
    setBusy(title);
    try {
      await work();
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure));
    }
    setBusy("");
  };
  const saveModel = () => attempt("Saving…", async () => save(name, await controller.client.call("save", {})));
  const saveOnAll = () =>
    attempt("Training on all rows…", async () => {
      if (recipe) save(name, await controller.client.call("saveOnAll", { recipe }));
    });
  const saveReport = () =>
    attempt("Writing the report…", async () => {
      const date = `${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC`;
      const provenance = { date, version: RANKSIM_VERSION, command: command || "ranksim play" };
      const imageSize = page.imageSize.peek();
      const html = await controller.client.call("report", { imageSize, provenance });
      download(name.replace(/\.model$/, "-report.html"), html, "text/html");
    });
  // Rows that came as test files stay out of training.
  const heldOut = recipe && recipe.heldOut > 0 && data && !data.testRows && model.trainingRows < data.rows;
  return (
    <section class="card take-away" aria-labelledby="take-title">
      <h2 id="take-title">Take away</h2>
      <div class="buttons">
        <button type="button" onClick={saveModel}>
          Model
        </button>
        <button
          type="button"
          disabled={!data}
          title={data ? "" : "A report judges the model on rows: drop some that it takes"}
          onClick={saveReport}
        >
          Report
        </button>
      </div>
      {busy && <p class="hint">{busy}</p>}
      {error && <Notice kind="error" text={error} />}
      <p class="hint">
        {bytes(model.byteLength)}, digest {model.digest.slice(0, 12)}…
        {(!recipe || data?.name !== "digits") && " The link carries the view, not your files."}
      </p>
      {heldOut && (
        <p class="hint">
          The model has seen {count(model.trainingRows)} rows.{" "}
          <button type="button" class="link" onClick={saveOnAll}>
            Save one trained on all {count(data.rows)}
          </button>
        </p>
      )}
      {lines && (
        <details>
          <summary>In TypeScript and on the command line</summary>
          <Code title="TypeScript" text={lines} />
          <Code title="Command line, on all rows" text={command} />
        </details>
      )}
    </section>
  );
}

function save(name: string, content: Uint8Array<ArrayBuffer>): void {
  download(name, content, "application/octet-stream");
}

function Code({ title, text }: { title: string; text: string }) {
  return (
    <div class="code">
      <div class="code-head">
        <span class="muted">{title}</span>
        <CopyButton title="Copy" text={() => text} />
      </div>
      <pre>{text}</pre>
    </div>
  );
}

function CopyButton({ title, text }: { title: string; text: () => string }) {
  const [state, setState] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setState("Copied");
    } catch {
      setState("Not allowed");
    }
    setTimeout(() => setState(""), 1500);
  };
  return (
    <button type="button" onClick={copy} aria-live="polite">
      {state || title}
    </button>
  );
}
