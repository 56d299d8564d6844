/** The name of the page and the choice of theme. */

import { useState } from "preact/hooks";

type Theme = "auto" | "light" | "dark";

export function Header() {
  return (
    <header class="top">
      <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
        <rect x="3" y="13" width="4.5" height="8" rx="1.2" opacity="0.45" />
        <rect x="9.75" y="8" width="4.5" height="13" rx="1.2" opacity="0.7" />
        <rect x="16.5" y="3" width="4.5" height="18" rx="1.2" />
      </svg>
      <h1>
        ranksim <span>playground</span>
      </h1>
      <p>See a rank filter think: train in this page, draw, and see why it answers as it does.</p>
      <ThemeChoice />
    </header>
  );
}

function ThemeChoice() {
  const [theme, setTheme] = useState<Theme>((document.documentElement.dataset.theme as Theme | undefined) ?? "auto");
  const choose = (chosen: Theme) => {
    setTheme(chosen);
    if (chosen === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
    try {
      localStorage.setItem("theme", chosen);
    } catch {
      // Without storage the choice holds until the page is closed.
    }
  };
  return (
    <select
      class="theme"
      aria-label="Theme"
      value={theme}
      onChange={(event) => choose(event.currentTarget.value as Theme)}
    >
      <option value="auto">Auto</option>
      <option value="light">Light</option>
      <option value="dark">Dark</option>
    </select>
  );
}
