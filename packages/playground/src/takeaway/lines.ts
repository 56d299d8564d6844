/** The lines that make the same model elsewhere: in TypeScript and on the command line. The seed does the rest. */

import { type DataSummary, type ModelKind, PATCH_PRESET, type ReadChoices, type Recipe } from "../protocol.ts";

const CLASSES = {
  classifier: "RankSimilarityClassifier",
  probabilistic: "RankSimilarityProbabilisticClassifier",
  transform: "RankSimilarityTransform",
} as const satisfies { readonly [kind in ModelKind]: string };

/** TypeScript that ends with the model's bytes in `bytes`. */
export function typescriptLines(data: DataSummary, recipe: Recipe, choices: ReadChoices): string {
  const { estimator, heldOut, params } = recipe;
  if (estimator === "patches") return patchLines(data, recipe, choices);
  const isDigits = data.name === "digits";
  const isText = data.form === "text";
  const labelled = data.classes.length > 0;
  // Test files of their own are never part of what the training file holds.
  const splits = heldOut > 0 && labelled && data.testRows === undefined;
  const names = [
    ...(isDigits ? ["loadDigits"] : [`type ${isText ? "TextData" : "MatrixData"}`]),
    ...(isText ? ["Pipeline", "CountVectorizer"] : []),
    CLASSES[estimator],
    "saveModel",
    ...(splits ? ["trainTestSplit"] : []),
  ].sort((a, b) => (a.replace("type ", "") < b.replace("type ", "") ? -1 : 1));
  const rows = isText ? "text" : "x";
  const inputs = splits ? "train.x, train.y" : labelled ? `${rows}, y` : rows;
  const stratify = data.multilabel ? "" : ", stratify: true";
  const split = `{ testShare: ${heldOut}, seed: ${Number(params.seed ?? 0)}${stratify} }`;
  const made = `new ${CLASSES[estimator]}(${paramsText(recipe)})`;
  return [
    `import { ${names.join(", ")} } from "ranksim";`,
    ...(isDigits ? [] : [`import { ${data.reading?.labels ? "fileSource, " : ""}loadData } from "ranksim/node";`]),
    "",
    isDigits ? "const { x, y } = await loadDigits();" : readingLine(data, choices),
    ...(splits ? [`const { train, test } = trainTestSplit(${rows}, y, ${split});`] : []),
    `const estimator = ${isText ? `new Pipeline([new CountVectorizer(), ${made}])` : made};`,
    `const model = await estimator.fit(${inputs});`,
    ...(splits && estimator !== "transform" ? ["const accuracy = await model.score(test.x, test.y);"] : []),
    "const bytes = saveModel(model);",
  ].join("\n");
}

/** The same for patches in images, which the recipe of a preset puts before the classifier. */
function patchLines(data: DataSummary, { heldOut, params }: Recipe, choices: ReadChoices): string {
  const isDigits = data.name === "digits";
  const splits = heldOut > 0 && data.testRows === undefined;
  const { seed = 0, ...others } = params;
  const given = Object.entries(others).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const options = [
    `preset: "${PATCH_PRESET}"`,
    ...(seed === 0 ? [] : [`seed: ${Number(seed)}`]),
    ...(given.length > 0 ? [`params: { ${given.join(", ")} }`] : []),
  ];
  const split = `{ testShare: ${heldOut}, seed: ${Number(seed)}, stratify: true }`;
  const { width, height } = data.imageSize ?? { width: 0, height: 0 };
  const rows = splits ? "...split.train" : "x, y";
  const names = [
    ...(isDigits ? ["loadDigits"] : ["type MatrixData"]),
    "saveModel",
    "train",
    ...(splits ? ["trainTestSplit"] : []),
  ];
  return [
    `import { ${names.join(", ")} } from "ranksim";`,
    ...(isDigits ? [] : [`import { ${data.reading?.labels ? "fileSource, " : ""}loadData } from "ranksim/node";`]),
    "",
    isDigits ? "const { x, y } = await loadDigits();" : readingLine(data, choices),
    ...(splits ? [`const split = trainTestSplit(x, y, ${split});`] : []),
    `const images = { form: "matrix" as const, ${rows}, imageSize: { width: ${width}, height: ${height} } };`,
    `const { model } = await train(images, { ${options.join(", ")} });`,
    "const bytes = saveModel(model);",
  ].join("\n");
}

function readingLine(
  { name, form, classes, reading }: DataSummary,
  { labelColumn, textColumn, ignoreColumns, encoding }: ReadChoices,
): string {
  const options = [
    ...(labelColumn === undefined ? [] : [`labelColumn: ${labelColumn === null ? "null" : columnText(labelColumn)}`]),
    ...(textColumn ? [`textColumn: ${columnText(textColumn)}`] : []),
    ...(ignoreColumns ? [`ignoreColumns: [${ignoreColumns.map(columnText).join(", ")}]`] : []),
    ...(encoding ? [`encoding: "${encoding}"`] : []),
    ...(reading?.format ? [`format: "${reading.format}"`] : []),
    ...(reading?.labels ? [`labels: await fileSource(${JSON.stringify(reading.labels)})`] : []),
  ];
  const given = options.length > 0 ? `, { ${options.join(", ")} }` : "";
  const [rows, type] = form === "text" ? ["text", "TextData"] : ["x", "MatrixData"];
  const fields = classes.length > 0 ? `${rows}, y = []` : rows;
  return `const { ${fields} } = (await loadData(${JSON.stringify(name)}${given})) as ${type};`;
}

/** The command that trains the recipe on all rows. */
export function commandLine(data: DataSummary, recipe: Recipe, choices: ReadChoices): string {
  const flags = Object.entries(recipe.params).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return WITH_FLAG.includes(name) ? `--${name} ${text}` : `--set ${quoted(`${name}=${text}`)}`;
  });
  return [
    `ranksim train ${quoted(data.name)}`,
    ...(data.reading?.labels ? [`--labels ${quoted(data.reading.labels)}`] : []),
    ...(data.reading?.format ? [`--format ${data.reading.format}`] : []),
    ...(choices.encoding ? [`--set encoding=${choices.encoding}`] : []),
    ...(choices.labelColumn ? [`--label ${quoted(choices.labelColumn)}`] : []),
    ...(choices.textColumn ? [`--columns ${quoted(`${choices.textColumn}:text`)}`] : []),
    ...(choices.ignoreColumns
      ? [`--columns ${quoted(choices.ignoreColumns.map((name) => `${name}:ignore`).join(","))}`]
      : []),
    ...(data.form === "text" ? ["--text"] : []),
    recipe.estimator === "patches" ? `--preset ${PATCH_PRESET}` : `--estimator ${recipe.estimator}`,
    ...flags,
    `--model ${quoted(modelFileName(data.name))}`,
  ].join(" ");
}

/** What the model is called when it is saved. */
export function modelFileName(dataName: string): string {
  const stem = dataName.replace(/(\.[a-z0-9]+)?(\.gz)?$/i, "").replace(/[^\w.-]+/g, "-");
  return `${stem || "model"}.model`;
}

function paramsText({ params }: Recipe): string {
  const entries = Object.entries(params).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return entries.length === 0 ? "" : `{ ${entries.join(", ")} }`;
}

const columnText = (column: string): string => (/^-?\d+$/.test(column) ? column : JSON.stringify(column));

/** Parameters that have a flag of their own. */
const WITH_FLAG: readonly string[] = ["filters", "seed"];

/** Safe for a POSIX shell. */
const quoted = (text: string): string => (/^[\w./:=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
