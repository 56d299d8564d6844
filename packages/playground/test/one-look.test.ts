/** The page and the reports of the command have the same colours. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { DARK, LIGHT, type Palette } from "../../cli/src/report/theme.ts";

/** Variables of the page, by what the report calls the same colour. */
const SAME: { readonly [name in keyof Palette]: string } = {
  paper: "background",
  surface: "surface",
  ink: "text",
  soft: "muted",
  line: "border",
  accent: "accent",
  onAccent: "on-accent",
  warm: "for-text",
  onWarm: "on-for",
  green: "accent",
};

it("have the same colours, light and dark", () => {
  const css = readFileSync(join(import.meta.dirname, "../src/styles/theme.css"), "utf8");
  for (const [name, variable] of Object.entries(SAME)) {
    const [, light, dark] = new RegExp(`--${variable}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(css) ?? [];
    expect({ name, light, dark }).toEqual({
      name,
      light: LIGHT[name as keyof Palette],
      dark: DARK[name as keyof Palette],
    });
  }
});
