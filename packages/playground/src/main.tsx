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
