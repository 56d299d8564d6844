/** Runs cases against a target and keeps count: how many, how long the longest took, and what went wrong, each with its number. */

import { Draw } from "../differential/draw.ts";
import type { Target } from "./target.ts";

/** A case that takes longer than this counts as a hang. Processor time: the machine may have other work. */
const LONGEST_SECONDS = 2;

export interface Finding {
  readonly target: string;
  readonly seed: number;
  readonly case: number;
  readonly wrong: string;
}

export interface Tally {
  readonly target: string;
  cases: number;
  longestSeconds: number;
  readonly findings: Finding[];
}

export function newTally(target: string): Tally {
  return { target, cases: 0, longestSeconds: 0, findings: [] };
}

/** Cases `from` (included) to `to` (not included), or until `isOver` says so. */
export async function attack(
  target: Target,
  seed: number,
  from: number,
  to: number,
  tally: Tally,
  isOver: () => boolean = () => false,
  begin: (number: number) => void = () => {},
): Promise<void> {
  for (let number = from; number < to && !isOver(); number++) {
    begin(number);
    const began = process.cpuUsage();
    const wrong = await target.attempt(new Draw(seed, number));
    const { user, system } = process.cpuUsage(began);
    const seconds = (user + system) / 1e6;
    tally.cases++;
    tally.longestSeconds = Math.max(tally.longestSeconds, seconds);
    if (seconds > LONGEST_SECONDS) wrong.push(`took ${seconds.toFixed(1)} s`);
    for (const what of wrong) tally.findings.push({ target: target.name, seed, case: number, wrong: what });
  }
}
