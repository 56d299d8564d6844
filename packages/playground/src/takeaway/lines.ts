/** The lines that make the same model elsewhere: in TypeScript and on the command line. The seed does the rest. */

import type { DataSummary, ReadChoices, Recipe } from "../protocol.ts";

const CLASSES = {
  classifier: "RankSimilarityClassifier",
  probabilistic: "RankSimilarityProbabilisticClassifier",
  transform: "RankSimilarityTransform",
} as const;

/** TypeScript that ends with the model's bytes in `bytes`. */
export function typescriptLines(data: DataSummary, recipe: Recipe, choices: ReadChoices): string {
  const estimator = CLASSES[recipe.estimator];
  const isDigits = data.name === "digits";
  const splits = recipe.heldOut > 0 && data.classes.length > 0;
  const isText = data.form === "text";
  const labelled = data.classes.length > 0;
  const names = [
    isDigits ? "loadDigits" : "readData",
    ...(isText ? ["Pipeline", "CountVectorizer"] : []),
    estimator,
    "saveModel",
    ...(splits ? ["trainTestSplit"] : []),
  ].sort();
  const split = `{ testShare: ${recipe.heldOut}, seed: ${Number(recipe.params.seed ?? 0)}${data.multilabel ? "" : ", stratify: true"} }`;
  const rows = isText ? "text" : "x";
  const [x, y] = splits ? ["xTrain", "yTrain"] : [rows, labelled ? "y" : ""];
  const options = Object.entries(choices).map(([name, value]) => `${name}: ${columnText(value)}`);
  const source = `fileSource(${JSON.stringify(data.name)})${options.length > 0 ? `, { ${options.join(", ")} }` : ""}`;
  const made = `new ${estimator}(${paramsText(recipe)})`;
  return [
    `import { ${names.join(", ")} } from "ranksim";`,
    ...(isDigits ? [] : ['import { fileSource } from "ranksim/node";']),
    "",
    isDigits
      ? "const { x, y } = await loadDigits();"
      : `const { ${rows}${labelled ? ", y" : ""} } = await readData(${source});`,
    ...(splits ? [`const { xTrain, yTrain, xTest, yTest } = trainTestSplit(${rows}, y, ${split});`] : []),
    `const estimator = ${isText ? `new Pipeline([new CountVectorizer(), ${made}])` : made};`,
    `const model = await estimator.fit(${[x, y].filter(Boolean).join(", ")});`,
    ...(splits && recipe.estimator !== "transform" ? ["const accuracy = await model.score(xTest, yTest);"] : []),
    "const bytes = saveModel(model);",
  ].join("\n");
}

/** The command that trains the recipe on all rows. */
export function commandLine(data: DataSummary, recipe: Recipe, choices: ReadChoices): string {
  const flags = Object.entries(recipe.params).map(([name, value]) => {
    const flag = `--${kebab(name)}`;
    if (value === true) return flag;
    return `${flag} ${typeof value === "string" ? kebab(value) : quoted(JSON.stringify(value))}`;
  });
  return [
    `ranksim train ${quoted(data.name)}`,
    ...(choices.labelColumn ? [`--label-column ${quoted(choices.labelColumn)}`] : []),
    ...(choices.textColumn ? [`--text-column ${quoted(choices.textColumn)}`] : []),
    ...(data.form === "text" ? ["--text"] : []),
    ...(recipe.estimator === "classifier" ? [] : [`--estimator ${recipe.estimator}`]),
    ...flags,
    `--model ${quoted(modelFileName(data.name))}`,
  ].join(" ");
}

/** What the model is called when it is saved. */
export function modelFileName(dataName: string): string {
  const stem = dataName.replace(/\.[a-z0-9]+(\.gz)?$/i, "").replace(/[^\w.-]+/g, "-");
  return `${stem || "model"}.model`;
}

function paramsText({ params }: Recipe): string {
  const entries = Object.entries(params).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return entries.length === 0 ? "" : `{ ${entries.join(", ")} }`;
}

const columnText = (column: string): string => (/^-?\d+$/.test(column) ? column : JSON.stringify(column));

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Safe for a POSIX shell. */
const quoted = (text: string): string => (/^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
