/**
 * One PNG as pixels. Own code, because common decoders inflate everything before they check its size: here only the
 * chunks that pixels need are looked into, and no more is unpacked than the header's size asks for.
 */

import { Unzlib, unzlibSync } from "fflate";
import { asBadFile } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import { crc32 } from "../crc32.ts";
import { hasColours, type Picture, pixelsOf } from "./picture.ts";

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
/** Bytes given to the unpacker at a time: each makes at most 1,032. */
const PIECE = 1 << 14;
/** Channels by colour type: grey, red-green-blue, palette, grey and transparency, red-green-blue and transparency. */
const CHANNELS: { readonly [type: number]: number } = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const DEPTHS: { readonly [type: number]: readonly number[] } = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};
/** The passes of an interlaced image: first column and line, and the steps between them. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** Whether the bytes begin as a PNG does. */
export function isPng(bytes: Uint8Array): boolean {
  return SIGNATURE.every((byte, i) => bytes[i] === byte);
}

/** Decodes a PNG. Palettes are looked up, colours turned to grey unless they are asked for, 1 to 4 bits spread over 0..255, transparency ignored. */
export function decodePng(name: string, bytes: Uint8Array, account: Account, colour = false): Picture {
  try {
    const { header, palette, packed } = readChunks(bytes);
    const { width, height, depth, type } = header;
    const pixels = width * height;
    const channels = CHANNELS[type];
    const passes = passesOf(header);
    const lines = passes.reduce((sum, pass) => sum + pass.height * (1 + pass.lineBytes), 0);
    // Lines as they were packed, samples in whole bytes, and pixels of one channel.
    account.take(lines + pixels * (channels * (depth === 16 ? 2 : 1) + (colour ? 9 : 3)));
    const samples = samplesOf(header, passes, unpack(packed, lines));
    account.give(lines);
    const white = 2 ** depth - 1;
    const size = { width, height, channels: colour ? 3 : 1 } as const;
    const shown = (values: Uint8Array | Uint16Array, channels: number) => ({
      pixels: pixelsOf(values, channels, colour),
      lostColours: !colour && hasColours(values, channels),
    });
    if (type === 3) return { ...size, largest: 255, ...shown(colours(samples as Uint8Array, palette), 3) };
    if (depth < 8) for (let p = 0; p < pixels; p++) samples[p] *= 255 / white;
    return { ...size, largest: depth === 16 ? 0xffff : 0xff, ...shown(samples, channels) };
  } catch (error) {
    throw asBadFile(name, "PNG", error);
  }
}

interface Header {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  readonly type: number;
  readonly interlaced: boolean;
}

interface Chunks {
  readonly header: Header;
  readonly palette: Uint8Array;
  readonly packed: readonly Uint8Array[];
}

/** The chunks that pixels need, each with its check sum; all others are read over. */
function readChunks(bytes: Uint8Array): Chunks {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let header: Header | undefined;
  let palette: Uint8Array = new Uint8Array(0);
  const packed: Uint8Array[] = [];
  for (let at = 8; ; ) {
    if (at + 12 > bytes.byteLength) throw new Error(`expected a chunk at byte ${at}, found the end`);
    const length = view.getUint32(at);
    if (at + 12 + length > bytes.byteLength) throw new Error(`expected ${length} bytes at byte ${at}, found the end`);
    const kind = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    const data = bytes.subarray(at + 8, at + 8 + length);
    const needed = kind === "IHDR" || kind === "PLTE" || kind === "IDAT" || kind === "IEND";
    if (needed && view.getUint32(at + 8 + length) !== crc32(bytes.subarray(at + 4, at + 8 + length))) {
      throw new Error(`expected the check sum of ${kind} at byte ${at + 8 + length}, found another`);
    }
    if ((kind === "IHDR") !== (header === undefined))
      throw new Error(`expected one header, found ${kind} at byte ${at}`);
    if (kind === "IHDR") header = readHeader(data);
    else if (kind === "PLTE") palette = data;
    else if (kind === "IDAT") packed.push(data);
    else if (kind === "IEND") break;
    at += 12 + length;
  }
  return { header: header as Header, palette, packed };
}

function readHeader(data: Uint8Array): Header {
  if (data.byteLength !== 13) throw new Error(`expected a header of 13 bytes, found ${data.byteLength}`);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const [width, height] = [view.getUint32(0), view.getUint32(4)];
  const [depth, type, packing, filtering, interlacing] = data.subarray(8);
  if (!DEPTHS[type]?.includes(depth) || packing !== 0 || filtering !== 0 || interlacing > 1 || width * height === 0) {
    throw new Error(
      `expected an image of a known kind, found ${width} x ${height} pixels of ${depth} bits, colour type ${type}`,
    );
  }
  return { width, height, depth, type, interlaced: interlacing === 1 };
}

interface Pass {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly down: number;
  readonly width: number;
  readonly height: number;
  readonly lineBytes: number;
}

function passesOf({ width, height, depth, type, interlaced }: Header): Pass[] {
  const passes: readonly (readonly [number, number, number, number])[] = interlaced ? PASSES : [[0, 0, 1, 1]];
  return passes
    .map(([left, top, right, down]) => {
      const [columns, lines] = [Math.ceil((width - left) / right), Math.ceil((height - top) / down)];
      const lineBytes = Math.ceil((columns * CHANNELS[type] * depth) / 8);
      return { left, top, right, down, width: columns, height: lines, lineBytes };
    })
    .filter((pass) => pass.width > 0 && pass.height > 0);
}

/** Unpacks just `length` bytes. */
function unpack(packed: readonly Uint8Array[], length: number): Uint8Array {
  return unpackAtOnce(packed, length) ?? unpackInPieces(packed, length);
}

/**
 * Small images at once: an unpacker of pieces begins with more memory than they have pixels. Undefined where that does not give what is
 * asked for, whatever the reason; it is then found, or named, piece by piece.
 */
function unpackAtOnce(packed: readonly Uint8Array[], length: number): Uint8Array | undefined {
  if (packed.length !== 1 || packed[0].length > PIECE) return undefined;
  try {
    const out = unzlibSync(packed[0], { out: new Uint8Array(length + 1) }); // one more, to tell that there is more
    return out.length === length ? out : undefined;
  } catch {
    return undefined;
  }
}

function unpackInPieces(packed: readonly Uint8Array[], length: number): Uint8Array {
  const out = new Uint8Array(length);
  let at = 0;
  const unzlib = new Unzlib((chunk) => {
    if (at + chunk.length > length) throw new Error(`expected ${length} bytes of pixels, found more`);
    out.set(chunk, at);
    at += chunk.length;
  });
  for (const part of packed) {
    for (let from = 0; from < part.length; from += PIECE) unzlib.push(part.subarray(from, from + PIECE));
  }
  if (at < length) unzlib.push(new Uint8Array(0), true);
  if (at < length) throw new Error(`expected ${length} bytes of pixels, found ${at}`);
  return out;
}

/** Undoes the filters line by line, and puts each sample in its place. */
function samplesOf(header: Header, passes: readonly Pass[], lines: Uint8Array): Uint8Array | Uint16Array {
  const { width, height, depth, type } = header;
  const channels = CHANNELS[type];
  const samples = new (depth === 16 ? Uint16Array : Uint8Array)(width * height * channels);
  const step = Math.max(1, (channels * depth) / 8);
  let at = 0;
  for (const pass of passes) {
    let above: Uint8Array = new Uint8Array(pass.lineBytes);
    for (let row = 0; row < pass.height; row++) {
      const line = lines.subarray(at + 1, at + 1 + pass.lineBytes);
      unfilter(lines[at], line, above, step);
      above = line;
      at += 1 + pass.lineBytes;
      const start = (pass.top + row * pass.down) * width;
      for (let column = 0; column < pass.width; column++) {
        const to = (start + pass.left + column * pass.right) * channels;
        for (let c = 0; c < channels; c++) samples[to + c] = sampleAt(line, column * channels + c, depth);
      }
    }
  }
  return samples;
}

function sampleAt(line: Uint8Array, sample: number, depth: number): number {
  if (depth === 8) return line[sample];
  if (depth === 16) return line[2 * sample] * 256 + line[2 * sample + 1];
  const bit = sample * depth;
  return (line[bit >> 3] >> (8 - depth - (bit & 7))) & (2 ** depth - 1);
}

function unfilter(filter: number, line: Uint8Array, above: Uint8Array, step: number): void {
  if (filter > 4) throw new Error(`expected a line filtered in one of 5 ways, found ${filter}`);
  if (filter === 0) return;
  for (let i = 0; i < line.length; i++) {
    const left = i < step ? 0 : line[i - step];
    const up = above[i];
    if (filter === 1) line[i] += left;
    else if (filter === 2) line[i] += up;
    else if (filter === 3) line[i] += (left + up) >> 1;
    else line[i] += nearest(left, up, i < step ? 0 : above[i - step]);
  }
}

/** Paeth's predictor. */
function nearest(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

/** The colours that samples stand for. */
function colours(samples: Uint8Array, palette: Uint8Array): Uint8Array {
  const out = new Uint8Array(3 * samples.length);
  for (let p = 0; p < samples.length; p++) {
    const entry = 3 * samples[p];
    if (entry + 3 > palette.length)
      throw new Error(`expected a palette entry, found number ${samples[p]} of ${palette.length / 3}`);
    for (let c = 0; c < 3; c++) out[3 * p + c] = palette[entry + c];
  }
  return out;
}
