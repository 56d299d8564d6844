/** Parquet's hybrid of run-length and bit-packed numbers, for levels, dictionary indices and booleans. Bounded by `count`. */

/** Decodes `count` numbers of `width` bits from bytes `from` to `to`. Throws plain errors; the caller names the file. */
export function readRuns(bytes: Uint8Array, from: number, to: number, width: number, count: number): Uint32Array {
  if (width > 32) throw new Error(`expected numbers of at most 32 bits, found ${width}`);
  const out = new Uint32Array(count);
  let at = from;
  let seen = 0;
  while (seen < count) {
    let header = 0;
    let factor = 1;
    for (;;) {
      if (at >= to || factor > 2 ** 35) throw new Error(`expected ${count} numbers, found ${seen}`);
      const byte = bytes[at++];
      header += (byte & 0x7f) * factor;
      if (byte < 0x80) break;
      factor *= 128;
    }
    const isPacked = header % 2 === 1;
    const length = Math.floor(header / 2);
    if (isPacked) {
      const numbers = Math.min(length * 8, count - seen);
      if (at + Math.ceil((numbers * width) / 8) > to)
        throw new Error(`expected ${numbers} packed numbers, found the end`);
      for (let i = 0; i < numbers; i++) out[seen + i] = bitsAt(bytes, at * 8 + i * width, width);
      at += length * width;
      seen += numbers;
    } else {
      const size = (width + 7) >> 3;
      if (at + size > to || length === 0) throw new Error("expected a run of numbers, found the end");
      let value = 0;
      for (let i = 0; i < size; i++) value += bytes[at + i] * 2 ** (8 * i);
      out.fill(value, seen, Math.min(seen + length, count));
      at += size;
      seen += length;
    }
  }
  return out;
}

function bitsAt(bytes: Uint8Array, bit: number, width: number): number {
  let value = 0;
  for (let got = 0; got < width; ) {
    const position = bit + got;
    const offset = position % 8;
    const taken = Math.min(8 - offset, width - got);
    const part = (bytes[Math.floor(position / 8)] >> offset) & ((1 << taken) - 1);
    value += part * 2 ** got;
    got += taken;
  }
  return value;
}
