/** The description of the server's paths, for programs and people that read OpenAPI. */

import type { ServedModel } from "./served-model.ts";

type Json = { readonly [key: string]: unknown };

const ERROR = {
  description: "refused: the message says what was found, what was expected and where",
  content: { "application/json": { schema: { type: "object", properties: { error: { type: "string" } } } } },
};

const answer = (description: string, schema: Json = { type: "object" }): Json => ({
  description,
  content: { "application/json": { schema } },
});

const get = (summary: string, description: string): Json => ({
  get: { summary, responses: { 200: answer(description) } },
});

/** The paths of this server, with its models by name. */
export function openApi(version: string, models: readonly ServedModel[]): Json {
  const names = models.map(({ name }) => name);
  const model = { name: "model", in: "path", required: true, schema: { type: "string", enum: names } };
  const refusals = {
    400: ERROR,
    404: ERROR,
    413: ERROR,
    503: { ...ERROR, headers: { "Retry-After": { schema: { type: "integer" } } } },
  };
  const rows = {
    type: "array",
    items: {
      oneOf: [
        {
          type: "array",
          items: { type: ["number", "string", "boolean", "null"] },
          description: "in the order of the model's features or columns; words, truths and nulls for tables alone",
        },
        { type: "object", description: "by the names of the model's columns" },
      ],
    },
  };
  const request = {
    type: "object",
    properties: {
      rows,
      texts: { type: "array", items: { type: "string" } },
      model: { type: "string", enum: names },
      probabilities: { type: "boolean" },
      top: { type: "integer", minimum: 1 },
      k: { type: "integer", minimum: 1 },
      probes: { type: "integer", minimum: 1 },
    },
  };
  const label = { oneOf: [{ type: "string" }, { type: "number" }, { type: "array" }] };
  const parameters = [
    {
      name: "model",
      in: "query",
      schema: { type: "string", enum: names },
      description: "may be left out where there is one",
    },
  ];
  const bodies = {
    "application/json": { schema: request },
    "application/x-ndjson": { schema: { type: "string" } },
    "text/csv": { schema: { type: "string" } },
    "text/plain": { schema: { type: "string" }, description: "texts, one on each line" },
  };
  const tensors = {
    type: "object",
    required: ["inputs"],
    properties: {
      id: { type: "string" },
      inputs: { type: "array" },
      outputs: { type: "array" },
      parameters: { type: "object" },
    },
  };
  return {
    openapi: "3.1.0",
    info: {
      title: "ranksim",
      version,
      description: "Rank similarity filters behind HTTP. Bodies of /predict are answered in their own form.",
    },
    paths: {
      "/predict": {
        post: {
          summary: "labels of rows or texts",
          parameters: [
            ...parameters,
            { name: "probabilities", in: "query", schema: { type: "boolean" } },
            { name: "top", in: "query", schema: { type: "integer", minimum: 1 } },
          ],
          requestBody: { required: true, content: bodies },
          responses: {
            200: answer("labels in the order of the rows", {
              type: "object",
              required: ["model", "version", "labels"],
              properties: {
                model: { type: "string" },
                version: { type: "string" },
                labels: { type: "array", items: label },
                classes: { type: "array", items: label },
                probabilities: { type: "array", items: { type: "array", items: { type: "number" } } },
                top: { type: "array" },
              },
            }),
            ...refusals,
            415: ERROR,
          },
        },
      },
      "/explain": {
        post: {
          summary: "why one row is given its label",
          parameters,
          requestBody: { required: true, content: bodies },
          responses: { 200: answer("the filters and features that decided"), ...refusals },
        },
      },
      "/nearest": {
        post: {
          summary: "the rows most like each of some, of those that the model keeps (ranksim keep-rows)",
          parameters: [
            ...parameters,
            { name: "k", in: "query", schema: { type: "integer", minimum: 1, default: 5 } },
            { name: "probes", in: "query", schema: { type: "integer", minimum: 1 } },
          ],
          requestBody: { required: true, content: bodies },
          responses: {
            200: answer("for each row its neighbours, most alike first", {
              type: "object",
              required: ["model", "version", "neighbours"],
              properties: {
                model: { type: "string" },
                version: { type: "string" },
                neighbours: {
                  type: "array",
                  items: {
                    type: "array",
                    items: {
                      type: "object",
                      required: ["row", "similarity"],
                      properties: { row: { type: "integer" }, similarity: { type: "number" }, label },
                    },
                  },
                },
              },
            }),
            ...refusals,
            415: ERROR,
          },
        },
      },
      "/v2": get("the server", "name, version and extensions of the Open Inference Protocol"),
      "/v2/health/live": get("whether the process lives", "it does"),
      "/v2/health/ready": {
        get: { summary: "whether to send requests", responses: { 200: answer("yes"), 503: answer("not any more") } },
      },
      "/v2/models/{model}": { parameters: [model], ...get("what a model takes and gives", "metadata") },
      "/v2/models/{model}/ready": { parameters: [model], ...get("whether a model answers", "it does") },
      "/v2/models/{model}/infer": {
        parameters: [model],
        post: {
          summary: "one inference, tensors in JSON or as bytes after it",
          requestBody: {
            required: true,
            content: { "application/json": { schema: tensors }, "application/octet-stream": {} },
          },
          responses: { 200: answer("tensors"), ...refusals },
        },
      },
      "/metrics": { get: { summary: "figures for Prometheus", responses: { 200: { description: "text" } } } },
    },
  };
}
