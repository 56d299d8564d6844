/** Banks that are refined independently of each other: shared out among processes, and kept as soon as they are done. */

import type { Backend, Made } from "../../backends/contract.ts";

/** Where what refinement has done so far is kept, and found again. */
export interface RefinementKeeper {
  recall(name: string): Promise<Made | undefined>;
  isDue(): Promise<boolean>;
  keep(name: string, made: Made): Promise<void>;
}

/**
 * What `make` makes of each name, in order: found where it was kept, else made by one of the processes. As many are made at a time as
 * there are processes, so that what is done is kept before the next ones begin.
 */
export async function madeApart(
  names: readonly string[],
  backend: Backend,
  keeper: RefinementKeeper | undefined,
  make: (place: number, own?: Backend) => Promise<Made>,
): Promise<Made[]> {
  const all: Made[] = [];
  const { processes = 1 } = backend;
  for (let from = 0; from < names.length; from += processes) {
    const places = names.slice(from, from + processes).map((_, j) => from + j);
    const known: (Made | undefined)[] = [];
    for (const place of places) known.push(await keeper?.recall(names[place]));
    const open = places.filter((_, j) => known[j] === undefined);
    const made = await madeNow(open, backend, make);
    for (const [j, place] of open.entries()) if (await keeper?.isDue()) await keeper?.keep(names[place], made[j]);
    all.push(...places.map((place, j) => known[j] ?? made[open.indexOf(place)]));
  }
  return all;
}

async function madeNow(
  places: readonly number[],
  backend: Backend,
  make: (place: number, own?: Backend) => Promise<Made>,
): Promise<Made[]> {
  if (places.length > 0 && backend.shareOut) return backend.shareOut(places.length, (j, own) => make(places[j], own));
  const made: Made[] = [];
  for (const place of places) made.push(await make(place));
  return made;
}
