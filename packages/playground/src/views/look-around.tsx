/** The rest of the model, one view at a time: its filters, patches and spikes, its mistakes, its features. */

import type { FunctionComponent } from "preact";
import { useRef } from "preact/hooks";
import { TABS, type Tab } from "../state/address.ts";
import { useController, usePage } from "./context.ts";
import { FeatureView } from "./feature-view.tsx";
import { Gallery } from "./gallery.tsx";
import { lazily } from "./lazy.tsx";
import { Mistakes } from "./mistakes.tsx";

const TITLES: { readonly [tab in Tab]: string } = {
  filters: "Filters",
  patches: "Patches",
  spikes: "Spikes",
  mistakes: "Mistakes",
  features: "Features",
};

const VIEWS: { readonly [tab in Tab]: FunctionComponent } = {
  filters: Gallery,
  patches: lazily(async () => (await import("./patches-view.tsx")).PatchesView),
  spikes: lazily(async () => (await import("./spikes-view.tsx")).SpikesView),
  mistakes: Mistakes,
  features: FeatureView,
};

export function LookAround() {
  const controller = useController();
  const tab = usePage().view.value.tab;
  const list = useRef<HTMLDivElement>(null);
  const View = VIEWS[tab];
  const turn = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const next = (TABS.indexOf(tab) + by + TABS.length) % TABS.length;
    controller.openTab(TABS[next]);
    (list.current?.children[next] as HTMLElement | undefined)?.focus();
  };
  return (
    <section class="card look-around" aria-labelledby="look-title">
      <h2 id="look-title">Look around</h2>
      <div ref={list} class="tabs" role="tablist" aria-label="Views of the model" onKeyDown={turn}>
        {TABS.map((name) => (
          <button
            type="button"
            key={name}
            id={`tab-${name}`}
            role="tab"
            aria-selected={name === tab}
            aria-controls="tab-panel"
            tabIndex={name === tab ? 0 : -1}
            onClick={() => controller.openTab(name)}
          >
            {TITLES[name]}
          </button>
        ))}
      </div>
      <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        <View />
      </div>
    </section>
  );
}
