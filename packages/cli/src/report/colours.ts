/**
 * The colours of every page, each said once by what it means: of reports, of the page of `serve` and of the playground. One
 * accent; orange and blue only for parts of a decision and for the light of filters. Contrast: text at least 4.5 : 1.
 */

export interface Colour {
  readonly light: string;
  readonly dark: string;
}

/** What all pages use. */
export const COLOURS = {
  background: { light: "#f5f6f7", dark: "#121518" },
  surface: { light: "#ffffff", dark: "#1a1e22" },
  text: { light: "#1b2026", dark: "#e6e9ec" },
  muted: { light: "#59616b", dark: "#a3acb5" },
  border: { light: "#dcdfe3", dark: "#30363d" },
  accent: { light: "#0c6670", dark: "#5fc3cc" },
  "on-accent": { light: "#ffffff", dark: "#0d1f22" },
  warm: { light: "#a84800", dark: "#f6a163" },
  "on-warm": { light: "#ffffff", dark: "#1a0f08" },
} as const satisfies Readonly<Record<string, Colour>>;

/** What the playground uses besides. */
export const PLAYGROUND_COLOURS = {
  sunken: { light: "#eef0f2", dark: "#23282d" },
  paper: { light: "#fbfbfa", dark: "#14171a" },
  "strong-border": { light: "#868e97", dark: "#78828c" },
  "accent-strong": { light: "#094f57", dark: "#8ad8df" },
  "accent-soft": { light: "#dcedee", dark: "#1d3a3e" },
  for: { light: "#d95f02", dark: "#f08a3c" },
  against: { light: "#2166c8", dark: "#5b9bf0" },
  "against-text": { light: "#1d58ad", dark: "#82b3f5" },
  glow: { light: "#ffab40", dark: "#b5651d" },
  error: { light: "#a3241b", dark: "#f19b93" },
  "error-soft": { light: "#fbe9e7", dark: "#3a2220" },
  "note-soft": { light: "#eef2f4", dark: "#23282d" },
} as const satisfies Readonly<Record<string, Colour>>;
