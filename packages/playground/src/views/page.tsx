/** The whole page: where things stand, files that are dropped anywhere, and the key that takes a stroke back. */

import { useEffect, useState } from "preact/hooks";
import { AnswerPanel } from "./answer-panel.tsx";
import { useController, usePage } from "./context.ts";
import { DataPanel } from "./data-panel.tsx";
import { filesOfDrop } from "./dropping.ts";
import { FilterDialog } from "./filter-dialog.tsx";
import { Footer, Header } from "./header.tsx";
import { HowItWorks } from "./how-it-works.tsx";
import { LookAround } from "./look-around.tsx";
import { RowPicker } from "./row-picker.tsx";
import { SamplePanel } from "./sample-panel.tsx";
import { TakeAway } from "./take-away.tsx";
import { TeachPanel } from "./teach-panel.tsx";
import { Toast } from "./toast.tsx";
import { TrainPanel } from "./train-panel.tsx";
import { WallPanel } from "./wall.tsx";

export function Page() {
  const { teaching } = useController();
  const isOver = useDrops();
  useUndoKey();
  return (
    <>
      <Header />
      <main data-photo={usePage().data.value?.isPhoto}>
        <div class={teaching.taught.value ? "stage teaching" : "stage"}>
          <SamplePanel />
          {teaching.taught.value && <TeachPanel />}
          <AnswerPanel />
          <WallPanel />
          {!teaching.taught.value && <RowPicker />}
        </div>
        <HowItWorks />
        <div class="workshop">
          <div class="column">
            <DataPanel />
            {!teaching.taught.value && <TrainPanel />}
            {!teaching.taught.value && <TakeAway />}
          </div>
          <LookAround />
        </div>
      </main>
      <Footer />
      <FilterDialog />
      <Toast />
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

/** Ctrl+Z (or ⌘Z) takes back a stroke, except in fields, which have an undo of their own. */
function useUndoKey(): void {
  const { sampling } = useController();
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
      if (event.target instanceof Element && event.target.matches("input:not([type=range]), textarea, select")) return;
      event.preventDefault();
      sampling.undo();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [sampling]);
}
