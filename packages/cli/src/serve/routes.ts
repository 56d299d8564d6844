/** What a path asks for, and the answer. Nothing here knows of sockets; `server.ts` sends what comes back. */

import { explainRow } from "./explain.ts";
import { badRequest, Gone, HttpError } from "./http-error.ts";
import { infer, modelMetadata } from "./infer.ts";
import { bytesOf, type Rows, sliceRows } from "./input.ts";
import type { Limits } from "./limits.ts";
import type { Metrics } from "./metrics.ts";
import { nearestRows } from "./nearest.ts";
import { openApi } from "./openapi.ts";
import { type Page, servePage } from "./page.ts";
import {
  answerText,
  type BodyForm,
  bodyForm,
  countOf,
  jsonRows,
  type ParsedJson,
  parseBody,
  type Question,
  readRows,
} from "./predict.ts";
import { quickRows } from "./quick-rows.ts";
import type { ModelRegistry } from "./registry.ts";
import type { Running } from "./running.ts";
import type { Answers, ServedModel, Wanted } from "./served-model.ts";
import { parseInfer } from "./tensors.ts";
import { refuseCharset } from "./utf8.ts";

/** A request, read. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  /** Reads the body; only routes that take one do. */
  readonly body: () => Promise<Buffer>;
  /** Who waits for the answer, and what it takes. */
  readonly asker: Running;
}

/** An answer. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string | Buffer;
  readonly headers?: { readonly [name: string]: string };
}

/** What the routes work with. */
export interface Service {
  readonly registry: ModelRegistry;
  readonly metrics: Metrics;
  readonly version: string;
  readonly limits: Limits;
  readonly isReady: () => boolean;
  readonly inFlight: () => number;
}

type Handler = (asked: Asked, service: Service, found: RegExpExecArray) => Promise<Answer> | Answer;

interface Route {
  /** Its name in the metrics. */
  readonly name: string;
  readonly method: "GET" | "POST";
  readonly path: RegExp;
  readonly answer: Handler;
}

/** Most rows of a request whose probabilities are computed for the metrics alone. */
const SAMPLE_ROWS = 16;

const MODEL = "/v2/models/([^/]+)(?:/versions/([^/]+))?";

/** All routes; the busiest first. */
const ROUTES: readonly Route[] = [
  { name: "/predict", method: "POST", path: /^\/predict$/, answer: predict },
  { name: "/v2/infer", method: "POST", path: new RegExp(`^${MODEL}/infer$`), answer: inferRoute },
  { name: "/explain", method: "POST", path: /^\/explain$/, answer: explain },
  { name: "/nearest", method: "POST", path: /^\/nearest$/, answer: nearest },
  { name: "/v2/health/live", method: "GET", path: /^\/v2\/health\/live$/, answer: () => json({ live: true }) },
  { name: "/v2/health/ready", method: "GET", path: /^\/v2\/health\/ready$/, answer: ready },
  { name: "/metrics", method: "GET", path: /^\/metrics$/, answer: metrics },
  {
    name: "/v2",
    method: "GET",
    path: /^\/v2\/?$/,
    answer: (_, { version }) => json({ name: "ranksim", version, extensions: ["binary_tensor_data"] }),
  },
  {
    name: "/v2/models",
    method: "GET",
    path: new RegExp(`^${MODEL}$`),
    answer: (_, service, found) => json(modelMetadata(modelOf(service, found))),
  },
  { name: "/v2/models/ready", method: "GET", path: new RegExp(`^${MODEL}/ready$`), answer: modelReady },
  {
    name: "/openapi.json",
    method: "GET",
    path: /^\/openapi\.json$/,
    answer: (_, { registry, version }) => json(openApi(version, [...registry.all()])),
  },
  { name: "/", method: "GET", path: /^\/$/, answer: page },
];

/** Whether a path needs no token: probes, and the page, which has a field for it. */
export const isOpen = (path: string): boolean => path === "/" || path.startsWith("/v2/health/");

/** The route of a request and its answer; 404 and 405 where there is none. */
export function routeOf({ method, path }: { method: string; path: string }): {
  name: string;
  run: (asked: Asked, service: Service) => Promise<Answer> | Answer;
} {
  const asked = method === "HEAD" ? "GET" : method;
  let other: Route | undefined;
  for (const route of ROUTES) {
    const found = route.path.exec(path);
    if (!found) continue;
    if (route.method === asked)
      return { name: route.name, run: (request, service) => route.answer(request, service, found) };
    other = route;
  }
  if (other) throw new HttpError(405, `${path}: expected ${other.method}, found ${method}`, { Allow: other.method });
  throw new HttpError(404, `${path}: there is no such path; /openapi.json lists them`);
}

const json = (value: object, status = 200): Answer => ({
  status,
  type: "application/json",
  body: JSON.stringify(value),
});

function ready(_: Asked, { isReady }: Service): Answer {
  return isReady() ? json({ ready: true }) : json({ ready: false, error: "the server is about to end" }, 503);
}

function modelReady(_: Asked, service: Service, found: RegExpExecArray): Answer {
  const { name } = modelOf(service, found);
  return service.isReady() ? json({ name, ready: true }) : json({ name, ready: false }, 503);
}

function metrics(_: Asked, service: Service): Answer {
  const text = service.metrics.text(service.inFlight(), service.registry.all());
  return { status: 200, type: "text/plain; version=0.0.4; charset=utf-8", body: text };
}

function page({ headers }: Asked, { registry, version }: Service): Answer {
  const { html, policy }: Page = servePage(version, [...registry.all()], String(headers.host ?? "localhost"));
  return { status: 200, type: "text/html; charset=utf-8", body: html, headers: { "Content-Security-Policy": policy } };
}

/** The model of a path; a version must be the present one. */
function modelOf({ registry }: Service, [, name, version]: RegExpExecArray): ServedModel {
  const model = named(registry, decoded(name));
  if (version !== undefined && decoded(version) !== model.version) {
    throw new HttpError(
      404,
      `model ${model.name}: its version is ${model.version}, not ${JSON.stringify(decoded(version))}`,
    );
  }
  return model;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badRequest(`${JSON.stringify(text)} cannot be decoded`);
  }
}

function named(registry: ModelRegistry, name: string): ServedModel {
  const model = registry.get(name);
  if (model) return model;
  throw new HttpError(404, `no model is called ${JSON.stringify(name)}; there is ${registry.names.join(", ")}`);
}

async function inferRoute(asked: Asked, service: Service, found: RegExpExecArray): Promise<Answer> {
  const model = modelOf(service, found);
  const stated = asked.headers["inference-header-content-length"];
  if (stated !== undefined && !/^\d+$/.test(String(stated))) {
    throw badRequest(`Inference-Header-Content-Length: expected a whole number, found ${JSON.stringify(stated)}`);
  }
  refuseCharset(asked.headers["content-type"] as string | undefined);
  const request = parseInfer(await asked.body(), stated === undefined ? undefined : Number(stated));
  const { body, headerLength } = await infer(model, request, (rows, wanted) =>
    ask(model, rows, wanted, asked, service),
  );
  if (headerLength === undefined) return { status: 200, type: "application/json", body };
  const headers = { "Inference-Header-Content-Length": String(headerLength) };
  return { status: 200, type: "application/octet-stream", body, headers };
}

async function predict(asked: Asked, service: Service): Promise<Answer> {
  const { model, rows, question, form } = await questionOf(asked, service.registry);
  const wantsProbabilities = question.probabilities || question.top !== undefined;
  const wanted = { labels: true, probabilities: wantsProbabilities, similarities: false };
  const answers = await ask(model, rows, wanted, asked, service);
  const { type, text } = await answerText(model, answers, question, form);
  return { status: 200, type, body: text };
}

/** Bytes of a number of an answer: as such, and as text. */
const NUMBER_BYTES = 32;

/** Takes room for rows that are answered by so many numbers each; refuses answers that are too long. */
function takeRoom(rows: Rows, width: number, asker: Running, limits: Limits): void {
  const most = Math.max(1, Math.floor(limits.answerNumbers / width));
  if (rows.rows > most) {
    throw new HttpError(
      413,
      `expected at most ${most} rows at a time, as each is answered by ${width} numbers, found ${rows.rows}`,
    );
  }
  asker.take(bytesOf(rows) + rows.rows * width * NUMBER_BYTES);
}

/** Asks the model where there is room for the answer, and tells the metrics what came of it. */
async function ask(
  model: ServedModel,
  rows: Rows,
  wanted: Wanted,
  { asker }: Asked,
  { metrics, limits }: Service,
): Promise<Answers> {
  takeRoom(rows, model.answerWidth(wanted), asker, limits);
  const isSample = model.hasProbabilities && !wanted.probabilities && rows.rows > 0 && metrics.samples(model);
  const sample = isSample ? sliceRows(rows, 0, Math.min(rows.rows, SAMPLE_ROWS)) : undefined;
  const [answers, weighed] = await Promise.all([
    model.ask(rows, wanted, asker),
    sample && model.ask(sample, { labels: false, probabilities: true, similarities: false }, asker),
  ]);
  if (asker.isGone) throw new Gone();
  metrics.answered(model, rows.rows, answers);
  if (weighed) metrics.weighed(model, weighed);
  return answers;
}

async function explain(asked: Asked, service: Service): Promise<Answer> {
  const { model, rows } = await questionOf(asked, service.registry);
  return json(await explainRow(model, rows, { backend: model.backend }));
}

/** Numbers of an answer for a neighbour: its row, its similarity, its label. */
const NEIGHBOUR_NUMBERS = 3;
const NEAREST = 5;

async function nearest(asked: Asked, service: Service): Promise<Answer> {
  const { model, rows, question } = await questionOf(asked, service.registry);
  const { k = NEAREST, probes } = question;
  const width = NEIGHBOUR_NUMBERS * Math.min(k, model.kept?.index.rows.rows ?? 0);
  takeRoom(rows, width, asked.asker, service.limits);
  const neighbours = await nearestRows(model, rows, k, { probes, asker: asked.asker });
  if (asked.asker.isGone) throw new Gone();
  return json({ model: model.name, version: model.version, neighbours });
}

/** The model, the rows and what is asked of them, from address and body. */
async function questionOf({ query, headers, body }: Asked, registry: ModelRegistry) {
  const form: BodyForm = bodyForm(headers["content-type"] as string | undefined);
  const bytes = await body();
  const asksFor = query.get("probabilities");
  const byAddress: Question = {
    probabilities: asksFor !== null && asksFor !== "false",
    top: query.has("top") ? countOf("top", query.get("top")) : undefined,
    k: query.has("k") ? countOf("k", query.get("k")) : undefined,
    probes: query.has("probes") ? countOf("probes", query.get("probes")) : undefined,
  };
  const name = query.get("model");
  if (form !== "json") {
    const model = chosen(registry, name);
    return { model, rows: await readRows(model, bytes, form), question: byAddress, form };
  }
  const likely = name === null ? registry.only : registry.get(name);
  const quick = likely && !likely.encoder ? quickRows(bytes, likely.features) : undefined;
  if (likely && quick) return { model: likely, rows: quick, question: byAddress, form };
  const parsed: ParsedJson = parseBody(bytes);
  const model = chosen(registry, name ?? parsed.model);
  return { model, rows: await jsonRows(model, parsed), question: { ...byAddress, ...parsed.question }, form };
}

/** The model of a name; without one, the only model there is. */
function chosen(registry: ModelRegistry, name: string | undefined | null): ServedModel {
  if (name) return named(registry, name);
  const [only, more] = registry.all();
  if (more)
    throw badRequest(
      `several models are served: say which, as ?model=${only.name}; there is ${registry.names.join(", ")}`,
    );
  return only;
}
