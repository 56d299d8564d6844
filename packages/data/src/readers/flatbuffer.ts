/**
 * Tables of a FlatBuffer, read without trust: every access goes through a DataView, which refuses positions outside, and a
 * vector is checked to lie inside before it is walked. Enough for Arrow's messages.
 */

/** A table at a position of the buffer. */
export class FlatTable {
  readonly #view: DataView;
  readonly #at: number;

  constructor(view: DataView, at: number) {
    this.#view = view;
    this.#at = at;
  }

  /** The table that the buffer begins with. */
  static root(bytes: Uint8Array): FlatTable {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return new FlatTable(view, view.getUint32(0, true));
  }

  /** Position of a field, or 0 where it is absent. */
  #field(field: number): number {
    const layout = this.#at - this.#view.getInt32(this.#at, true);
    const slot = 4 + 2 * field;
    if (slot >= this.#view.getUint16(layout, true)) return 0;
    const offset = this.#view.getUint16(layout + slot, true);
    return offset === 0 ? 0 : this.#at + offset;
  }

  int8(field: number): number {
    const at = this.#field(field);
    return at === 0 ? 0 : this.#view.getInt8(at);
  }

  int16(field: number): number {
    const at = this.#field(field);
    return at === 0 ? 0 : this.#view.getInt16(at, true);
  }

  int32(field: number, absent = 0): number {
    const at = this.#field(field);
    return at === 0 ? absent : this.#view.getInt32(at, true);
  }

  /** A 64-bit number; those that float64 cannot hold come out as about what they are. */
  int64(field: number): number {
    const at = this.#field(field);
    return at === 0 ? 0 : longAt(this.#view, at);
  }

  table(field: number): FlatTable | undefined {
    const at = this.#field(field);
    return at === 0 ? undefined : new FlatTable(this.#view, at + this.#view.getUint32(at, true));
  }

  text(field: number): string {
    const { at, length } = this.#vector(field, 1);
    return new TextDecoder().decode(new Uint8Array(this.#view.buffer, this.#view.byteOffset + at, length));
  }

  tables(field: number): FlatTable[] {
    const { at, length } = this.#vector(field, 4);
    return Array.from({ length }, (_, i) => {
      const item = at + 4 * i;
      return new FlatTable(this.#view, item + this.#view.getUint32(item, true));
    });
  }

  /** A vector of structs of two 64-bit numbers, or of single ones (`each` = 1), in one list. */
  longs(field: number, each: 1 | 2): number[] {
    const { at, length } = this.#vector(field, 8 * each);
    return Array.from({ length: length * each }, (_, i) => longAt(this.#view, at + 8 * i));
  }

  #vector(field: number, itemSize: number): { at: number; length: number } {
    const from = this.#field(field);
    if (from === 0) return { at: 0, length: 0 };
    const vector = from + this.#view.getUint32(from, true);
    const length = this.#view.getUint32(vector, true);
    if (vector + 4 + length * itemSize > this.#view.byteLength) {
      throw new Error(`a vector of ${length} items reaches beyond its message`);
    }
    return { at: vector + 4, length };
  }
}

function longAt(view: DataView, at: number): number {
  return view.getInt32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
}
