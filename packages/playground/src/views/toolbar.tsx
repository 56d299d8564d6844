/** Buttons that are one stop for the Tab key: arrows go from one to the next, as in every toolbar. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export function Toolbar({ label, children }: { label: string; children: ComponentChildren }) {
  const bar = useRef<HTMLDivElement>(null);
  const stop = useRef<HTMLElement>();
  const usable = () => [...(bar.current?.querySelectorAll<HTMLElement>("button, select") ?? [])].filter(isEnabled);
  const settle = () => {
    const tools = usable();
    if (!stop.current || !tools.includes(stop.current)) [stop.current] = tools;
    for (const tool of tools) tool.tabIndex = tool === stop.current ? 0 : -1;
  };
  // After each render, as a tool that can no longer be used is no stop.
  useLayoutEffect(settle);
  const turn = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const tools = usable();
    const at = tools.indexOf(event.target as HTMLElement);
    if (by === 0 || at < 0) return;
    event.preventDefault();
    tools[(at + by + tools.length) % tools.length].focus();
  };
  const arrive = ({ target }: FocusEvent) => {
    stop.current = target as HTMLElement;
    settle();
  };
  return (
    <div ref={bar} class="tools" role="toolbar" aria-label={label} onKeyDown={turn} onFocusIn={arrive}>
      {children}
    </div>
  );
}

const isEnabled = (tool: HTMLElement): boolean => !tool.matches(":disabled");
