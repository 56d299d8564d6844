/** Budgets that keep the code readable: length of files, a header in each, no marks left behind. */

import ts from "typescript";
import { describe, expect, it } from "vitest";
import { sources } from "./sources.ts";

/** About 300 is the aim; beyond 400 a file is more than one thing. */
const LONGEST_FILE = 400;

/** Files longer than that, each with its reason. */
const longer: Record<string, string> = {
  "packages/core/src/models/params.ts": "the parameters of all estimators are one table, beside their one check",
};

const isData = (path: string) => path.endsWith("-bytes.ts");

describe("source files", () => {
  const all = sources().filter(({ path }) => !isData(path));

  it(`have at most ${LONGEST_FILE} lines`, () => {
    const long = all
      .map(({ path, text }) => ({ path, lines: text.trimEnd().split("\n").length }))
      .filter(({ path, lines }) => lines > LONGEST_FILE && !(path in longer))
      .map(({ path, lines }) => `${path}: ${lines} lines`);
    expect(long).toEqual([]);
  });

  it("begin with a comment that says what they are", () => {
    expect(all.filter(({ text }) => !/^(#!.*\n+)?\/\*\*/.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it("are named by what they know", () => {
    const vague = /(^|\/)(utils?|helpers?|common|misc|manager|base)(\.tsx?$|\/)/;
    expect(all.filter(({ path }) => vague.test(path) || /[A-Z]/.test(path)).map(({ path }) => path)).toEqual([]);
  });

  it("hold no marks of unfinished work and no escapes from the type checker", () => {
    const mark = /\b(TODO|FIXME|XXX|HACK)\b|@ts-(ignore|nocheck|expect-error)|\bas any\b/;
    expect(all.filter(({ text }) => mark.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it("take powers of 2 only: engines differ in the last bit of others", () => {
    const powers = all
      .filter((source) => source.package !== "lab" && source.package !== "playground") // drawings
      .flatMap(({ path, text }) => powersIn(path, text).map((power) => `${path}: ${power}`));
    expect(powers).toEqual([]);
    expect(powersIn("a.ts", "const a = 2 ** n + 3 ** n + Math.pow(2, x); b **= 2;")).toEqual([
      "3 ** n",
      "Math.pow(2, x)",
      "b **= 2",
    ]);
  });

  it("print nothing in core", () => {
    const prints = all.filter((source) => source.package === "core" && /\bconsole\.|\bprocess\.std/.test(source.text));
    expect(prints.map(({ path }) => path)).toEqual([]);
  });
});

/** Powers of anything but 2, and calls of Math.pow, as the compiler sees them. */
function powersIn(path: string, text: string): string[] {
  const found: string[] = [];
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    const isPower =
      ts.isBinaryExpression(node) &&
      (node.operatorToken.kind === ts.SyntaxKind.AsteriskAsteriskEqualsToken ||
        (node.operatorToken.kind === ts.SyntaxKind.AsteriskAsteriskToken && node.left.getText() !== "2"));
    const isCall = ts.isCallExpression(node) && node.expression.getText() === "Math.pow";
    if (isPower || isCall) found.push(node.getText());
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
