/** Starts the page. */

import { render } from "preact";
import { Controller } from "./state/controller.ts";
import { ControllerProvider } from "./views/context.ts";
import { Page } from "./views/page.tsx";

const controller = new Controller(location.hash);
addEventListener("hashchange", () => void controller.addressChanged(location.hash));

render(
  <ControllerProvider value={controller}>
    <Page />
  </ControllerProvider>,
  document.getElementById("app") as HTMLElement,
);

void controller.start();

// After the first answer, so that nothing competes with it. A page that is not allowed to keep itself works all the same.
if (import.meta.env.MODE === "production" && "serviceWorker" in navigator) {
  const keep = () => navigator.serviceWorker.register("./service-worker.js").catch(() => undefined);
  addEventListener("load", () => setTimeout(keep, 3000));
}
