/**
 * SHA-256 (FIPS 180-4), synchronous: the digest of a model file. Web Crypto answers only through a promise, so the library
 * carries its own; where it runs in Node it asks Node's, which takes a fifth of the time in a fresh process.
 *
 * Sixteen rounds are written out and passed four times, with the message schedule in local variables: half the time of
 * rolled loops over arrays, and little enough code to be compiled early in a short-lived process.
 */

/** First 32 bits of the fractional parts of the cube roots of the first 64 primes. */
// biome-ignore format: eight constants a line
const K = Int32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
);

/** First 32 bits of the fractional parts of the square roots of the first 8 primes. */
// biome-ignore format: one line
const START = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

const BLOCK = 64;

/** What is needed of Node's crypto module. Asked for at run time, not imported: browsers load the same file. */
interface NodeCrypto {
  createHash(name: "sha256"): { update(part: Uint8Array): unknown; digest(encoding: "hex"): string };
}

/** The digest, as 64 lower-case hexadecimal digits, of the parts read one after another. */
export function sha256(parts: readonly Uint8Array[]): string {
  const { process } = globalThis as { process?: { getBuiltinModule?(id: string): NodeCrypto | undefined } };
  const crypto = process?.getBuiltinModule?.("node:crypto");
  if (!crypto) return plainSha256(parts);
  const hash = crypto.createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

/** The same digest without help. */
export function plainSha256(parts: readonly Uint8Array[]): string {
  const state = Int32Array.from(START);
  const pending = new Uint8Array(2 * BLOCK); // bytes of parts that do not fill a block, then the padding
  const pendingView = new DataView(pending.buffer);
  let held = 0;
  let length = 0;
  for (const part of parts) {
    length += part.length;
    const lead = Math.min(part.length, held === 0 ? 0 : BLOCK - held);
    pending.set(part.subarray(0, lead), held);
    held += lead;
    if (held === BLOCK) {
      compress(state, pendingView, 0);
      held = 0;
    }
    const view = new DataView(part.buffer, part.byteOffset, part.byteLength);
    let at = lead;
    for (; at + BLOCK <= part.length; at += BLOCK) compress(state, view, at);
    if (at < part.length) {
      pending.set(part.subarray(at), held);
      held += part.length - at;
    }
  }
  pending.fill(0, held);
  pending[held] = 0x80;
  const end = held + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
  pendingView.setBigUint64(end - 8, BigInt(length) * 8n);
  for (let at = 0; at < end; at += BLOCK) compress(state, pendingView, at);
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/** Mixes the 64 bytes at `at` into the state. */
function compress(
  state: Int32Array, // in and out: 8 words
  block: DataView, // in: the bytes
  at: number,
): void {
  let a = state[0];
  let b = state[1];
  let c = state[2];
  let d = state[3];
  let e = state[4];
  let f = state[5];
  let g = state[6];
  let h = state[7];
  let w0 = block.getInt32(at);
  let w1 = block.getInt32(at + 4);
  let w2 = block.getInt32(at + 8);
  let w3 = block.getInt32(at + 12);
  let w4 = block.getInt32(at + 16);
  let w5 = block.getInt32(at + 20);
  let w6 = block.getInt32(at + 24);
  let w7 = block.getInt32(at + 28);
  let w8 = block.getInt32(at + 32);
  let w9 = block.getInt32(at + 36);
  let w10 = block.getInt32(at + 40);
  let w11 = block.getInt32(at + 44);
  let w12 = block.getInt32(at + 48);
  let w13 = block.getInt32(at + 52);
  let w14 = block.getInt32(at + 56);
  let w15 = block.getInt32(at + 60);
  // The letters move by one place from round to round instead of their values.
  // biome-ignore format: three lines a round, two lines a word of the schedule
  for (let i = 0; ; i += 16) {
    h = (h + K[i] + w0 + (g ^ (e & (f ^ g))) + (((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7)))) | 0;
    d = (d + h) | 0;
    h = (h + (b ^ ((a ^ b) & (b ^ c))) + (((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10)))) | 0;
    g = (g + K[i + 1] + w1 + (f ^ (d & (e ^ f))) + (((d >>> 6) | (d << 26)) ^ ((d >>> 11) | (d << 21)) ^ ((d >>> 25) | (d << 7)))) | 0;
    c = (c + g) | 0;
    g = (g + (a ^ ((h ^ a) & (a ^ b))) + (((h >>> 2) | (h << 30)) ^ ((h >>> 13) | (h << 19)) ^ ((h >>> 22) | (h << 10)))) | 0;
    f = (f + K[i + 2] + w2 + (e ^ (c & (d ^ e))) + (((c >>> 6) | (c << 26)) ^ ((c >>> 11) | (c << 21)) ^ ((c >>> 25) | (c << 7)))) | 0;
    b = (b + f) | 0;
    f = (f + (h ^ ((g ^ h) & (h ^ a))) + (((g >>> 2) | (g << 30)) ^ ((g >>> 13) | (g << 19)) ^ ((g >>> 22) | (g << 10)))) | 0;
    e = (e + K[i + 3] + w3 + (d ^ (b & (c ^ d))) + (((b >>> 6) | (b << 26)) ^ ((b >>> 11) | (b << 21)) ^ ((b >>> 25) | (b << 7)))) | 0;
    a = (a + e) | 0;
    e = (e + (g ^ ((f ^ g) & (g ^ h))) + (((f >>> 2) | (f << 30)) ^ ((f >>> 13) | (f << 19)) ^ ((f >>> 22) | (f << 10)))) | 0;
    d = (d + K[i + 4] + w4 + (c ^ (a & (b ^ c))) + (((a >>> 6) | (a << 26)) ^ ((a >>> 11) | (a << 21)) ^ ((a >>> 25) | (a << 7)))) | 0;
    h = (h + d) | 0;
    d = (d + (f ^ ((e ^ f) & (f ^ g))) + (((e >>> 2) | (e << 30)) ^ ((e >>> 13) | (e << 19)) ^ ((e >>> 22) | (e << 10)))) | 0;
    c = (c + K[i + 5] + w5 + (b ^ (h & (a ^ b))) + (((h >>> 6) | (h << 26)) ^ ((h >>> 11) | (h << 21)) ^ ((h >>> 25) | (h << 7)))) | 0;
    g = (g + c) | 0;
    c = (c + (e ^ ((d ^ e) & (e ^ f))) + (((d >>> 2) | (d << 30)) ^ ((d >>> 13) | (d << 19)) ^ ((d >>> 22) | (d << 10)))) | 0;
    b = (b + K[i + 6] + w6 + (a ^ (g & (h ^ a))) + (((g >>> 6) | (g << 26)) ^ ((g >>> 11) | (g << 21)) ^ ((g >>> 25) | (g << 7)))) | 0;
    f = (f + b) | 0;
    b = (b + (d ^ ((c ^ d) & (d ^ e))) + (((c >>> 2) | (c << 30)) ^ ((c >>> 13) | (c << 19)) ^ ((c >>> 22) | (c << 10)))) | 0;
    a = (a + K[i + 7] + w7 + (h ^ (f & (g ^ h))) + (((f >>> 6) | (f << 26)) ^ ((f >>> 11) | (f << 21)) ^ ((f >>> 25) | (f << 7)))) | 0;
    e = (e + a) | 0;
    a = (a + (c ^ ((b ^ c) & (c ^ d))) + (((b >>> 2) | (b << 30)) ^ ((b >>> 13) | (b << 19)) ^ ((b >>> 22) | (b << 10)))) | 0;
    h = (h + K[i + 8] + w8 + (g ^ (e & (f ^ g))) + (((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7)))) | 0;
    d = (d + h) | 0;
    h = (h + (b ^ ((a ^ b) & (b ^ c))) + (((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10)))) | 0;
    g = (g + K[i + 9] + w9 + (f ^ (d & (e ^ f))) + (((d >>> 6) | (d << 26)) ^ ((d >>> 11) | (d << 21)) ^ ((d >>> 25) | (d << 7)))) | 0;
    c = (c + g) | 0;
    g = (g + (a ^ ((h ^ a) & (a ^ b))) + (((h >>> 2) | (h << 30)) ^ ((h >>> 13) | (h << 19)) ^ ((h >>> 22) | (h << 10)))) | 0;
    f = (f + K[i + 10] + w10 + (e ^ (c & (d ^ e))) + (((c >>> 6) | (c << 26)) ^ ((c >>> 11) | (c << 21)) ^ ((c >>> 25) | (c << 7)))) | 0;
    b = (b + f) | 0;
    f = (f + (h ^ ((g ^ h) & (h ^ a))) + (((g >>> 2) | (g << 30)) ^ ((g >>> 13) | (g << 19)) ^ ((g >>> 22) | (g << 10)))) | 0;
    e = (e + K[i + 11] + w11 + (d ^ (b & (c ^ d))) + (((b >>> 6) | (b << 26)) ^ ((b >>> 11) | (b << 21)) ^ ((b >>> 25) | (b << 7)))) | 0;
    a = (a + e) | 0;
    e = (e + (g ^ ((f ^ g) & (g ^ h))) + (((f >>> 2) | (f << 30)) ^ ((f >>> 13) | (f << 19)) ^ ((f >>> 22) | (f << 10)))) | 0;
    d = (d + K[i + 12] + w12 + (c ^ (a & (b ^ c))) + (((a >>> 6) | (a << 26)) ^ ((a >>> 11) | (a << 21)) ^ ((a >>> 25) | (a << 7)))) | 0;
    h = (h + d) | 0;
    d = (d + (f ^ ((e ^ f) & (f ^ g))) + (((e >>> 2) | (e << 30)) ^ ((e >>> 13) | (e << 19)) ^ ((e >>> 22) | (e << 10)))) | 0;
    c = (c + K[i + 13] + w13 + (b ^ (h & (a ^ b))) + (((h >>> 6) | (h << 26)) ^ ((h >>> 11) | (h << 21)) ^ ((h >>> 25) | (h << 7)))) | 0;
    g = (g + c) | 0;
    c = (c + (e ^ ((d ^ e) & (e ^ f))) + (((d >>> 2) | (d << 30)) ^ ((d >>> 13) | (d << 19)) ^ ((d >>> 22) | (d << 10)))) | 0;
    b = (b + K[i + 14] + w14 + (a ^ (g & (h ^ a))) + (((g >>> 6) | (g << 26)) ^ ((g >>> 11) | (g << 21)) ^ ((g >>> 25) | (g << 7)))) | 0;
    f = (f + b) | 0;
    b = (b + (d ^ ((c ^ d) & (d ^ e))) + (((c >>> 2) | (c << 30)) ^ ((c >>> 13) | (c << 19)) ^ ((c >>> 22) | (c << 10)))) | 0;
    a = (a + K[i + 15] + w15 + (h ^ (f & (g ^ h))) + (((f >>> 6) | (f << 26)) ^ ((f >>> 11) | (f << 21)) ^ ((f >>> 25) | (f << 7)))) | 0;
    e = (e + a) | 0;
    a = (a + (c ^ ((b ^ c) & (c ^ d))) + (((b >>> 2) | (b << 30)) ^ ((b >>> 13) | (b << 19)) ^ ((b >>> 22) | (b << 10)))) | 0;
    if (i === 48) break;
    w0 = (w0 + w9 + (((w1 >>> 7) | (w1 << 25)) ^ ((w1 >>> 18) | (w1 << 14)) ^ (w1 >>> 3))
      + (((w14 >>> 17) | (w14 << 15)) ^ ((w14 >>> 19) | (w14 << 13)) ^ (w14 >>> 10))) | 0;
    w1 = (w1 + w10 + (((w2 >>> 7) | (w2 << 25)) ^ ((w2 >>> 18) | (w2 << 14)) ^ (w2 >>> 3))
      + (((w15 >>> 17) | (w15 << 15)) ^ ((w15 >>> 19) | (w15 << 13)) ^ (w15 >>> 10))) | 0;
    w2 = (w2 + w11 + (((w3 >>> 7) | (w3 << 25)) ^ ((w3 >>> 18) | (w3 << 14)) ^ (w3 >>> 3))
      + (((w0 >>> 17) | (w0 << 15)) ^ ((w0 >>> 19) | (w0 << 13)) ^ (w0 >>> 10))) | 0;
    w3 = (w3 + w12 + (((w4 >>> 7) | (w4 << 25)) ^ ((w4 >>> 18) | (w4 << 14)) ^ (w4 >>> 3))
      + (((w1 >>> 17) | (w1 << 15)) ^ ((w1 >>> 19) | (w1 << 13)) ^ (w1 >>> 10))) | 0;
    w4 = (w4 + w13 + (((w5 >>> 7) | (w5 << 25)) ^ ((w5 >>> 18) | (w5 << 14)) ^ (w5 >>> 3))
      + (((w2 >>> 17) | (w2 << 15)) ^ ((w2 >>> 19) | (w2 << 13)) ^ (w2 >>> 10))) | 0;
    w5 = (w5 + w14 + (((w6 >>> 7) | (w6 << 25)) ^ ((w6 >>> 18) | (w6 << 14)) ^ (w6 >>> 3))
      + (((w3 >>> 17) | (w3 << 15)) ^ ((w3 >>> 19) | (w3 << 13)) ^ (w3 >>> 10))) | 0;
    w6 = (w6 + w15 + (((w7 >>> 7) | (w7 << 25)) ^ ((w7 >>> 18) | (w7 << 14)) ^ (w7 >>> 3))
      + (((w4 >>> 17) | (w4 << 15)) ^ ((w4 >>> 19) | (w4 << 13)) ^ (w4 >>> 10))) | 0;
    w7 = (w7 + w0 + (((w8 >>> 7) | (w8 << 25)) ^ ((w8 >>> 18) | (w8 << 14)) ^ (w8 >>> 3))
      + (((w5 >>> 17) | (w5 << 15)) ^ ((w5 >>> 19) | (w5 << 13)) ^ (w5 >>> 10))) | 0;
    w8 = (w8 + w1 + (((w9 >>> 7) | (w9 << 25)) ^ ((w9 >>> 18) | (w9 << 14)) ^ (w9 >>> 3))
      + (((w6 >>> 17) | (w6 << 15)) ^ ((w6 >>> 19) | (w6 << 13)) ^ (w6 >>> 10))) | 0;
    w9 = (w9 + w2 + (((w10 >>> 7) | (w10 << 25)) ^ ((w10 >>> 18) | (w10 << 14)) ^ (w10 >>> 3))
      + (((w7 >>> 17) | (w7 << 15)) ^ ((w7 >>> 19) | (w7 << 13)) ^ (w7 >>> 10))) | 0;
    w10 = (w10 + w3 + (((w11 >>> 7) | (w11 << 25)) ^ ((w11 >>> 18) | (w11 << 14)) ^ (w11 >>> 3))
      + (((w8 >>> 17) | (w8 << 15)) ^ ((w8 >>> 19) | (w8 << 13)) ^ (w8 >>> 10))) | 0;
    w11 = (w11 + w4 + (((w12 >>> 7) | (w12 << 25)) ^ ((w12 >>> 18) | (w12 << 14)) ^ (w12 >>> 3))
      + (((w9 >>> 17) | (w9 << 15)) ^ ((w9 >>> 19) | (w9 << 13)) ^ (w9 >>> 10))) | 0;
    w12 = (w12 + w5 + (((w13 >>> 7) | (w13 << 25)) ^ ((w13 >>> 18) | (w13 << 14)) ^ (w13 >>> 3))
      + (((w10 >>> 17) | (w10 << 15)) ^ ((w10 >>> 19) | (w10 << 13)) ^ (w10 >>> 10))) | 0;
    w13 = (w13 + w6 + (((w14 >>> 7) | (w14 << 25)) ^ ((w14 >>> 18) | (w14 << 14)) ^ (w14 >>> 3))
      + (((w11 >>> 17) | (w11 << 15)) ^ ((w11 >>> 19) | (w11 << 13)) ^ (w11 >>> 10))) | 0;
    w14 = (w14 + w7 + (((w15 >>> 7) | (w15 << 25)) ^ ((w15 >>> 18) | (w15 << 14)) ^ (w15 >>> 3))
      + (((w12 >>> 17) | (w12 << 15)) ^ ((w12 >>> 19) | (w12 << 13)) ^ (w12 >>> 10))) | 0;
    w15 = (w15 + w8 + (((w0 >>> 7) | (w0 << 25)) ^ ((w0 >>> 18) | (w0 << 14)) ^ (w0 >>> 3))
      + (((w13 >>> 17) | (w13 << 15)) ^ ((w13 >>> 19) | (w13 << 13)) ^ (w13 >>> 10))) | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}
