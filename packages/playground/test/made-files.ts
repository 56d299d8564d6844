/** Small files in the formats that users drop, made here so that no test needs a download. */

/** Pictures of class r mod 10: a bright bar whose place is the class, on a little fixed noise. */
export function idxImages(rows: number, side: number): Uint8Array {
  const bytes = new Uint8Array(16 + rows * side * side);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0x0803);
  view.setUint32(4, rows);
  view.setUint32(8, side);
  view.setUint32(12, side);
  let state = 1;
  for (let r = 0; r < rows; r++) {
    const column = Math.floor(((r % 10) * (side - 2)) / 9);
    for (let p = 0; p < side * side; p++) {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      const noise = (state >>> 16) % 60;
      const isBar = p % side >= column && p % side < column + 2;
      bytes[16 + r * side * side + p] = isBar ? 190 + noise : noise;
    }
  }
  return bytes;
}

/** Labels of those pictures. */
export function idxLabels(rows: number): Uint8Array {
  const bytes = new Uint8Array(8 + rows);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0x0801);
  view.setUint32(4, rows);
  for (let r = 0; r < rows; r++) bytes[8 + r] = r % 10;
  return bytes;
}

/** Measurements of three kinds of plants, 10 features each, that a glance tells apart. */
export function plantsCsv(rows: number): string {
  const kinds = ["fern", "moss", "reed"];
  const names = Array.from({ length: 10 }, (_, j) => `leaf${j}`);
  const lines = Array.from({ length: rows }, (_, r) => {
    const kind = r % 3;
    const values = names.map((_, j) => ((j + 3 * kind) % 10) + ((r * 7 + j * 3) % 5) / 10);
    return [...values.map((value) => value.toFixed(1)), kinds[kind]].join(",");
  });
  return `${[...names, "species"].join(",")}\n${lines.join("\n")}\n`;
}

/** Short reviews as JSON lines. */
export function reviewsJsonl(rows: number): string {
  const good = ["a lovely film with warm humour", "wonderful acting and a lovely story", "warm and wonderful fun"];
  const bad = ["a dull film with a tired plot", "tired acting and a boring story", "boring and dull throughout"];
  return Array.from({ length: rows }, (_, r) => {
    const from = r % 2 === 0 ? good : bad;
    return JSON.stringify({
      review: `${from[Math.floor(r / 2) % 3]} number ${r}`,
      label: r % 2 === 0 ? "good" : "bad",
    });
  }).join("\n");
}

/** A picture as a PGM file. */
export function pgm(side: number, pixel: (x: number, y: number) => number): Uint8Array {
  const head = new TextEncoder().encode(`P5\n${side} ${side}\n255\n`);
  const out = new Uint8Array(head.length + side * side);
  out.set(head);
  for (let p = 0; p < side * side; p++) out[head.length + p] = pixel(p % side, Math.floor(p / side));
  return out;
}

/** Numbers as numpy saves them. */
export function npy(rows: number, features: number, value: (row: number, feature: number) => number): Uint8Array {
  const header = `${`{'descr': '<f4', 'fortran_order': False, 'shape': (${rows}, ${features}), }`.padEnd(117)}\n`;
  const out = new Uint8Array(10 + header.length + 4 * rows * features);
  out.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length, 0]);
  out.set(new TextEncoder().encode(header), 10);
  const view = new DataView(out.buffer, 10 + header.length);
  for (let j = 0; j < rows * features; j++) view.setFloat32(4 * j, value(Math.floor(j / features), j % features), true);
  return out;
}
