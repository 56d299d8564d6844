/**
 * All matches of a pattern in a bounded number of steps. A pattern comes from a user or from a model's file, and the engine's own matcher
 * can take exponential time: (a+)+$. Patterns of a form that cannot are left to it; others are matched by Pike's machine, which
 * follows all ways through the pattern at a time, character by character, in the order in which the engine would try them.
 */

import { type Part, partsOf } from "./pattern-tree.ts";

type Test = (character: string) => boolean;

type Step =
  | { readonly kind: "character"; readonly test: Test; next: number }
  | { readonly kind: "look"; readonly test: Test; readonly behind: boolean; readonly negative: boolean; next: number }
  | { readonly kind: "begin" | "end" | "jump"; next: number }
  | { readonly kind: "split"; next: number; other: number }
  | { readonly kind: "mark"; readonly place: 1 | 2; next: number }
  | { readonly kind: "match" };

/** Steps of a pattern, counts written out. */
const MOST_STEPS = 2000;
/** Work that all texts together may take: a common allowance, and some for each character. */
const ALLOWANCE = 1e7;
const PER_CHARACTER = 100;

/** Finds all matches in a text: of the pattern, or of its group if it has one. */
export type Matcher = (text: string) => readonly string[];

/** The matcher of a pattern. `wordEdge` is the source of \b, `word` that of \w. Throws plain errors for what cannot be bounded. */
export function boundedMatcher(pattern: RegExp, groups: number, word: string, wordEdge: string): Matcher {
  const tree = partsOf(pattern.source);
  if (groups === 0 && isQuick(tree, word, wordEdge)) return (text) => text.match(pattern) ?? [];
  const steps = compile(tree);
  const budget = { left: ALLOWANCE };
  return (text) => matchesOf(steps, Array.from(text), groups, budget);
}

/**
 * Whether the engine's own matcher takes time in proportion to the text: single characters one after the other, of which only the last may
 * repeat without end, so that no way that was begun is given up after more than a few characters. A word may end in \b: it always does.
 */
function isQuick(tree: Part, word: string, wordEdge: string): boolean {
  if (tree.kind !== "sequence") return false;
  const parts = tree.parts.filter((part) => !(part.kind === "group" && part.source === wordEdge));
  const ends = tree.parts.at(-1);
  const endsInEdge = ends?.kind === "group" && ends.source === wordEdge;
  return parts.every((part, p) => {
    if (part.kind === "character") return true;
    if (part.kind !== "repeat" || part.part.kind !== "character" || !part.greedy || p < parts.length - 1) return false;
    return part.least <= 1 && part.most === Number.POSITIVE_INFINITY && (!endsInEdge || part.part.source === word);
  });
}

function compile(tree: Part): Step[] {
  const steps: Step[] = [];
  const tests = new Map<string, Test>();
  const add = (step: Step): number => {
    if (steps.length === MOST_STEPS) throw new Error(`expected at most ${MOST_STEPS} steps, counts written out`);
    return steps.push(step) - 1;
  };
  /** Adds a part that goes on at the step after it. */
  const put = (part: Part): void => {
    switch (part.kind) {
      case "character":
        add({ kind: "character", test: testOf(part.source, tests), next: steps.length + 1 });
        return;
      case "look":
        add({ ...part, test: testOf(part.source, tests), next: steps.length + 1 });
        return;
      case "begin":
      case "end":
        add({ kind: part.kind, next: steps.length + 1 });
        return;
      case "sequence":
        for (const one of part.parts) put(one);
        return;
      case "group":
        if (part.captures) add({ kind: "mark", place: 1, next: steps.length + 1 });
        put(part.part);
        if (part.captures) add({ kind: "mark", place: 2, next: steps.length + 1 });
        return;
      case "choice": {
        const ends: number[] = [];
        part.parts.forEach((option, o) => {
          const split = o < part.parts.length - 1 ? add({ kind: "split", next: steps.length + 1, other: 0 }) : -1;
          put(option);
          if (split < 0) return;
          ends.push(add({ kind: "jump", next: 0 }));
          (steps[split] as { other: number }).other = steps.length;
        });
        for (const end of ends) (steps[end] as { next: number }).next = steps.length;
        return;
      }
      case "repeat":
        repeat(part);
    }
  };
  const repeat = ({ part, least, most, greedy }: Part & { kind: "repeat" }): void => {
    for (let time = 0; time < least; time++) put(part);
    const splits: number[] = [];
    const begin = () => splits.push(add({ kind: "split", next: 0, other: 0 })) - 1;
    const close = () => {
      for (const split of splits) {
        const [inside, outside] = [split + 1, steps.length];
        Object.assign(steps[split], greedy ? { next: inside, other: outside } : { next: outside, other: inside });
      }
    };
    if (most === Number.POSITIVE_INFINITY) {
      const at = steps.length;
      begin();
      put(part);
      add({ kind: "jump", next: at });
    } else {
      for (let time = least; time < most; time++) {
        begin();
        put(part);
      }
    }
    close();
  };
  put(tree);
  add({ kind: "match" });
  return steps;
}

/** Whether a character is one of those meant, remembered for those seen before. */
function testOf(source: string, known: Map<string, Test>): Test {
  const made = known.get(source);
  if (made) return made;
  const pattern = new RegExp(`^(?:${source})$`, "u");
  const seen = new Map<string, boolean>();
  const test = (character: string): boolean => {
    const before = seen.get(character);
    if (before !== undefined) return before;
    const is = pattern.test(character);
    if (seen.size < 10_000) seen.set(character, is);
    return is;
  };
  known.set(source, test);
  return test;
}

/** Ways through the pattern, first things first: for each its step, where its match began, and the group it has seen. */
class Ways {
  count = 0;
  readonly numbers: Int32Array;

  constructor(steps: number) {
    this.numbers = new Int32Array(4 * (2 * steps + 2));
  }

  push(step: number, from: number, groupFrom: number, groupTo: number): void {
    const at = 4 * this.count++;
    this.numbers[at] = step;
    this.numbers[at + 1] = from;
    this.numbers[at + 2] = groupFrom;
    this.numbers[at + 3] = groupTo;
  }
}

/** Where a match and its group begin and end. */
interface Match {
  readonly from: number;
  readonly to: number;
  readonly groupFrom: number;
  readonly groupTo: number;
}

/** One text and the machine at work on it. */
class Machine {
  readonly #steps: readonly Step[];
  readonly #text: readonly string[];
  readonly #budget: { left: number };
  #ways: Ways;
  #after: Ways;
  readonly #open: Ways;
  /** The place at which each step was reached last: a second way there could only find what the first does. */
  readonly #reached: Int32Array;

  constructor(steps: readonly Step[], text: readonly string[], budget: { left: number }) {
    this.#steps = steps;
    this.#text = text;
    this.#budget = budget;
    this.#ways = new Ways(steps.length);
    this.#after = new Ways(steps.length);
    this.#open = new Ways(steps.length);
    this.#reached = new Int32Array(steps.length);
  }

  /** The first match from `start` on, of several there the one that the engine would find. */
  next(start: number): Match | undefined {
    const text = this.#text;
    let found: Match | undefined;
    this.#ways.count = 0;
    this.#reached.fill(-1);
    for (let at = start; at <= text.length; at++) {
      // Ways that begin here come after those that began earlier, and none begins once there is a match.
      if (!found) this.#follow(0, at, -1, -1, at, this.#ways);
      const { count, numbers } = this.#ways;
      this.#after.count = 0;
      for (let way = 0; way < 4 * count; way += 4) {
        const step = this.#steps[numbers[way]];
        if (step.kind === "match") {
          found = { from: numbers[way + 1], to: at, groupFrom: numbers[way + 2], groupTo: numbers[way + 3] };
          break;
        }
        if (step.kind === "character" && at < text.length && step.test(text[at])) {
          this.#follow(step.next, numbers[way + 1], numbers[way + 2], numbers[way + 3], at + 1, this.#after);
        }
      }
      if (this.#after.count === 0 && found) break;
      [this.#ways, this.#after] = [this.#after, this.#ways];
    }
    return found;
  }

  /** Adds a way at place `at`, followed to the steps that take a character. */
  #follow(first: number, from: number, groupFrom: number, groupTo: number, at: number, into: Ways): void {
    // A stack and not a call of itself, because a pattern may be long; first things last.
    const open = this.#open;
    const { numbers } = open;
    open.count = 0;
    open.push(first, from, groupFrom, groupTo);
    while (open.count > 0) {
      const top = 4 * --open.count;
      const number = numbers[top];
      const [begun, groupBegun, groupEnded] = [numbers[top + 1], numbers[top + 2], numbers[top + 3]];
      if (this.#reached[number] === at) continue;
      this.#reached[number] = at;
      if (--this.#budget.left < 0)
        throw new Error("takes too many steps on these texts; write one that gives up sooner");
      const step = this.#steps[number];
      switch (step.kind) {
        case "character":
        case "match":
          into.push(number, begun, groupBegun, groupEnded);
          break;
        case "split":
          open.push(step.other, begun, groupBegun, groupEnded);
          open.push(step.next, begun, groupBegun, groupEnded);
          break;
        case "mark":
          if (step.place === 1) open.push(step.next, begun, at, -1);
          else open.push(step.next, begun, groupBegun, at);
          break;
        default:
          if (this.#holds(step, at)) open.push(step.next, begun, groupBegun, groupEnded);
      }
    }
  }

  /** Whether what a step asks of its place is so. */
  #holds(step: Step, at: number): boolean {
    if (step.kind === "begin") return at === 0;
    if (step.kind === "end") return at === this.#text.length;
    if (step.kind !== "look") return true;
    const character = this.#text[step.behind ? at - 1 : at];
    return (character !== undefined && step.test(character)) !== step.negative;
  }
}

function matchesOf(
  steps: readonly Step[],
  text: readonly string[],
  groups: number,
  budget: { left: number },
): string[] {
  budget.left += PER_CHARACTER * text.length;
  const machine = new Machine(steps, text, budget);
  const found: string[] = [];
  for (let at = 0; at <= text.length; ) {
    const match = machine.next(at);
    if (match === undefined) break;
    const [from, to] = groups === 0 ? [match.from, match.to] : [match.groupFrom, match.groupTo];
    found.push(to < 0 ? "" : text.slice(from, to).join(""));
    at = match.to > match.from ? match.to : match.to + 1;
  }
  return found;
}
