/** The name of the page and the choice of theme. */

import { useEffect, useState } from "preact/hooks";
import { useController } from "./context.ts";

/** The project's home page, put here by the build; empty while the package names none. */
declare const RANKSIM_HOME: string;

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
      <p>Draw, and watch rank filters think.</p>
      <Acts />
      <ThemeChoice />
    </header>
  );
}

/** Where to read on. */
export function Footer() {
  return (
    <footer class="foot">
      <nav aria-label="About">
        {RANKSIM_HOME !== "" && <a href={RANKSIM_HOME}>Home page</a>}
        <a href="https://doi.org/10.48550/arXiv.2109.13610">The paper</a>
      </nav>
    </footer>
  );
}

/** The two acts: what the page has learned, and what it is taught here. */
function Acts() {
  const controller = useController();
  const taught = controller.teaching.taught.value;
  return (
    <div class="acts">
      <button type="button" aria-pressed={!taught} onClick={() => taught && controller.openDigits()}>
        Read digits
      </button>
      <button type="button" aria-pressed={taught !== undefined} onClick={() => taught || controller.openTaught()}>
        Teach it
      </button>
    </div>
  );
}

function ThemeChoice() {
  const [theme, setTheme] = useState<Theme>(storedTheme);
  useEffect(() => {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
      document.documentElement.dataset.theme = theme === "auto" ? (system.matches ? "dark" : "light") : theme;
    };
    apply();
    system.addEventListener("change", apply);
    return () => system.removeEventListener("change", apply);
  }, [theme]);
  const choose = (chosen: Theme) => {
    setTheme(chosen);
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

function storedTheme(): Theme {
  try {
    const theme = localStorage.getItem("theme");
    return theme === "light" || theme === "dark" ? theme : "auto";
  } catch {
    return "auto";
  }
}
