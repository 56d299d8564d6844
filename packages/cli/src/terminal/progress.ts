/**
 * Progress of long work on standard error: one line that is redrawn on a terminal, a plain line for every tenth in a pipe
 * once it takes more than a second, nothing when quiet. While it draws it lets the process breathe, so that an interrupt is noticed between two steps.
 */

import type { Progress } from "@ranksim/core";
import type { Output } from "../io.ts";
import { count, seconds } from "./numbers.ts";
import { cut, displayWidth, printable, type Style } from "./style.ts";

/** Tells how far a piece of work is. */
export interface Meter {
  /** To be passed as `onProgress`. */
  readonly onProgress: (progress: Progress) => Promise<void>;
  /** The share that is done and a word about it, for work that is not an estimator's. */
  readonly show: (share: number, detail?: string) => Promise<void>;
  /** Removes the bar, or ends with a last line in a pipe. */
  readonly end: () => Promise<void>;
}

/** Milliseconds between two drawings, and between two pauses. */
const INTERVAL = 80;
const BAR_WIDTH = 24;
/** Milliseconds before the first plain line: short work needs no words. */
const SILENT = 1000;

/** A meter for work called `title`. */
export function startMeter(title: string, output: Output, style: Style, quiet: boolean): Meter {
  const began = performance.now();
  const draw = quiet ? undefined : output.isTerminal ? bar(title, output, style, began) : lines(title, output, began);
  let last = Number.NEGATIVE_INFINITY;
  const show = async (share: number, detail = "") => {
    const now = performance.now();
    if (now - last < INTERVAL && share < 1) return;
    last = now;
    await draw?.at(share, detail);
    // Signals and timers are only noticed when the work pauses.
    await new Promise((resume) => setImmediate(resume));
  };
  return {
    show,
    onProgress: (progress) => show(progress.share, detailOf(progress)),
    end: async () => {
      await draw?.end();
    },
  };
}

interface Drawing {
  at(share: number, detail: string): Promise<void>;
  end(): Promise<void>;
}

function bar(title: string, output: Output, style: Style, began: number): Drawing {
  let drawn = false;
  return {
    async at(share, detail) {
      const filled = Math.round(Math.min(1, share) * BAR_WIDTH);
      const head = `${title} `;
      const tail = ` ${percentOf(share)}  ${timeSince(began)}`;
      const room = output.columns - displayWidth(head) - BAR_WIDTH - displayWidth(tail) - 3;
      const about = room > 4 && detail !== "" ? `  ${cut(detail, room)}` : "";
      const track = style.accent("━".repeat(filled)) + style.faint("─".repeat(BAR_WIDTH - filled));
      await output.write(`\r${head}${track}${tail}${style.faint(about)}\u001b[K`);
      drawn = true;
    },
    async end() {
      if (drawn) await output.write("\r\u001b[K");
    },
  };
}

function lines(title: string, output: Output, began: number): Drawing {
  let tenth = 0;
  return {
    async at(share, detail) {
      const reached = Math.floor(Math.min(1, share) * 10);
      if (reached <= tenth || performance.now() - began < SILENT) return;
      tenth = reached;
      await output.write(`${title}:${percentOf(share)}, ${timeSince(began)}${detail === "" ? "" : `, ${detail}`}\n`);
    },
    async end() {},
  };
}

const percentOf = (share: number): string => `${Math.floor(Math.min(1, share) * 100)} %`.padStart(6);

const timeSince = (began: number): string => seconds((performance.now() - began) / 1000);

function detailOf({ stage, label, iteration, epoch, moved, trial }: Progress): string {
  if (trial) return `round ${trial.round} of ${trial.rounds} · candidate ${trial.candidate} of ${trial.candidates}`;
  const parts: string[] = [];
  if (label !== undefined) parts.push(`class ${printable(String(label))}`);
  if (iteration !== undefined) parts.push(`iteration ${iteration}`);
  if (epoch !== undefined) parts.push(`refining, epoch ${epoch}`);
  if (moved !== undefined && iteration !== undefined && iteration > 1) parts.push(`${count(moved)} rows moved`);
  if (parts.length === 0 && stage === "distribution") parts.push("measuring the distribution");
  if (parts.length === 0 && stage === "initialize") parts.push("choosing the first filters");
  return parts.join(" · ");
}
