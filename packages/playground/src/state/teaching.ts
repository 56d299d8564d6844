/** Classes of one's own: examples that were drawn, filmed or dropped, kept by this browser, and trained on at each new one. */

import { signal } from "@preact/signals";
import type { ImageSize, Lesson } from "../protocol.ts";

/** Pictures of a lesson: drawings count ink on a fine grid, photos are grey. */
export const DRAWN = { imageSize: { width: 16, height: 16 }, inkBlocks: 2 } as const;
export const SEEN = { imageSize: { width: 24, height: 24 } } as const;

export interface TaughtClass {
  readonly name: string;
  readonly examples: readonly Uint8Array[];
}

/** What has been taught so far. */
export interface Taught {
  /** Drawings and photos do not mix: the first example decides. */
  readonly kind: "drawn" | "seen";
  readonly classes: readonly TaughtClass[];
}

const NOTHING_TAUGHT: Taught = {
  kind: "drawn",
  classes: [
    { name: "first", examples: [] },
    { name: "second", examples: [] },
  ],
};

/** Examples of a class, at most: more say little and take time at every step. */
const MOST_EXAMPLES = 200;

export class Teaching {
  /** Absent while one looks at something else. */
  readonly taught = signal<Taught | undefined>(undefined);
  /** Milliseconds of the newest step. */
  readonly step = signal<number | undefined>(undefined);
  readonly #retrain: () => Promise<void>;

  /** `retrain` is called at each change. */
  constructor(retrain: () => Promise<void>) {
    this.#retrain = retrain;
  }

  async open(): Promise<void> {
    this.taught.value = (await storedTaught()) ?? NOTHING_TAUGHT;
    await this.#retrain();
  }

  close(): void {
    this.taught.value = undefined;
  }

  /** What is sent to the worker; classes of no example are none. */
  lesson(): Lesson {
    const { kind, classes } = this.taught.peek() ?? NOTHING_TAUGHT;
    return { classes: classes.filter(({ examples }) => examples.length > 0), ...(kind === "drawn" ? DRAWN : SEEN) };
  }

  get size(): ImageSize {
    return this.lesson().imageSize;
  }

  /** Takes pictures in as examples of a class; the first ones decide whether this is about drawings or photos. */
  async add(at: number, kind: Taught["kind"], pictures: readonly Uint8Array[]): Promise<void> {
    const taught = this.taught.peek();
    if (!taught || pictures.length === 0) return;
    this.#refuseMixing(taught, kind);
    await this.#set({
      kind,
      classes: changed(taught.classes, at, (one) => [...one, ...pictures].slice(-MOST_EXAMPLES)),
    });
  }

  /** Makes ready for pictures of a kind; refused while there are examples of the other. */
  async prepare(kind: Taught["kind"]): Promise<void> {
    const taught = this.taught.peek();
    if (!taught || taught.kind === kind) return;
    this.#refuseMixing(taught, kind);
    await this.#set({ ...taught, kind });
  }

  #refuseMixing({ kind, classes }: Taught, wanted: Taught["kind"]): void {
    if (kind === wanted || classes.every(({ examples }) => examples.length === 0)) return;
    throw new Error(`These classes have ${NAMES[kind]}: start over to teach ${NAMES[wanted]}.`);
  }

  /** Folders as classes: those of a known name grow. */
  async addFolders(folders: ReadonlyMap<string, readonly Uint8Array[]>): Promise<void> {
    const before = this.taught.peek()?.classes.filter(({ examples }) => examples.length > 0) ?? [];
    const kept = this.taught.peek()?.kind === "seen" ? before : [];
    const names = new Set([...kept.map(({ name }) => name), ...folders.keys()]);
    const classes = Array.from(names, (name) => ({
      name,
      examples: [...(kept.find((one) => one.name === name)?.examples ?? []), ...(folders.get(name) ?? [])],
    }));
    await this.#set({ kind: "seen", classes });
  }

  /** Takes the newest example of a class back. */
  async removeLast(at: number): Promise<void> {
    const taught = this.taught.peek();
    if (taught) await this.#set({ ...taught, classes: changed(taught.classes, at, (one) => one.slice(0, -1)) });
  }

  async rename(at: number, name: string): Promise<void> {
    const taught = this.taught.peek();
    const wanted = name.trim();
    if (!taught || wanted === "") return;
    if (taught.classes.some((one, c) => c !== at && one.name === wanted))
      throw new Error(`There is a class “${wanted}” already.`);
    const classes = taught.classes.map((one, c) => (c === at ? { ...one, name: wanted } : one));
    await this.#set({ ...taught, classes });
  }

  async addClass(): Promise<void> {
    const taught = this.taught.peek();
    if (!taught) return;
    const names = new Set(taught.classes.map(({ name }) => name));
    let number = taught.classes.length + 1;
    while (names.has(`class ${number}`)) number++;
    await this.#set({ ...taught, classes: [...taught.classes, { name: `class ${number}`, examples: [] }] });
  }

  async startOver(): Promise<void> {
    await this.#set(NOTHING_TAUGHT);
  }

  async #set(taught: Taught): Promise<void> {
    this.taught.value = taught;
    void storeTaught(taught);
    await this.#retrain();
  }
}

const NAMES = { drawn: "drawings", seen: "photos" } as const;

const changed = (
  classes: readonly TaughtClass[],
  at: number,
  change: (examples: readonly Uint8Array[]) => readonly Uint8Array[],
): readonly TaughtClass[] => classes.map((one, c) => (c === at ? { ...one, examples: change(one.examples) } : one));

/** The browser's own store; without it a lesson lasts until the page is closed. */
function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const asked = indexedDB.open("ranksim", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("kept");
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });
}

async function storeTaught(taught: Taught): Promise<void> {
  try {
    (await open()).transaction("kept", "readwrite").objectStore("kept").put(taught, "taught");
  } catch {
    // Keeping is a convenience.
  }
}

async function storedTaught(): Promise<Taught | undefined> {
  try {
    const asked = (await open()).transaction("kept").objectStore("kept").get("taught");
    return await new Promise((resolve, reject) => {
      asked.onsuccess = () => resolve(asked.result as Taught | undefined);
      asked.onerror = () => reject(asked.error);
    });
  } catch {
    return undefined;
  }
}
