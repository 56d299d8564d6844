/**
 * Screenshots as one animated PNG: 256 colours for all frames, and of each frame only the rectangle that changed. Written by
 * the PNG specification, third edition (acTL, fcTL, fdAT).
 */

import { deflateSync } from "node:zlib";
import { decode } from "fast-png";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** `frames`: PNG files of one size, each shown for `count` frames at `rate` frames a second. */
export function animatedPng(frames, rate) {
  const pictures = frames.map(({ picture, count }) => ({ ...rgbOf(decode(picture)), count }));
  const [{ width, height }] = pictures;
  const palette = paletteOf(pictures);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const parts = [];
  let sequence = 0;
  let before;
  for (const { colours, count } of pictures) {
    const indices = Uint8Array.from(colours, (colour) => palette.indexOf(colour));
    const box = before ? changedBox(before, indices, width, height) : { x: 0, y: 0, width, height };
    const control = Buffer.alloc(26);
    control.writeUInt32BE(sequence++, 0);
    for (const [j, value] of [box.width, box.height, box.x, box.y].entries()) control.writeUInt32BE(value, 4 + 4 * j);
    control.writeUInt16BE(count, 20);
    control.writeUInt16BE(rate, 22);
    parts.push(chunk("fcTL", control));
    const data = deflateSync(linesOf(indices, width, box), { level: 9 });
    if (!before) parts.push(chunk("IDAT", data));
    else {
      const number = Buffer.alloc(4);
      number.writeUInt32BE(sequence++, 0);
      parts.push(chunk("fdAT", Buffer.concat([number, data])));
    }
    before = indices;
  }
  const animation = Buffer.alloc(8);
  animation.writeUInt32BE(pictures.length, 0);
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("acTL", animation),
    chunk("PLTE", palette.bytes),
    ...parts,
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Pixels as numbers, with five bits for each colour: close enough for eyes, and few enough to count. */
function rgbOf({ data, width, height, channels }) {
  const colours = new Uint16Array(width * height);
  for (let p = 0; p < colours.length; p++) {
    const at = p * channels;
    colours[p] = ((data[at] >> 3) << 10) | ((data[at + 1] >> 3) << 5) | (data[at + 2] >> 3);
  }
  return { width, height, colours };
}

/** The colours that occur most; every other one goes to the nearest of them. */
function paletteOf(pictures) {
  const counts = new Uint32Array(1 << 15);
  for (const { colours } of pictures) for (const colour of colours) counts[colour]++;
  const used = Array.from(counts.keys()).filter((colour) => counts[colour] > 0);
  const kept = used.sort((a, b) => counts[b] - counts[a]).slice(0, 256);
  const apart = (a, b) => [10, 5, 0].reduce((sum, shift) => sum + (((a >> shift) & 31) - ((b >> shift) & 31)) ** 2, 0);
  const index = new Map();
  const nearest = (colour) =>
    kept.reduce((best, other, j) => (apart(other, colour) < apart(kept[best], colour) ? j : best), 0);
  // Five bits to eight: the lowest stays 0, the highest becomes 255.
  const byte = (five) => (five << 3) | (five >> 2);
  return {
    bytes: Buffer.from(kept.flatMap((colour) => [10, 5, 0].map((shift) => byte((colour >> shift) & 31)))),
    indexOf(colour) {
      let found = index.get(colour);
      if (found === undefined) {
        found = nearest(colour);
        index.set(colour, found);
      }
      return found;
    },
  };
}

/** The smallest rectangle that holds all changes; one pixel where there is none, as a frame cannot be empty. */
function changedBox(before, now, width, height) {
  let [left, top, right, bottom] = [width, height, 0, 0];
  now.forEach((index, p) => {
    if (index === before[p]) return;
    const [x, y] = [p % width, Math.floor(p / width)];
    left = Math.min(left, x);
    right = Math.max(right, x + 1);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y + 1);
  });
  if (right === 0) return { x: 0, y: 0, width: 1, height: 1 };
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** Lines of a rectangle, each after the number of its filter: 0, none. */
function linesOf(indices, width, box) {
  const lines = Buffer.alloc((box.width + 1) * box.height);
  for (let y = 0; y < box.height; y++) {
    const from = (box.y + y) * width + box.x;
    lines.set(indices.subarray(from, from + box.width), y * (box.width + 1) + 1);
  }
  return lines;
}

function chunk(type, data) {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, "latin1");
  bytes.set(data, 8);
  bytes.writeUInt32BE(checkSum(bytes.subarray(4, data.length + 8)), data.length + 8);
  return bytes;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  return sum;
});

/** CRC-32 as PNG defines it. */
function checkSum(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = TABLE[(sum ^ byte) & 255] ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}
