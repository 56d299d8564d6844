/** The parts of a regular expression, read from the source of one that JavaScript has accepted. */

/** A part of a pattern. `source` is its own text. */
export type Part =
  /** One character, by a class, an escape, a dot or itself. */
  | { readonly kind: "character"; readonly source: string }
  /** What the next or the last character must, or must not, be. */
  | { readonly kind: "look"; readonly source: string; readonly behind: boolean; readonly negative: boolean }
  | { readonly kind: "begin" | "end" }
  | { readonly kind: "sequence"; readonly parts: readonly Part[]; readonly source: string }
  | { readonly kind: "choice"; readonly parts: readonly Part[] }
  | { readonly kind: "group"; readonly part: Part; readonly captures: boolean; readonly source: string }
  | {
      readonly kind: "repeat";
      readonly part: Part;
      readonly least: number;
      readonly most: number;
      readonly greedy: boolean;
    };

/** Reads a pattern. Throws plain errors for what no bounded number of steps can match; the caller names the pattern. */
export function partsOf(source: string): Part {
  const reader = new Reader(source);
  const part = reader.choice();
  if (!reader.isOver) throw new Error(`expected the end at character ${reader.at}`);
  return part;
}

class Reader {
  at = 0;
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  get isOver(): boolean {
    return this.at >= this.#source.length;
  }

  choice(): Part {
    const parts = [this.#sequence()];
    while (this.#take("|")) parts.push(this.#sequence());
    return parts.length === 1 ? parts[0] : { kind: "choice", parts };
  }

  #sequence(): Part {
    const from = this.at;
    const parts: Part[] = [];
    while (!this.isOver && !this.#is("|") && !this.#is(")")) parts.push(this.#repeated(this.#one()));
    return { kind: "sequence", parts, source: this.#source.slice(from, this.at) };
  }

  #repeated(part: Part): Part {
    const counted = /^(?:([*+?])|\{(\d{1,6})(,?)(\d{0,6})\})/.exec(this.#source.slice(this.at, this.at + 20));
    if (counted === null) return part;
    this.at += counted[0].length;
    const [, mark, first, comma, last] = counted;
    const least = mark === undefined ? Number(first) : mark === "+" ? 1 : 0;
    const most =
      mark === "?" ? 1 : mark !== undefined || (comma && !last) ? Number.POSITIVE_INFINITY : Number(last || first);
    return { kind: "repeat", part, least, most, greedy: !this.#take("?") };
  }

  #one(): Part {
    const from = this.at;
    const character = String.fromCodePoint(this.#source.codePointAt(from) as number);
    if (character === "(") return this.#group();
    if (character === "[") {
      for (this.at++; !this.#is("]"); this.at++) if (this.#is("\\")) this.at++;
      this.at++;
    } else if (character === "\\") {
      const escaped = /^\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[a-zA-Z]|[\s\S])/u.exec(
        this.#source.slice(from, from + 80),
      );
      if (escaped === null || /^\\[1-9kbB]/.test(escaped[0]))
        throw new Error(`${escaped?.[0] ?? "\\"} is not supported`);
      this.at += escaped[0].length;
    } else this.at += character.length;
    if (character === "^") return { kind: "begin" };
    if (character === "$") return { kind: "end" };
    return { kind: "character", source: this.#source.slice(from, this.at) };
  }

  #group(): Part {
    const from = this.at;
    const opening = /^\((?:\?(?::|<?[=!]|<[^>=!][^>]*>))?/.exec(this.#source.slice(from)) as RegExpExecArray;
    if (opening[0] === "(" && this.#source[from + 1] === "?")
      throw new Error(`${this.#source.slice(from, from + 4)} is not supported`);
    this.at += opening[0].length;
    const part = this.choice();
    this.at++;
    const source = this.#source.slice(from, this.at);
    const look = /^\(\?(<?)([=!])$/.exec(opening[0]);
    if (look === null) return { kind: "group", part, captures: opening[0] !== "(?:", source };
    const only = part.kind === "sequence" && part.parts.length === 1 ? part.parts[0] : part;
    if (only.kind !== "character") throw new Error(`${source} looks at more than one character`);
    return { kind: "look", source: only.source, behind: look[1] === "<", negative: look[2] === "!" };
  }

  #is(character: string): boolean {
    return this.#source[this.at] === character;
  }

  #take(character: string): boolean {
    if (!this.#is(character)) return false;
    this.at++;
    return true;
  }
}
