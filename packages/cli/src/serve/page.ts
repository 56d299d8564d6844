/** The page at "/": what is served, a form to try it, and lines for a terminal. One script, known by its digest. */

import { createHash } from "node:crypto";
import type { SchemaColumn } from "@ranksim/core";
import { quoted } from "../provenance.ts";
import { escaped } from "../report/markup.ts";
import { PAGE_STYLE } from "../report/theme.ts";
import type { ServedModel } from "./served-model.ts";

/** A page and the policy it is to be sent with. */
export interface Page {
  readonly html: string;
  readonly policy: string;
}

const SCRIPT = `
const form = document.querySelector("form");
const out = document.querySelector("#answer");
const select = form.elements.model;
const show = () => {
  form.elements.body.value = select.selectedOptions[0].dataset.example;
  for (const part of document.querySelectorAll("[data-model]")) part.hidden = part.dataset.model !== select.value;
};
select.addEventListener("change", show);
show();
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const began = performance.now();
  const path = event.submitter.value;
  const headers = { "Content-Type": "application/json" };
  if (form.elements.token.value) headers.Authorization = "Bearer " + form.elements.token.value;
  const query = "?model=" + encodeURIComponent(select.value) + (path === "/predict" ? "&top=3" : "");
  try {
    const response = await fetch(path + query, { method: "POST", headers, body: form.elements.body.value });
    const text = await response.text();
    const time = (performance.now() - began).toFixed(0) + " ms";
    out.className = response.ok ? "" : "wrong";
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 1); } catch {}
    out.textContent = response.status + ", " + time + "\\n" + shown;
  } catch (error) {
    out.className = "wrong";
    out.textContent = String(error);
  }
});
`;

const STYLE = `
form{display:grid;gap:.75rem;max-width:44rem}label{display:grid;gap:.2rem;font-size:.9rem;color:var(--muted)}
select,textarea,input,button{font:inherit;color:var(--text);background:var(--surface);border:1px solid var(--border);border-radius:.4rem;padding:.45rem .6rem}
textarea{font:13px/1.5 ui-monospace,monospace;min-height:7.5rem;resize:vertical}
.buttons{display:flex;gap:.6rem}button{cursor:pointer}button:first-child{background:var(--accent);color:var(--on-accent);border-color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
pre{font:13px/1.5 ui-monospace,monospace;background:var(--surface);border:1px solid var(--border);border-radius:.4rem;padding:.7rem .9rem;overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere;max-height:24rem}
#answer:empty{display:none}a{color:var(--accent)}
`;

const digest = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** The page of a server that was asked for by `host`. */
export function servePage(version: string, models: readonly ServedModel[], host: string): Page {
  const style = PAGE_STYLE + STYLE;
  const policy = `default-src 'none'; script-src ${digest(SCRIPT)}; style-src ${digest(style)}; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`;
  const options = models.map(
    (model) =>
      `<option value="${escaped(model.name)}" data-example="${escaped(exampleOf(model))}">${escaped(model.name)}</option>`,
  );
  const lines = models.map(
    (model) => `<div data-model="${escaped(model.name)}"><pre>${escaped(linesOf(model, `http://${host}`))}</pre></div>`,
  );
  const facts = models.map(
    ({ name, version: own, model, features, takesText, encoder, classes }) =>
      `<tr><th scope="row">${escaped(name)}</th><td>${escaped(model.kind)}</td><td>${takesText ? "text" : encoder ? `${encoder.columns.length} columns` : `${features} numbers`}</td><td>${classes.length === 0 ? "–" : classes.length}</td><td><code>${escaped(own)}</code></td></tr>`,
  );
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>ranksim serves</title>
<style>${style}</style>
</head>
<body>
<main>
<header><h1>ranksim serves</h1><p class="about">Version ${escaped(version)}. <a href="/openapi.json">openapi.json</a>, <a href="/metrics">metrics</a>, <a href="/v2/health/ready">ready</a></p></header>
<section><h2>Models</h2><table><thead><tr><th>name</th><th>kind</th><th>takes</th><th>classes</th><th>version</th></tr></thead><tbody>${facts.join("")}</tbody></table></section>
<section><h2>Try it</h2>
<form>
<label>Model<select name="model">${options.join("")}</select></label>
<label>Rows or texts, as JSON<textarea name="body" spellcheck="false"></textarea></label>
<label>Token, if the server wants one<input name="token" type="password" autocomplete="off"></label>
<div class="buttons"><button value="/predict">Predict</button><button value="/explain">Explain</button></div>
</form>
<pre id="answer" aria-live="polite"></pre>
</section>
<section><h2>From a terminal</h2>${lines.join("")}</section>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
  return { html, policy };
}

/** A body that the model takes: zeros, missing cells, or a text. */
function exampleOf({ takesText, features, encoder, schema }: ServedModel): string {
  if (takesText) return '{"texts": ["a lovely film"]}';
  if (encoder) {
    const row = Object.fromEntries(encoder.columns.map(({ name, type }) => [name, type === "number" ? 0 : null]));
    return JSON.stringify({ rows: [row] });
  }
  if (schema?.columns) {
    const row = Object.fromEntries(schema.columns.map(({ name }) => [name, 0]));
    return JSON.stringify({ rows: [row] });
  }
  return `{"rows": [[${new Array(features).fill(0).join(", ")}]]}`;
}

function linesOf(model: ServedModel, url: string): string {
  const { name, takesText, encoder, features } = model;
  const body = takesText || encoder ? exampleOf(model) : '{"rows": [[0, 1, 2, …]]}';
  const tensor = takesText
    ? '{"name": "text", "datatype": "BYTES", "shape": [1], "data": ["a lovely film"]}'
    : encoder
      ? encoder.columns.map(tensorOf).join(", ")
      : `{"name": "rows", "datatype": "FP64", "shape": [1, ${features}], "data": [0, 1, 2, …]}`;
  const json = ["-H", "Content-Type: application/json", "-d"];
  const csv = ["-H", "Content-Type: text/csv", "--data-binary"];
  return [
    ["curl", `${url}/predict?model=${name}`, ...json, body],
    ["curl", `${url}/predict?model=${name}&top=3`, ...csv, "@rows.csv"],
    ["curl", `${url}/v2/models/${name}/infer`, ...json, `{"inputs": [${tensor}]}`],
  ]
    .map((words) => words.map(quoted).join(" "))
    .join("\n");
}

const tensorOf = ({ name, type }: SchemaColumn): string => {
  const [datatype, value] = type === "number" ? ["FP64", 0] : ["BYTES", ""];
  return JSON.stringify({ name, datatype, shape: [1], data: [value] });
};
