/** What a training is about: anything that decides its result, by name. Trainings are the same where all facts are. */
export interface TrainingFacts {
  readonly [name: string]: string;
}

/** The facts that differ between two trainings, each in the words of `say`; undefined where none does. */
export function differingFacts(
  a: TrainingFacts,
  b: TrainingFacts,
  say: (inA: string, inB: string) => string,
): string | undefined {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  const others = names.filter((name) => a[name] !== b[name]);
  if (others.length === 0) return undefined;
  return others.map((name) => `${name} ${say(shown(a[name]), shown(b[name]))}`).join("; ");
}

const shown = (fact: string | undefined): string =>
  fact === undefined ? "nothing" : fact.length > 60 ? `${fact.slice(0, 60)}…` : fact;
