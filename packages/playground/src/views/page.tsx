/** The whole page: where things stand, and files that are dropped anywhere. */

import { useEffect, useState } from "preact/hooks";
import { useController } from "./context.ts";
import { DataPanel } from "./data-panel.tsx";
import { filesOfDrop } from "./dropping.ts";
import { Header } from "./header.tsx";
import { LookAround } from "./look-around.tsx";
import { SamplePanel } from "./sample-panel.tsx";
import { TakeAway } from "./take-away.tsx";
import { TrainPanel } from "./train-panel.tsx";
import { WhyPanel } from "./why-panel.tsx";

export function Page() {
  const isOver = useDrops();
  return (
    <>
      <Header />
      <main>
        <div class="column make">
          <DataPanel />
          <TrainPanel />
          <TakeAway />
        </div>
        <div class="column explain">
          <SamplePanel />
          <WhyPanel />
        </div>
        <div class="column look">
          <LookAround />
        </div>
      </main>
      {isOver && (
        <div class="drop-over" aria-hidden="true">
          Drop data or a model
        </div>
      )}
    </>
  );
}

/** Takes files that are dropped anywhere on the page; tells whether some are being dragged over it. */
function useDrops(): boolean {
  const controller = useController();
  const [depth, setDepth] = useState(0);
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const enter = (event: DragEvent) => {
      if (hasFiles(event)) setDepth((now) => now + 1);
    };
    const leave = (event: DragEvent) => {
      if (hasFiles(event)) setDepth((now) => Math.max(0, now - 1));
    };
    const over = (event: DragEvent) => {
      if (hasFiles(event)) event.preventDefault();
    };
    const drop = (event: DragEvent) => {
      if (!event.dataTransfer || !hasFiles(event)) return;
      event.preventDefault();
      setDepth(0);
      void filesOfDrop(event.dataTransfer).then((files) => controller.openFiles(files));
    };
    const handlers = { dragenter: enter, dragleave: leave, dragover: over, drop } as const;
    for (const [name, handler] of Object.entries(handlers)) addEventListener(name as "drop", handler);
    return () => {
      for (const [name, handler] of Object.entries(handlers)) removeEventListener(name as "drop", handler);
    };
  }, [controller]);
  return depth > 0;
}
