/** The lines that make the same model elsewhere: in TypeScript and on the command line. The seed does the rest. */

import type { DataSummary, ModelKind, ReadChoices, Recipe } from "../protocol.ts";

const CLASSES = {
  classifier: "RankSimilarityClassifier",
  probabilistic: "RankSimilarityProbabilisticClassifier",
  transform: "RankSimilarityTransform",
} as const satisfies { readonly [kind in ModelKind]: string };

/** TypeScript that ends with the model's bytes in `bytes`. */
export function typescriptLines(data: DataSummary, recipe: Recipe, choices: ReadChoices): string {
  const { estimator, heldOut, params } = recipe;
  const isDigits = data.name === "digits";
  if (isDigits && estimator !== "chosen") return estimatorLines(estimator, recipe);
  const { seed = 0, preset, ...others } = params;
  // Test files of their own are never part of what the training file holds.
  const isHeldOut = heldOut > 0 && estimator !== "transform" && data.classes.length > 0 && data.testRows === undefined;
  const reading = readingOptions(choices);
  const options = [
    ...(estimator === "chosen" ? [] : [`estimator: "${estimator}"`]),
    ...(preset === undefined ? [] : [`preset: "${preset}"`]),
    ...(seed === 0 ? [] : [`seed: ${Number(seed)}`]),
    ...(Object.keys(others).length > 0 ? [`params: ${paramsText({ params: others })}`] : []),
    ...(isHeldOut ? [`testShare: ${heldOut}`] : []),
    ...(reading.length > 0 ? ["reading"] : []),
  ];
  const labels = data.reading?.labels;
  const read = [
    ...(reading.length > 0 ? ["...reading"] : []),
    ...(data.reading?.format ? [`format: "${data.reading.format}"`] : []),
    ...(labels ? [`labels: await fileSource(${JSON.stringify(labels)})`] : []),
  ];
  return [
    `import { ${isDigits ? "loadDigits, " : ""}saveModel, train } from "ranksim";`,
    ...(isDigits ? [] : [`import { ${labels ? "fileSource, " : ""}loadData } from "ranksim/node";`]),
    "",
    ...(reading.length > 0 ? [`const reading = { ${reading.join(", ")} };`] : []),
    isDigits
      ? "const data = await loadDigits();"
      : `const data = await loadData(${JSON.stringify(data.name)}${read.length > 0 ? `, { ${read.join(", ")} }` : ""});`,
    `const { model${isHeldOut ? ", heldOut" : ""} } = await train(data${options.length > 0 ? `, { ${options.join(", ")} }` : ""});`,
    "const bytes = saveModel(model);",
  ].join("\n");
}

/** The same for the paper's estimators on the digits. */
function estimatorLines(estimator: ModelKind, recipe: Recipe): string {
  const { heldOut, params } = recipe;
  const splits = heldOut > 0;
  const names = ["loadDigits", CLASSES[estimator], "saveModel", ...(splits ? ["trainTestSplit"] : [])].sort();
  const split = `{ testShare: ${heldOut}, seed: ${Number(params.seed ?? 0)}, stratify: true }`;
  return [
    `import { ${names.join(", ")} } from "ranksim";`,
    "",
    "const { x, y } = await loadDigits();",
    ...(splits ? [`const { train, test } = trainTestSplit(x, y, ${split});`] : []),
    `const model = await new ${CLASSES[estimator]}(${paramsText(recipe)}).fit(${splits ? "train.x, train.y" : "x, y"});`,
    ...(splits && estimator !== "transform" ? ["const accuracy = await model.score(test.x, test.y);"] : []),
    "const bytes = saveModel(model);",
  ].join("\n");
}

/** What was said of the columns, which the model remembers. */
function readingOptions({ ignoreColumns, encoding, multilabel, ...columns }: ReadChoices): string[] {
  const said = Object.entries(columns).map(
    ([name, column]) => `${name}: ${column === null ? "null" : columnText(column)}`,
  );
  return [
    ...said,
    ...(ignoreColumns ? [`ignoreColumns: [${ignoreColumns.map(columnText).join(", ")}]`] : []),
    ...(encoding ? [`encoding: "${encoding}" as const`] : []),
    ...(multilabel ? ["multilabel: true"] : []),
  ];
}

/** The command that trains the recipe on all rows. */
export function commandLine(data: DataSummary, recipe: Recipe, choices: ReadChoices): string {
  const { preset, ...params } = recipe.params;
  const roles = [
    ...(["text", "group", "time", "weight"] as const).flatMap((role) => {
      const column = choices[`${role}Column`];
      return column === undefined ? [] : [`${column}:${role}`];
    }),
    ...(choices.ignoreColumns ?? []).map((name) => `${name}:ignore`),
  ];
  const flags = Object.entries(params).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return WITH_FLAG.includes(name) ? `--${name} ${text}` : `--set ${quoted(`${name}=${text}`)}`;
  });
  return [
    `ranksim train ${quoted(data.name)}`,
    ...(data.reading?.labels ? [`--labels ${quoted(data.reading.labels)}`] : []),
    ...(data.reading?.format ? [`--format ${data.reading.format}`] : []),
    ...(choices.encoding ? [`--set encoding=${choices.encoding}`] : []),
    ...(choices.labelColumn ? [`--label ${quoted(choices.labelColumn)}`] : []),
    ...(choices.multilabel ? ["--multilabel"] : []),
    ...(roles.length > 0 ? [`--columns ${quoted(roles.join(","))}`] : []),
    ...(choices.textColumn || data.reading?.format === "text-folder" ? ["--text"] : []),
    ...(recipe.estimator === "chosen" ? [] : [`--estimator ${recipe.estimator}`]),
    ...(preset === undefined ? [] : [`--preset ${preset}`]),
    ...flags,
    `--model ${quoted(modelFileName(data.name))}`,
  ].join(" ");
}

/** What the model is called when it is saved. */
export function modelFileName(dataName: string): string {
  const stem = dataName.replace(/(\.[a-z0-9]+)?(\.gz)?$/i, "").replace(/[^\w.-]+/g, "-");
  return `${stem || "model"}.model`;
}

function paramsText({ params }: Pick<Recipe, "params">): string {
  const entries = Object.entries(params).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return entries.length === 0 ? "" : `{ ${entries.join(", ")} }`;
}

const columnText = (column: string): string => (/^-?\d+$/.test(column) ? column : JSON.stringify(column));

/** Parameters that have a flag of their own. */
const WITH_FLAG: readonly string[] = ["filters", "seed"];

/** Safe for a POSIX shell. */
const quoted = (text: string): string => (/^[\w./:=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
